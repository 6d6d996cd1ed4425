"""`skill-learner approve NAME`: make a candidate active."""

from __future__ import annotations

import click

from skill_learner.cli.output import say
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import load


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def command(names: tuple[str, ...]) -> None:
    """Make candidates active: agents of their project are given them from then on."""
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    skills = [library.get(name) for name in names]
    for skill in skills:
        library.set_state(skill.name, "active", why="approved on the command line", actor="user")
        say(f"{skill.name}: active")
    for scope in sorted({skill.scope for skill in skills}):
        publish_scope(config, scope)
