"""A skill as plain data, the same in every command's JSON."""

from __future__ import annotations

from typing import Any

from skill_learner.models import Skill
from skill_learner.usage import SkillUse


def summary(skill: Skill, use: SkillUse | None = None) -> dict[str, Any]:
    """The fields that lists show; `uses` and `last_used` are of the given use."""
    return {
        "name": skill.name,
        "state": skill.state,
        "scope": skill.scope,
        "description": skill.description,
        "origin": skill.origin,
        "version": skill.version,
        "sessions": list(skill.sessions),
        "uses": use.count if use else 0,
        "last_used": use.last_used if use else None,
        "ours": skill.ours,
        "path": skill.path,
        "warnings": list(skill.warnings),
    }
