"""`skill-learner diff NAME`: what a proposal, or the last change, does to a skill."""

from __future__ import annotations

import difflib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import say
from skill_learner.cli.settings import load
from skill_learner.models import ArchiveSkill, DescribeSkill, MergeSkills, PatchSkill

if TYPE_CHECKING:
    from skill_learner.skills.library import SkillLibrary
    from skill_learner.skills.proposals import Parked


@click.command()
@click.argument("name")
def command(name: str) -> None:
    """Show what the proposals for a skill would change; without any, what its last change did."""
    from skill_learner.wiring import build_library

    library = build_library(load())
    parked = library.proposals.of(name)
    lines = [line for one in parked for line in _proposed(library, one)]
    for line in lines if parked else _last_change(library, name):
        say(line)


def _proposed(library: SkillLibrary, parked: Parked) -> Iterator[str]:
    proposal = parked.proposal
    yield f"proposal {parked.id}: {parked.kind} {parked.skill}"
    for reason in parked.why:
        yield f"  it waits because: {reason}"
    if isinstance(proposal, PatchSkill):
        body = library.get(proposal.name).body
        yield from _diff(body, body.replace(proposal.old, proposal.new, 1), "now", "then")
        if proposal.old not in body:
            yield "(the text that it replaces is gone from the skill; it cannot be applied)"
    elif isinstance(proposal, DescribeSkill):
        yield from _diff(
            library.get(proposal.name).description, proposal.description, "now", "then"
        )
    elif isinstance(proposal, ArchiveSkill):
        yield f"  archive it: {proposal.reason}"
    elif isinstance(proposal, MergeSkills):
        yield f"  take in {', '.join(proposal.absorbed)}: {proposal.reason}"


def _last_change(library: SkillLibrary, name: str) -> Iterator[str]:
    skill = library.get(name)
    changes = [one for one in library.history(skill.name) if one.before != one.after]
    if not changes:
        yield f"{skill.name}: no change is known"
        return
    last = changes[-1]
    yield f"{last.at} {last.action} by {last.actor}: {last.why}"
    before = library.version_text(last.before) if last.before else ""
    after = library.version_text(last.after)
    yield from _diff(before, after, "before", "after")


def _diff(old: str, new: str, before: str, after: str) -> Iterator[str]:
    return difflib.unified_diff(old.splitlines(), new.splitlines(), before, after, lineterm="", n=2)
