"""A skill as plain data, the same in every command's JSON, and how often it was used."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from typing import Any

from skill_learner.cli.output import warn
from skill_learner.config import SkillLearnerConfig
from skill_learner.models import Skill
from skill_learner.usage import OfferCount, SkillUse, UsageStore


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


def uses_of(config: SkillLearnerConfig, skills: Collection[Skill]) -> dict[str, SkillUse]:
    """Uses by name, those of running sessions included. Counting never makes a command fail."""
    if not config.paths.journal_dir.exists() and not config.paths.usage_db.exists():
        return {}
    store = UsageStore(config.paths.usage_db)
    try:
        store.harvest_all(config.paths, {skill.name for skill in skills})
        store.harvest_offers(config.paths.offered_dir)
        return store.counts()
    except sqlite3.Error as problem:
        warn(f"{config.paths.usage_db}: uses are not known: {problem}")
        return {}


def offers_of(config: SkillLearnerConfig) -> dict[str, OfferCount]:
    """What came of offers and loads, by skill, as last counted by `uses_of`."""
    if not config.paths.usage_db.exists():
        return {}
    return UsageStore(config.paths.usage_db).offers()


def offer_data(offer: OfferCount | None) -> dict[str, Any]:
    offer = offer or OfferCount()
    return {
        "offered": offer.offered,
        "loaded_when_offered": offer.taken,
        "helped": offer.helped,
        "did_not_help": offer.failed,
    }
