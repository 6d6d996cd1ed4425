"""`skill-learner candidates`: what waits for proof or for the user's word."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import json_option, say, show_json, show_table
from skill_learner.cli.settings import load
from skill_learner.cli.skill_data import summary
from skill_learner.models import SkillState

if TYPE_CHECKING:
    from skill_learner.skills.library import SkillLibrary


@click.command()
@json_option
def command(as_json: bool) -> None:
    """List candidates and the proposals that wait, each with the reason why it does."""
    from skill_learner.wiring import build_library

    library = build_library(load())
    waiting: tuple[SkillState, ...] = ("candidate",)
    skills = library.list(states=waiting)
    parked = library.proposals.all()
    if as_json:
        show_json(
            {
                "candidates": [{**summary(one), "why": _why(library, one.name)} for one in skills],
                "proposals": [{**asdict(one), "kind": one.kind} for one in parked],
            }
        )
        return
    rows = [(one.name, "candidate", one.name, _why(library, one.name)) for one in skills]
    rows += [(one.id, one.kind, one.skill, "; ".join(one.why)) for one in parked]
    if not rows:
        say("nothing waits")
        return
    show_table(("approve or reject", "what", "skill", "why it waits"), rows)


def _why(library: SkillLibrary, name: str) -> str:
    changes = library.history(name)
    return changes[-1].why if changes else ""
