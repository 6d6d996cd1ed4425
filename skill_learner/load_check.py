"""What is read from the library is looked at again before an agent is given it: files may have been
changed, or put there, by others than us."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime, timezone

from skill_learner.models import Skill
from skill_learner.skills.library import SkillLibrary

_seen: dict[tuple[str, str], tuple[str, ...]] = {}
"""What was found in a file, by name and content hash: an agent is given the same ones all day."""
_MOST_SEEN = 20_000

_HARMLESS_IN_A_FILE = frozenset({"open fence", "fetch and run"})
"""Kinds that people's own documentation holds too."""


def reasons_to_hold(library: SkillLibrary, skill: Skill) -> tuple[str, ...]:
    """Why a skill is not given to agents, in words; empty when it may be. What we wrote passed the
    gate; bytes that the user approved are theirs to judge."""
    if skill.ours or library.is_approved(skill):
        return ()
    key = (skill.name, skill.content_hash)
    if key not in _seen:
        if len(_seen) >= _MOST_SEEN:
            _seen.clear()
        _seen[key] = _suspicious(skill)
    return _seen[key]


def _suspicious(skill: Skill) -> tuple[str, ...]:
    from skill_learner.learning import injection  # its many patterns take time to compile

    found = [
        finding.reason
        for text in (skill.name, skill.description, skill.body)
        for finding in injection.findings(text)
        if finding.kind not in _HARMLESS_IN_A_FILE
    ]
    return tuple(dict.fromkeys(found))


def is_expired(skill: Skill, today: str = "") -> bool:
    """Whether a guardrail has had its time. today: ISO date, of now when empty."""
    expires = skill.metadata.get("skill-learner-expires", "")
    return bool(expires) and expires < (today or datetime.now(timezone.utc).date().isoformat())


def fit_for_agents(library: SkillLibrary, skills: Iterable[Skill]) -> list[Skill]:
    return [
        skill for skill in skills if not is_expired(skill) and not reasons_to_hold(library, skill)
    ]
