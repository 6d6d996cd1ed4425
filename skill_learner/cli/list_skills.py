"""`skill-learner list`: the skills of the library."""

from __future__ import annotations

import click

from skill_learner.cli.output import json_option, say, show_json, show_table
from skill_learner.cli.settings import load
from skill_learner.cli.skill_data import summary, uses_of
from skill_learner.models import SkillState


@click.command()
@click.option("--candidates", is_flag=True, help="Only those that wait for proof or approval.")
@click.option("--all", "everything", is_flag=True, help="Active, candidates and archived.")
@json_option
def command(candidates: bool, everything: bool, as_json: bool) -> None:
    """List the skills of the library (the active ones)."""
    from skill_learner.wiring import build_library

    if candidates and everything:
        raise click.UsageError("--candidates and --all exclude each other")
    config = load()
    states: tuple[SkillState, ...] = ("active",)
    if candidates:
        states = ("candidate",)
    elif everything:
        states = ("active", "candidate", "archived")
    skills = build_library(config).list(states=states)
    uses = uses_of(config, skills)
    if as_json:
        show_json([summary(skill, uses.get(skill.name)) for skill in skills])
        return
    if not skills:
        say("no skills yet" if everything else _where_else(states))
        return
    rows = [
        (skill.name, skill.state, skill.scope, use.count if (use := uses.get(skill.name)) else 0,
         skill.description)
        for skill in skills
    ]  # fmt: skip
    show_table(("name", "state", "scope", "uses", "description"), rows)


def _where_else(states: tuple[SkillState, ...]) -> str:
    if states == ("candidate",):
        return "no candidates"
    return "no active skills; `skill-learner list --candidates` shows what waits for proof"
