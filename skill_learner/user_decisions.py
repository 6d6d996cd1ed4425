"""Carries out what the user decides on proposals that waited."""

from __future__ import annotations

from skill_learner.errors import LibraryError
from skill_learner.learning.duplicates import as_patch
from skill_learner.learning.fingerprint import fingerprints
from skill_learner.models import (
    ArchiveSkill,
    Claim,
    CreateSkill,
    DescribeSkill,
    MergeSkills,
    PatchSkill,
    Skill,
)
from skill_learner.skills.library import USER, SkillLibrary
from skill_learner.skills.proposals import Parked

_MOST_PATCHES = 50


def approve(library: SkillLibrary, parked: Parked) -> list[Skill]:
    """Apply a proposal at the user's command; the skills that it changed. LibraryError when it no
    longer fits, and then nothing is changed."""
    proposal = parked.proposal
    if isinstance(proposal, PatchSkill):
        changed = [library.patch_by_user(proposal)]
    elif isinstance(proposal, ArchiveSkill):
        changed = [library.archive(proposal.name, why=proposal.reason, actor=USER)]
    elif isinstance(proposal, DescribeSkill):
        changed = [_describe(library, proposal)]
    else:
        changed = merge(library, proposal)
    library.proofs.add(parked.skill, parked.proofs)
    library.proposals.decide(parked, "approved", "approved by the user")
    return changed


def reject_skill(library: SkillLibrary, skill: Skill, why: str) -> Skill:
    """Archive a skill, and remember that it is not to be made again."""
    archived = library.set_state(skill.name, "archived", why=why, actor=USER)
    library.proposals.remember("rejected", prints_of(skill), why=why, skill=skill.name)
    return archived


def accept_skill(library: SkillLibrary, skill: Skill, why: str) -> Skill:
    """Make a skill active; an earlier rejection of it counts no longer."""
    active = library.set_state(skill.name, "active", why=why, actor=USER)
    prints = prints_of(skill)
    if library.proposals.refused() & frozenset(prints):
        library.proposals.remember("approved", prints, why=why, skill=skill.name)
    return active


def prints_of(skill: Skill) -> list[str]:
    draft = CreateSkill(
        skill.name, skill.description, skill.body, (),
        trigger_key=skill.trigger_key, remedy_key=skill.remedy_key,
    )  # fmt: skip
    return sorted(fingerprints(draft))


def _describe(library: SkillLibrary, proposal: DescribeSkill) -> Skill:
    why = "; ".join(claim.text for claim in proposal.evidence) or "a better description"
    return library.describe(
        proposal.name, proposal.description, base_hash=proposal.base_hash, why=why, actor=USER
    )


def merge(library: SkillLibrary, proposal: MergeSkills) -> list[Skill]:
    """Take what is new in each absorbed skill into the target, then archive the absorbed. Every
    skill named must exist and be ours before the first is touched."""
    named = [library.get(name) for name in (proposal.name, *proposal.absorbed)]
    if proposal.name in proposal.absorbed or not proposal.absorbed:
        raise LibraryError(f"{proposal.name!r} cannot be merged into itself")
    for skill in named:
        if not skill.ours:
            raise LibraryError(f"{skill.name!r} is the user's own and is not merged")
        if skill.state == "archived":
            raise LibraryError(f"{skill.name!r} is archived", f"skill-learner approve {skill.name}")
    changed = []
    for absorbed in named[1:]:
        changed.append(_absorb(library, proposal.name, absorbed))
        why = f"merged into {proposal.name}: {proposal.reason}"
        changed.append(library.archive(absorbed.name, why=why, actor=USER))
    return changed


def _absorb(library: SkillLibrary, target: str, absorbed: Skill) -> Skill:
    claim = Claim(f"merged from {absorbed.name}", ())
    draft = CreateSkill(absorbed.name, absorbed.description, absorbed.body, (claim,))
    skill = library.get(target)
    for _ in range(_MOST_PATCHES):
        patch = as_patch(draft, skill)
        if patch is None:
            break
        skill = library.patch_by_user(patch)
    library.proofs.add(target, library.proofs.of(absorbed.name))
    return skill
