"""Builds what a `SkillEngine` is made of, from a config and what the host brings along."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from skill_learner.config import SkillLearnerConfig
from skill_learner.conversation import ConversationStore, StoredConversation
from skill_learner.host_sessions import HostSessions
from skill_learner.injector import PromptInjector
from skill_learner.load_check import fit_for_agents
from skill_learner.models import Skill
from skill_learner.remote_wiring import build_fleet, shared_embeddings, start_sync
from skill_learner.search.finder import SkillFinder
from skill_learner.skill_tools import SkillTools
from skill_learner.usage import UsageStore
from skill_learner.wiring import build_library, build_search

if TYPE_CHECKING:
    from skill_learner.interfaces import EmbeddingProvider, LLMProvider
    from skill_learner.pipeline import PipelineServices
    from skill_learner.remotes.background import BackgroundSync
    from skill_learner.reviewer import BackgroundReviewer
    from skill_learner.search import SkillSearch
    from skill_learner.search.embeddings import EmbeddingSearch
    from skill_learner.skills.library import SkillLibrary


@dataclass(frozen=True)
class EngineEvents:
    """What the parts ask of their engine, and tell it: find: the skills for a query. used: a skill
    was given in full. saved: skills were written. reviewed: a conversation was, with
    these skills written."""

    find: Callable[[str, int], Sequence[Skill]]
    used: Callable[[str], None]
    saved: Callable[[Sequence[str]], None]
    reviewed: Callable[[StoredConversation, Sequence[str]], None]


@dataclass(frozen=True)
class EngineParts:
    """Without an LLM reviewer is None. provider: the only one its conversations may be sent to."""

    skills: SkillFinder
    injector: PromptInjector
    tools: SkillTools
    sessions: HostSessions
    conversations: ConversationStore
    usage: UsageStore
    reviewer: BackgroundReviewer | None
    provider: str
    sync: BackgroundSync | None
    shared: Sequence[Callable[[], None]] = ()
    """Closes what is shared with a fleet."""

    def followed_by(self, after: EngineParts) -> EngineParts:
        """The parts that take the place of these, with what was counted so far."""
        if self.reviewer is not None and after.reviewer is not None:
            after.reviewer.counts = self.reviewer.counts
        return replace(after, sessions=self.sessions)


def build_engine_parts(
    config: SkillLearnerConfig,
    llm: LLMProvider | None,
    embedding_provider: EmbeddingProvider | None,
    events: EngineEvents,
    folder: Path,
) -> EngineParts:
    """The parts of an engine of a host in `folder`; whatever it keeps lies in
    `config.library_paths`. Takes up the reviews that earlier processes left."""
    library, search = build_library(config), build_search(config)
    paths = config.library_paths
    usage = UsageStore(paths.usage_db)
    semantic, shared = None, list[Callable[[], None]]()
    if embedding_provider is not None:
        semantic, closing = _embedding_search(config, library, search, embedding_provider)
        shared += closing
    finder = SkillFinder(
        search,
        library_scope(config, folder),
        semantic,
        lambda skills: fit_for_agents(library, skills),
    )
    reviewer, provider = None, ""
    if llm is not None:
        from skill_learner.reviewer import BackgroundReviewer

        services, provider = _services(config, llm, library, search, usage)
        if services.fleet is not None:
            shared.append(services.fleet.close)
        reviewer = BackgroundReviewer(services, provider, events.reviewed)
        reviewer.resume()
    return EngineParts(
        skills=finder,
        injector=PromptInjector(finder, config.prompt_tokens),
        tools=_tools(config, library, finder, events),
        sessions=HostSessions(config.nudge_interval),
        conversations=ConversationStore(paths),
        usage=usage,
        reviewer=reviewer,
        provider=provider,
        sync=start_sync(config),
        shared=shared,
    )


def _tools(
    config: SkillLearnerConfig, library: SkillLibrary, finder: SkillFinder, events: EngineEvents
) -> SkillTools:
    return SkillTools(
        library,
        events.find,
        on_use=events.used,
        on_save=lambda name: events.saved([name]),
        allowed=finder.allows,
        state=lambda: "active" if config.approval == "auto" else "candidate",
    )


def _services(
    config: SkillLearnerConfig,
    llm: LLMProvider,
    library: SkillLibrary,
    search: SkillSearch,
    usage: UsageStore,
) -> tuple[PipelineServices, str]:
    """What reviews by the host's own LLM need, and the name of that LLM."""
    from skill_learner.host_llm import HostLLM
    from skill_learner.jobs import JobStore
    from skill_learner.ledger import Ledger
    from skill_learner.pipeline import PipelineServices
    from skill_learner.reviewers.llm import LLMReviewer

    bounded = HostLLM(llm, config.provider_timeout)
    paths = config.library_paths
    services = PipelineServices(
        paths=paths,
        config=config,
        library=library,
        search=search,
        make_reviewer=lambda settings: LLMReviewer(bounded, bounded.name, settings.model),
        publish=lambda project, key: None,
        ledger=Ledger(paths.ledger),
        jobs=JobStore(paths),
        usage=usage,
        fleet=build_fleet(config),
    )
    return services, bounded.name


def _embedding_search(
    config: SkillLearnerConfig,
    library: SkillLibrary,
    search: SkillSearch,
    provider: EmbeddingProvider,
) -> tuple[EmbeddingSearch, Sequence[Callable[[], None]]]:
    """The search, and what closes that which a fleet shares of it."""
    from skill_learner.host_llm import bounded
    from skill_learner.search.embeddings import EmbeddingSearch, Known, Limits
    from skill_learner.search.vector_store import VectorStore

    identity = embedding_identity(provider)
    shared = shared_embeddings(config, provider, identity)
    found = EmbeddingSearch(
        library,
        lambda: {key: Known(*told) for key, told in search.digests().items()},
        provider if shared is None else shared,
        VectorStore(config.index_db.with_name(f"{config.index_db.stem}-vectors.sqlite")),
        identity,
        Limits(config.semantic_threshold, config.embedding_timeout, bounded),
    )
    return found, () if shared is None else (shared.close_remote,)


def embedding_identity(provider: EmbeddingProvider) -> str:
    """Equal for providers that give the same vectors, as far as can be told."""
    from skill_learner.host_llm import provider_identity

    named = (getattr(provider, key, None) for key in ("model_name", "model"))
    model = next((name for name in named if isinstance(name, str) and name), "")
    return f"{provider_identity(provider)} {model}".strip()


def library_scope(config: SkillLearnerConfig, folder: Path) -> str | None:
    """Which skills a host in that folder is given: of a library of its own all; of the one
    that editors share, its project's and the user-wide ones."""
    if config.skills_dir != config.state_dir / "skills":
        return None
    from skill_learner.project import project_key, project_root

    return project_key(project_root(folder))
