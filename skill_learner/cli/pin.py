"""`skill-learner pin NAME`: keep a skill whatever `curate` finds."""

from __future__ import annotations

import click

from skill_learner.cli.output import say
from skill_learner.cli.settings import load


@click.command()
@click.argument("name", required=False)
@click.option("--off", is_flag=True, help="Take the pin out.")
def command(name: str | None, off: bool) -> None:
    """Pin a skill: it is never proposed to be retired or merged away. Without a name, list pins."""
    from skill_learner.wiring import build_library

    library = build_library(load())
    if name is None:
        say("\n".join(sorted(library.pins.names())) or "no skill is pinned")
        return
    skill = library.get(name)
    library.pins.set(skill.name, not off)
    say(f"{skill.name}: {'not pinned' if off else 'pinned'}")
