"""`skill-learner move NAME --scope SCOPE`: whose a skill is, this project's or the user's."""

from __future__ import annotations

from pathlib import Path

import click

from skill_learner.cli.output import say
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import key_of, load


@click.command()
@click.argument("name")
@click.option(
    "--scope",
    type=click.Choice(["project", "user"]),
    required=True,
    help="`project`: of the project you stand in; `user`: of all your projects.",
)
def command(name: str, scope: str) -> None:
    """Give a skill to this project, or to all projects of the user."""
    from skill_learner.wiring import build_library

    here = Path.cwd()
    config = load(here)
    library = build_library(config)
    before = library.get(name).scope
    after = "user" if scope == "user" else key_of(here)
    if before == after:
        say(f"{name}: belongs to {after} already")
        return
    library.set_scope(name, after)
    say(f"{name}: moved from {before} to {after}")
    for changed in (before, after):
        publish_scope(config, changed)
