"""Finding the skill that serves a task."""

from __future__ import annotations

from skill_learner.search.skill_search import SkillSearch

__all__ = ["SkillSearch"]
