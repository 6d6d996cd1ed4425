"""`skill-learner show NAME`: one skill, its text and its history."""

from __future__ import annotations

from dataclasses import asdict

import click

from skill_learner.cli.output import json_option, say, show_fields, show_json, show_table
from skill_learner.cli.settings import load
from skill_learner.cli.skill_data import summary, uses_of


@click.command()
@click.argument("name")
@json_option
def command(name: str, as_json: bool) -> None:
    """Show one skill: state, where it came from, its text, what was done to it."""
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    skill = library.get(name)
    use = uses_of(config, [skill]).get(skill.name)
    history = library.history(skill.name)
    data = summary(skill, use)
    if as_json:
        show_json({**data, "body": skill.body, "history": [asdict(item) for item in history]})
        return
    data["sessions"] = len(skill.sessions)
    data["warnings"] = "; ".join(skill.warnings)
    show_fields(data)
    say()
    say(skill.body.strip())
    if history:
        say()
        show_table(
            ("when", "what", "by", "why"),
            [(item.at, item.action, item.actor, item.why) for item in history],
        )
