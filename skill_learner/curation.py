"""Looks over the library and proposes what to merge, retire or split. Changes no skill."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from skill_learner.learning.duplicates import NEAR
from skill_learner.learning.near_skills import NearSkills
from skill_learner.models import ArchiveSkill, MergeSkills, Skill

_UNUSED_SESSIONS = 20
"""A skill that nobody used in so many reviewed sessions of its project has had its chance."""


@dataclass(frozen=True)
class Life:
    """What became of a skill: uses, and how many sessions of its project were reviewed since it
    was made."""

    uses: int = 0
    sessions_since: int = 0


@dataclass(frozen=True)
class Curation:
    """merges and retirements wait for the user; splits are advice (name, why)."""

    merges: tuple[MergeSkills, ...]
    retirements: tuple[ArchiveSkill, ...]
    splits: tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Caps:
    active_skills: int = 100
    body_lines: int = 200
    today: str = ""


def curate(
    skills: Sequence[Skill], lives: Mapping[str, Life], pins: Collection[str], caps: Caps
) -> Curation:
    """Proposals for the active skills and candidates that are ours. Pinned ones are only ever taken
    into, never retired or absorbed; nothing is retired for its age."""
    ours = [skill for skill in skills if skill.ours and skill.state != "archived"]
    merges = _merges(ours, lives, pins)
    absorbed = {name for merge in merges for name in merge.absorbed}
    left = [one for one in ours if one.name not in absorbed and one.name not in pins]
    retirements = _expired(left, caps.today)
    gone_by_time = {one.name for one in retirements}
    retirements += _unused([one for one in left if one.name not in gone_by_time], lives)
    gone = absorbed | {one.name for one in retirements}
    retirements += _above_the_cap([one for one in ours if one.name not in gone], lives, pins, caps)
    splits = tuple(
        (one.name, f"{one.body.count(chr(10))} lines, more than {caps.body_lines}")
        for one in ours
        if one.body.count("\n") > caps.body_lines
    )
    return Curation(tuple(merges), tuple(retirements), splits)


def _worth(skill: Skill, lives: Mapping[str, Life], pins: Collection[str]) -> tuple[int, ...]:
    life = lives.get(skill.name, Life())
    return (
        int(skill.name in pins), int(skill.state == "active"), life.uses, len(skill.sessions),
        len(skill.body),
    )  # fmt: skip


def _merges(
    skills: Sequence[Skill], lives: Mapping[str, Life], pins: Collection[str]
) -> list[MergeSkills]:
    """Near-duplicates of one scope, into the one that is worth most."""
    best_first = sorted(skills, key=lambda one: _worth(one, lives, pins), reverse=True)
    by_scope: dict[str, list[Skill]] = {}
    for skill in best_first:
        by_scope.setdefault(skill.scope, []).append(skill)
    near_skills = {scope: NearSkills(ours, NEAR) for scope, ours in by_scope.items()}
    pinned = frozenset(pins)
    taken: set[str] = set()
    found: list[MergeSkills] = []
    for target in best_first:
        if target.name in taken:
            continue
        taken.add(target.name)
        near = near_skills[target.scope].near(
            target, lambda one: one.name not in taken and one.name not in pinned
        )
        if near:
            taken.update(other.name for other, _ in near)
            likeness = ", ".join(f"{other.name} {score:.2f}" for other, score in near)
            names = tuple(other.name for other, _ in near)
            found.append(MergeSkills(target.name, names, f"near-duplicates ({likeness})"))
    return found


def _expired(skills: Sequence[Skill], today: str) -> list[ArchiveSkill]:
    """Guardrails that have had their time: nobody met their failure again, or it was cured."""
    return [
        ArchiveSkill(skill.name, f"a guardrail that expired on {expires}", ())
        for skill in skills
        if (expires := skill.metadata.get("skill-learner-expires", "")) and expires < today
    ]


def _unused(skills: Sequence[Skill], lives: Mapping[str, Life]) -> list[ArchiveSkill]:
    found = []
    for skill in skills:
        life = lives.get(skill.name, Life())
        if skill.state == "active" and not life.uses and life.sessions_since >= _UNUSED_SESSIONS:
            why = f"not used once in {life.sessions_since} reviewed sessions of its project"
            found.append(ArchiveSkill(skill.name, why, ()))
    return found


def _above_the_cap(
    skills: Sequence[Skill], lives: Mapping[str, Life], pins: Collection[str], caps: Caps
) -> list[ArchiveSkill]:
    found: list[ArchiveSkill] = []
    for scope in sorted({skill.scope for skill in skills}):
        active = [one for one in skills if one.scope == scope and one.state == "active"]
        spare = sorted(
            (one for one in active if one.name not in pins),
            key=lambda one: _worth(one, lives, pins),
        )
        for skill in spare[: max(0, len(active) - caps.active_skills)]:
            uses = lives.get(skill.name, Life()).uses
            why = f"{len(active)} are active, the cap is {caps.active_skills}; {uses} uses"
            found.append(ArchiveSkill(skill.name, why, ()))
    return found
