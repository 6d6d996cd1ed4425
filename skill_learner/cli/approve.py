"""`skill-learner approve NAME`: make a candidate active, or apply a proposal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from skill_learner.cli.meant import meant_by
from skill_learner.cli.output import say
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import load

if TYPE_CHECKING:
    from skill_learner.models import Skill
    from skill_learner.skills.library import SkillLibrary
    from skill_learner.skills.proposals import Parked


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def command(names: tuple[str, ...]) -> None:
    """Make candidates active, and apply proposals (by their id, or by the name of an active skill
    for which one waits): agents are given the result from then on."""
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    chosen = meant_by(library, names)  # a mistyped name must not leave half of them approved
    scopes: set[str] = set()
    try:
        for one in chosen:
            scopes |= _approve(library, one)
    finally:  # also what was approved before one that no longer fits
        for scope in sorted(scopes):
            publish_scope(config, scope)


def _approve(library: SkillLibrary, one: Skill | Parked) -> set[str]:
    from skill_learner.models import Skill
    from skill_learner.user_decisions import accept_skill, approve

    if not isinstance(one, Skill):
        changed = approve(library, one)
        say(f"{one.skill}: {one.kind} applied")
        return {skill.scope for skill in changed}
    skill = accept_skill(library, one, "approved on the command line")
    say(f"{skill.name}: active")
    for waiting in library.proposals.of(skill.name):
        say(f"proposal {waiting.id} ({waiting.kind}) still waits")
    return {skill.scope}
