"""`skill-learner undo [NAME]`: bring back earlier bytes of a skill."""

from __future__ import annotations

import click

from skill_learner.cli.output import say
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import load


@click.command()
@click.argument("name", required=False)
@click.option("--to", "version", type=int, help="The version to bring back (see `history`).")
@click.option("--overwrite-edits", is_flag=True, help="Also where you edited the file since.")
def command(name: str | None, version: int | None, overwrite_edits: bool) -> None:
    """Undo the last change of a skill, byte for byte, also after it was archived. Without a name,
    of the skill that changed last. Undoing its creation archives it."""
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    name = name or library.last_changed()
    before = library.get(name).scope
    skill = library.undo(name, version, overwrite_edits=overwrite_edits)
    last = library.history(skill.name)[-1:]
    say(f"{skill.name}: {last[0].why if last else 'undone'} ({skill.state})")
    for changed in dict.fromkeys((before, skill.scope)):  # two, where a move is undone
        publish_scope(config, changed)
