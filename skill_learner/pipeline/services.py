"""What the pipeline works with, as `wiring` hands it over."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from skill_learner.interfaces import Reviewer, SearchHit
from skill_learner.jobs import JobStore
from skill_learner.ledger import Ledger
from skill_learner.models import (
    ArchiveSkill,
    CreateSkill,
    DescribeSkill,
    PatchSkill,
    Proof,
    ProposalSource,
    Skill,
    SkillState,
)
from skill_learner.paths import StatePaths
from skill_learner.pipeline.fleet_turn import Fleet
from skill_learner.privacy import PrivacyRules
from skill_learner.usage import UsageStore


class ReviewSettings(Protocol):
    """The settings that the pipeline reads, and those by which `make_reviewer` chooses
    (`SkillLearnerConfig` has them all)."""

    @property
    def paths(self) -> StatePaths: ...
    @property
    def state_dir(self) -> Path: ...
    @property
    def provider(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def command(self) -> str: ...
    @property
    def provider_timeout(self) -> float: ...
    @property
    def review_when(self) -> str: ...
    @property
    def approval(self) -> str: ...
    @property
    def digest_tokens(self) -> int: ...
    @property
    def daily_reviews(self) -> int: ...
    @property
    def daily_tokens(self) -> int: ...
    @property
    def daily_patches(self) -> int: ...
    @property
    def max_patch_lines(self) -> int: ...
    @property
    def max_active_skills(self) -> int: ...
    @property
    def journal_days(self) -> int: ...
    @property
    def journal_megabytes(self) -> int: ...
    @property
    def privacy(self) -> PrivacyRules: ...
    @property
    def review_process_timeout(self) -> float: ...
    @property
    def ignore_learner_sessions(self) -> bool: ...


class Proposals(Protocol):
    """What waits for the user, and what they rejected (`skills.proposals.ProposalStore`)."""

    def park(
        self,
        proposal: PatchSkill | ArchiveSkill | DescribeSkill,
        prints: Collection[str],
        source: ProposalSource,
        *,
        why: Sequence[str],
        proofs: Sequence[Proof] = (),
    ) -> object | None: ...

    def refused(self) -> frozenset[str]: ...


class Encounters(Protocol):
    """What was met along with skills (`skills.encounters.EncounterStore`)."""

    def add(
        self, name: str, asks: Sequence[str] = (), errors: Sequence[Sequence[str]] = ()
    ) -> bool: ...


class Proofs(Protocol):
    """Where claims of skills are proved (`skills.proofs.ProofStore`)."""

    def add(self, name: str, proofs: Sequence[Proof]) -> None: ...

    def of(self, name: str) -> Sequence[Proof]: ...


class Pins(Protocol):
    """Skills that the user wants to keep (`skills.pins.Pins`)."""

    def names(self) -> Collection[str]: ...


class ChangeLine(Protocol):
    @property
    def why(self) -> str: ...


class Library(Protocol):
    """The library as far as a review changes it (`skills.library.SkillLibrary`)."""

    def list(
        self, states: Collection[SkillState] = ..., scope: str | None = None
    ) -> Sequence[Skill]: ...

    def create(
        self,
        draft: CreateSkill,
        *,
        state: SkillState,
        scope: str,
        project_slug: str,
        origin: str,
        session: str,
    ) -> Skill: ...

    @property
    def proposals(self) -> Proposals: ...

    @property
    def proofs(self) -> Proofs: ...

    @property
    def encounters(self) -> Encounters: ...

    @property
    def pins(self) -> Pins: ...

    def history(self, name: str) -> Sequence[ChangeLine]: ...

    def patches_today(self) -> int: ...

    def patch(self, patch: PatchSkill, *, origin: str, session: str) -> Skill: ...

    def add_evidence(self, name: str, *, session: str, promote: bool, why: str) -> Skill: ...

    def set_state(self, name: str, state: SkillState, *, why: str, actor: str) -> Skill: ...


class NearestSkills(Protocol):
    """Finds a scope's skills, and the user-wide ones, that are nearest to a text
    (`search.SkillSearch`)."""

    def search(
        self,
        query: str,
        *,
        top_k: int = 5,
        scope: str | None = None,
        states: Collection[SkillState] = ...,
    ) -> Sequence[SearchHit]: ...


@dataclass(frozen=True)
class PipelineServices:
    """make_reviewer: the reviewer that these settings, and the user's leave, ask for now.
    publish: makes a project's skills visible to its editor, given the project's path and key.
    settings_for: the settings in force for a project (its path), where they differ from `config`.
    fleet: the other workers of a shared library, where there are any.
    """

    paths: StatePaths
    config: ReviewSettings
    library: Library
    search: NearestSkills
    make_reviewer: Callable[[ReviewSettings], Reviewer]
    publish: Callable[[str, str], None]
    ledger: Ledger
    jobs: JobStore
    usage: UsageStore
    settings_for: Callable[[str], ReviewSettings] | None = None
    fleet: Fleet | None = None

    def for_project(self, project: str) -> PipelineServices:
        """The same services under the project's own settings."""
        if self.settings_for is None or not project:
            return self
        return replace(self, config=self.settings_for(project))
