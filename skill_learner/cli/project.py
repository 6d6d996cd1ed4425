"""`skill-learner project`: tell of projects that were moved."""

from __future__ import annotations

from pathlib import Path

import click

from skill_learner.cli.output import say
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import load


@click.group()
def command() -> None:
    """Projects that were moved."""


@command.command()
@click.argument("old")
@click.argument("new", type=click.Path(path_type=Path, exists=True, file_okay=False))
def relink(old: str, new: Path) -> None:
    """Carry what is known of a project from its OLD path (or key) to the NEW one."""
    from skill_learner.pipeline.sequences import move_sequences
    from skill_learner.project import relink as relink_project
    from skill_learner.wiring import build_library

    config = load()
    done = relink_project(config.paths, old, new)
    if not done.scopes:
        say(f"{new}: nothing to do, it is known by this path")
        return
    skills, files = 0, len(done.moved)
    library = build_library(config)
    for former, key in done.scopes.items():
        skills += library.change_scope(former, key)
        files += move_sequences(config.paths, former, key)
    publish_scope(config, done.record.key)
    say(f"{done.record.path}: {skills} skills and {files} state files now belong to it")
