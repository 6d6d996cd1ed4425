"""`skill-learner reject NAME`: archive a skill, or turn a proposal down."""

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
@click.option("--why", default="rejected on the command line", help="The reason, for its history.")
def command(names: tuple[str, ...], why: str) -> None:
    """Archive skills, and turn down proposals (by their id, or by the name of an active skill for
    which one waits). What was rejected is not made again. Nothing is deleted; approve brings an
    archived skill back."""
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    chosen = meant_by(library, names)
    scopes: set[str] = set()
    try:
        for one in chosen:
            scopes |= _reject(library, one, why)
    finally:
        for scope in sorted(scopes):
            publish_scope(config, scope)


def _reject(library: SkillLibrary, one: Skill | Parked, why: str) -> set[str]:
    from skill_learner.models import Skill
    from skill_learner.user_decisions import reject_skill

    if not isinstance(one, Skill):
        library.proposals.decide(one, "rejected", why)
        say(f"{one.skill}: {one.kind} rejected")
        return set()
    skill = reject_skill(library, one, why)
    say(f"{skill.name}: archived")
    return {skill.scope}
