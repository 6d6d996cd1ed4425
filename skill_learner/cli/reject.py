"""`skill-learner reject NAME`: archive a skill."""

from __future__ import annotations

import click

from skill_learner.cli.output import say
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import load


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
@click.option("--why", default="rejected on the command line", help="The reason, for its history.")
def command(names: tuple[str, ...], why: str) -> None:
    """Archive skills: no agent is given them again. Nothing is deleted; approve brings one back."""
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    skills = [library.get(name) for name in names]
    for skill in skills:
        library.set_state(skill.name, "archived", why=why, actor="user")
        say(f"{skill.name}: archived")
    for scope in sorted({skill.scope for skill in skills}):
        publish_scope(config, scope)
