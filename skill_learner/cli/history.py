"""`skill-learner history NAME`: what was done to a skill."""

from __future__ import annotations

import click

from skill_learner.cli.output import json_option, say, show_json, show_table
from skill_learner.cli.settings import load


@click.command()
@click.argument("name")
@json_option
def command(name: str, as_json: bool) -> None:
    """Show every change of a skill: version, when, what, who, why, in which session."""
    from skill_learner.wiring import build_library

    library = build_library(load())
    skill = library.get(name)
    changes = library.history(skill.name)
    if as_json:
        show_json([one._asdict() for one in changes])
    elif not changes:
        say(f"{skill.name}: no change is known; the file was written by hand")
    else:
        rows = [
            (one.version, one.at, one.action, one.actor, one.session, one.after[:8], one.why)
            for one in changes
        ]
        show_table(("version", "when", "what", "by", "session", "bytes", "why"), rows)
