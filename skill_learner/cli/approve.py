"""`skill-learner approve NAME`: make a candidate active, or apply a proposal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import say
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import load

if TYPE_CHECKING:
    from skill_learner.skills.library import SkillLibrary


@click.command()
@click.argument("names", nargs=-1, required=True, metavar="NAME...")
def command(names: tuple[str, ...]) -> None:
    """Make candidates active, and apply proposals (by their id, or by the name of an active skill
    for which one waits): agents are given the result from then on."""
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    for name in names:  # all or nothing: a mistyped name must not leave half of them approved
        if not library.proposals.of(name):
            library.get(name)
    scopes: set[str] = set()
    for name in names:
        scopes |= _approve(library, name)
    for scope in sorted(scopes):
        publish_scope(config, scope)


def _approve(library: SkillLibrary, name: str) -> set[str]:
    from skill_learner.user_decisions import accept_skill, approve

    parked = library.proposals.of(name)
    if any(one.id == name for one in parked) or (parked and library.get(name).state == "active"):
        one = library.proposals.one(name)
        changed = approve(library, one)
        say(f"{one.skill}: {one.kind} applied")
        return {skill.scope for skill in changed}
    skill = accept_skill(library, library.get(name), "approved on the command line")
    say(f"{skill.name}: active")
    for one in parked:
        say(f"proposal {one.id} ({one.kind}) still waits")
    return {skill.scope}
