"""A skill as plain data, the same in every command's JSON, and how often it was used."""

from __future__ import annotations

from collections.abc import Callable, Collection
from typing import Any, TypeVar

from skill_learner.cli.output import warn
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import LibraryError
from skill_learner.models import Skill
from skill_learner.usage import OfferCount, SkillUse, UsageStore

Told = TypeVar("Told")


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
    """As `counted_uses`; none, with a warning, where they cannot be had: what only shows them does
    not fail for it."""
    return _if_known(lambda: counted_uses(config, skills))


def counted_uses(config: SkillLearnerConfig, skills: Collection[Skill]) -> dict[str, SkillUse]:
    """Uses by name, in editors and in Python programs, those of running sessions included.
    LibraryError while the counts cannot be had."""
    in_editors = _editor_uses(config, skills)
    own = config.library_paths.usage_db
    if own == config.paths.usage_db or not own.exists():
        return in_editors
    in_programs = UsageStore(own).counts()
    return {
        name: _sum(in_editors.get(name), in_programs.get(name))
        for name in {**in_editors, **in_programs}
    }


def _if_known(count: Callable[[], dict[str, Told]]) -> dict[str, Told]:
    try:
        return count()
    except (LibraryError, OSError) as problem:
        warn(f"uses are not known: {problem}")
        return {}


def _sum(one: SkillUse | None, other: SkillUse | None) -> SkillUse:
    uses = [use for use in (one, other) if use is not None]
    return SkillUse(
        sum(use.count for use in uses),
        max(use.last_used for use in uses),
        sum(use.sessions for use in uses),
    )


def _editor_uses(config: SkillLearnerConfig, skills: Collection[Skill]) -> dict[str, SkillUse]:
    if not config.paths.journal_dir.exists() and not config.paths.usage_db.exists():
        return {}
    store = UsageStore(config.paths.usage_db)
    store.harvest_all(config.paths, {skill.name for skill in skills})
    store.harvest_offers(config.paths.offered_dir)
    return store.counts()


def offers_of(config: SkillLearnerConfig) -> dict[str, OfferCount]:
    """What came of offers and loads, by skill, as last counted by `uses_of`."""
    if not config.paths.usage_db.exists():
        return {}
    return _if_known(UsageStore(config.paths.usage_db).offers)


def offer_data(offer: OfferCount | None) -> dict[str, Any]:
    offer = offer or OfferCount()
    return {
        "offered": offer.offered,
        "loaded_when_offered": offer.taken,
        "helped": offer.helped,
        "did_not_help": offer.failed,
    }
