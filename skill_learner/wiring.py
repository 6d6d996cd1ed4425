"""Builds concrete things from a config: the only place that knows them all."""

from __future__ import annotations

import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from skill_learner.config import FILE_NAME, SkillLearnerConfig
from skill_learner.errors import ConfigError, SkillLearnerError
from skill_learner.skills.library import USER, SkillLibrary

if TYPE_CHECKING:
    from skill_learner.interfaces import Reviewer
    from skill_learner.models import SkillState
    from skill_learner.pipeline import PipelineServices
    from skill_learner.pipeline.services import ReviewSettings
    from skill_learner.search import SkillSearch

log = logging.getLogger("skill_learner")

ACTIVE: tuple[SkillState, ...] = ("active",)

Publisher = Callable[[str, str], None]
"""Brings skills folder and index up to date, given a project's path and key, or "" and "user"."""

ErrorsOf = Callable[[str], Sequence[Sequence[str]]]
"""The fragments of each error that a skill, by its name, was learned from."""


def build_library(config: SkillLearnerConfig) -> SkillLibrary:
    return SkillLibrary(config.skills_dir)


def build_search(config: SkillLearnerConfig) -> SkillSearch:
    from skill_learner.search import SkillSearch
    from skill_learner.storage import open_index

    index = open_index(config.storage_backend, config.index_db)
    return SkillSearch(
        build_library(config), index, fallback=lambda: open_index("filesystem", config.index_db)
    )


def build_publisher(config: SkillLearnerConfig) -> Publisher:
    """A publisher that takes the project's active skills, most used and then newest first."""
    from skill_learner.project import list_projects
    from skill_learner.publish.error_hints import write_declined, write_error_hints
    from skill_learner.publish.publisher import publish, publish_user
    from skill_learner.publish.shown import is_published
    from skill_learner.published_set import Shared, listing_for, what_is_shared

    library = build_library(config)
    search = build_search(config)

    def publish_scope(project: str, key: str) -> None:
        shared = what_is_shared(config, library)
        errors = cache(lambda name: library.encounters.of(name).errors)
        publish_one(project, key, shared, errors)
        if key == USER:
            publish_everywhere(shared, errors)
        write_declined(config.paths, shared.declined)
        search.sync()  # so that a prompt hook, which only reads the index, finds what is new

    def publish_one(
        project: str, key: str, shared: Shared, errors: ErrorsOf, *, where_needed: bool = False
    ) -> None:
        listing = listing_for(config, library, project, key, shared)
        listed = frozenset(skill.name for skill in listing.listed)
        skills, paths = listing.skills, config.paths
        if key == USER:
            publish_user(skills, paths, token_budget=config.index_tokens, listed=listed)
        else:
            root, budget = Path(project), project_config(config, Path(project)).index_tokens
            if not where_needed or not is_published(key, skills, paths, budget, listed):
                publish(root, skills, paths, token_budget=budget, listed=listed)
        write_error_hints(paths, key, {s.name: (s.description, errors(s.name)) for s in skills})

    def publish_everywhere(shared: Shared, errors: ErrorsOf) -> None:
        """Projects show what is the user's too. One for which that changes nothing is not touched;
        one that cannot be written stops no other."""
        for record in list_projects(config.paths):
            if record.installs and Path(record.path).is_dir():
                try:
                    publish_one(record.path, record.key, shared, errors, where_needed=True)
                except (SkillLearnerError, OSError) as problem:
                    log.warning("%s: not updated: %s", record.path, problem)

    return publish_scope


def project_config(config: SkillLearnerConfig, project: Path) -> SkillLearnerConfig:
    """`config` with what the project's own file may set now (all of it while the user trusts it as
    it is), but for what a command's arguments said; a file that cannot be read sets nothing here
    (every command that stands in the project complains about it)."""
    try:
        own = SkillLearnerConfig.load(project, arguments={"state_dir": config.state_dir})
    except (ConfigError, OSError):
        return config
    source = f"file {project / FILE_NAME}"
    said = {key for key, origin in config.origins.items() if origin == "argument"}
    fixed = {"state_dir", "skills_dir", *said}  # a review for many projects has one library
    given = {key: getattr(own, key) for key in own.values() if own.origins[key] == source}
    return replace(config, **{key: value for key, value in given.items() if key not in fixed})


def build_reviewer(config: ReviewSettings, environ: Mapping[str, str] = os.environ) -> Reviewer:
    """The offline reviewer, or the LLM that settings and consent allow."""
    name = reviewer_name(config, environ)
    if name == "offline":
        from skill_learner.reviewers.offline import OfflineReviewer

        return OfflineReviewer()
    from skill_learner.providers import make_provider
    from skill_learner.reviewers.llm import LLMReviewer

    return LLMReviewer(make_provider(name, config, environ), name, config.model)


def reviewer_name(config: ReviewSettings, environ: Mapping[str, str] = os.environ) -> str:
    """ "offline", or the provider that reviews would ask now."""
    from skill_learner.consent import load_consent
    from skill_learner.providers import choose_provider

    consent = load_consent(config.paths)
    stands = consent is not None and consent.covers(consent.provider)
    return choose_provider(config, environ, consent.provider if consent and stands else None)


def build_services(config: SkillLearnerConfig, project_dir: Path | None) -> PipelineServices:
    """What a review needs. `project_dir` is where the command stands; jobs carry their own."""
    from skill_learner.jobs import JobStore
    from skill_learner.ledger import Ledger
    from skill_learner.pipeline import PipelineServices
    from skill_learner.remote_wiring import build_fleet
    from skill_learner.usage import UsageStore

    return PipelineServices(
        paths=config.paths,
        config=config,
        library=build_library(config),
        search=build_search(config),
        make_reviewer=build_reviewer,
        publish=build_publisher(config),
        ledger=Ledger(config.paths.ledger),
        jobs=JobStore(config.paths),
        usage=UsageStore(config.paths.usage_db),
        settings_for=lambda project: project_config(config, Path(project)),
        fleet=build_fleet(config),
    )


def build_library_services(config: SkillLearnerConfig) -> PipelineServices:
    """What reviews of Python hosts' conversations need when they are run by hand."""
    from skill_learner.jobs import JobStore
    from skill_learner.ledger import Ledger

    paths = config.library_paths
    return replace(
        build_services(config, None),
        paths=paths,
        publish=lambda project, key: None,
        ledger=Ledger(paths.ledger),
        jobs=JobStore(paths),
    )
