"""The engine a Python host drives: skills into the prompt, activity counted, reviews behind it."""

from __future__ import annotations

import atexit
import os
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import ConfigError
from skill_learner.faults import FaultLog, never_raises

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from skill_learner.conversation import StoredConversation
    from skill_learner.engine_wiring import EngineParts
    from skill_learner.host_sessions import HostSession
    from skill_learner.interfaces import EmbeddingProvider, LLMProvider
    from skill_learner.models import Skill
    from skill_learner.reviewer import BackgroundReviewer
    from skill_learner.skill_tools import Shape

_AT_EXIT: set[SkillEngine] = set()
_OF_A_PARENT: list[EngineParts] = []
"""Kept in a forked child so that nothing there closes its parent's database."""
_ENDING: list[bool] = []
"""Holds something once the interpreter ends."""


class SkillEngine:
    """Learns from an agent's conversations and gives back what was learned.

    config: settings, a mapping of them, or None for `SkillLearnerConfig.load()`. llm: any object
    with `complete`; without one the engine injects, searches and counts, but learns nothing.
    embedding_provider: any object with `embed`; search is then by cosine, by words where it fails.

    A session is of the thread or asyncio task that started it; `session` names one explicitly. No
    method but the constructor raises into the agent: faults are logged and shown in `get_stats()`.
    """

    def __init__(
        self,
        config: SkillLearnerConfig | Mapping[str, Any] | None = None,
        llm: LLMProvider | None = None,
        embedding_provider: EmbeddingProvider | None = None,
    ) -> None:
        if config is None:
            config = SkillLearnerConfig.load()
        elif not isinstance(config, SkillLearnerConfig):
            config = SkillLearnerConfig.from_dict(config)
        _require(llm, "complete", "llm must have complete(messages, tools=None, max_tokens=2048)")
        _require(embedding_provider, "embed", "embedding_provider must have embed(texts)")
        self.config = config
        self._llm = llm
        self._embedding_provider = embedding_provider
        self._folder = Path.cwd()
        self._built: EngineParts | None = None
        self._begin()
        self._ended = Counter[str]()
        self._prompts = 0
        self._closed = False
        if config.remotes or (llm is not None and config.library_paths.have_open_reviews()):
            _ = self._parts  # what goes on beside the program begins now

    # -- what a host calls -----------------------------------------------------------------------

    @never_raises("")
    def on_session_start(
        self, query: str = "", *, tools: Any = None, session: str | None = None
    ) -> str:
        """Begin a session; returns the skills prompt to inject, "" when there is no skill.

        query: the task, if it is known, to choose skills by. tools: what the agent is given as
        tools; those of `tools()` among them are named in the prompt.
        """
        opened = self.begin_session(session)
        return self.skills_prompt(query, tools=tools, session=opened)

    @never_raises(None)
    def on_tool_call(
        self,
        name: str,
        arguments: Mapping[str, Any] | None = None,
        result: object = None,
        *,
        failed: bool = False,
        session: str | None = None,
    ) -> None:
        """Count a tool call. With its result it also becomes evidence for what is learned."""
        opened = self._session(session)
        text = None if result is None else str(result)
        given = arguments if isinstance(arguments, Mapping) else None
        with opened.lock:
            opened.conversation.tool_call(str(name), given, text, failed=failed)
            self._advance(opened)

    @never_raises(None)
    def on_turn_complete(
        self,
        messages: Iterable[Any] | None = None,
        *,
        answer: Any = None,
        session: str | None = None,
    ) -> None:
        """A turn is over; returns at once, and may start a review behind it.

        messages: the conversation so far, or only what is new of it, in any of the usual shapes.
        answer: what the agent gave back, where the messages do not hold it yet.
        """
        from skill_learner.conversation.answers import answer_messages

        opened = self._session(session)
        with opened.lock:
            if messages is not None:
                opened.conversation.take(_listed(messages))
            opened.conversation.take(answer_messages(answer))
            opened.conversation.turns += 1
            self._advance(opened)

    @never_raises(False)
    def on_session_end(
        self,
        messages: Iterable[Any] | None = None,
        *,
        session: str | None = None,
        wait: float | None = None,
    ) -> bool:
        """End the session and review what no review has seen; True when that is done.

        Waits for it `wait` seconds: by default `review_timeout`, and not at all on the thread of a
        running event loop. What takes longer goes on behind the program.
        """
        session_id = self._parts.sessions.meant(session)
        if session_id is None and messages is None:
            return True
        opened = self._session(session_id)
        session_id = opened.conversation.id
        with opened.lock:
            if messages is not None:
                opened.conversation.take(_listed(messages))
            opened.conversation.flush()
            self._end(opened)
        if self.reviewer is None:
            return True
        if wait is None:
            wait = 0.0 if _on_event_loop() else self.config.review_timeout
        return self.reviewer.wait(wait, session_id)

    @never_raises(list)
    def get_relevant_skills(self, query: str, top_k: int | None = None) -> list[Skill]:
        """The active skills that serve a task, best first, at most `top_k` (`semantic_top_k`)."""
        most = self.config.semantic_top_k if top_k is None else top_k
        return list(self._parts.skills.relevant(query, most))

    def get_stats(self) -> dict[str, Any]:
        """Numbers as plain data: skills by state, uses, what this engine counted, its reviews."""
        sessions = self._parts.sessions.all()
        skills = self._skill_counts()
        return {
            "skills": skills,
            "total_skills": sum(skills.values()),
            "uses": self._use_counts(),
            "sessions": self._parts.sessions.begun,
            "open_sessions": len(sessions),
            "turns": self._ended["turns"] + sum(s.conversation.turns for s in sessions),
            "tool_calls": self._ended["tool_calls"]
            + sum(s.conversation.tool_calls for s in sessions),
            "unreviewed": sum(s.trigger.unreviewed for s in sessions),
            "prompts": self._prompts,
            "faults": self.faults.count,
            "last_fault": self.faults.last,
            "reviews": _review_counts(self.reviewer),
            "embedding": self._parts.skills.embedding_state(),
        }

    def tools(self, shape: Shape = "anthropic") -> list[dict[str, Any]]:
        """JSON schemas of `load_skill`, `search_skills`, `save_skill` as Anthropic or OpenAI has
        them."""
        from skill_learner.skill_tools import schemas

        return schemas(shape)

    def handle_tool_call(self, name: str, arguments: Any, *, session: str | None = None) -> str:
        """Run one of `tools()`; arguments as an object or as JSON. The text is for the model:
        errors are told in it, nothing is raised."""
        try:
            meant = self._parts.sessions.meant(session)
            return self._parts.tools.handle(name, arguments, meant or "")
        except Exception as error:
            self.faults.note(f"{name}: {type(error).__name__}: {error}")
            return f"Error: {name} failed."

    def wait(self, timeout: float | None = None) -> bool:
        """Wait for the reviews that were asked for (`review_timeout` at most); False when they
        take longer."""
        if self.reviewer is None:
            return True
        return self.reviewer.wait(self.config.review_timeout if timeout is None else timeout)

    def close(self, timeout: float | None = None) -> bool:
        """End the open sessions and wait for their reviews, `review_timeout` at most; what takes
        longer stays a job on disk. False when there is such. A session that begins after it opens
        the engine again; its numbers go on."""
        self._see_a_fork()
        with self._lock:
            if self._closed:
                return True
            self._closed = True
            parts = self._built
        _AT_EXIT.discard(self)
        if parts is None:
            return True
        for session in parts.sessions.all():
            self._end_quietly(session)
        done = True
        if parts.reviewer is not None:
            done = parts.reviewer.close(self.config.review_timeout if timeout is None else timeout)
        parts.skills.close()
        if parts.sync is not None:
            parts.sync.close()
        for close in parts.shared:
            close()
        return done

    def __enter__(self) -> SkillEngine:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    @property
    def reviewer(self) -> BackgroundReviewer | None:
        """Runs the reviews; None without an LLM."""
        return self._parts.reviewer

    # -- for integrations ------------------------------------------------------------------------

    @property
    def is_prepared(self) -> bool:
        return self._built is not None and not self._closed

    @never_raises(None)
    def prepare(self) -> None:
        """Build now what the first use would build: beside an event loop, not on it."""
        self._open_again()
        _ = self._parts

    def begin_session(self, session: str | None = None) -> str:
        """Start a session (or go on with one of that name) for this thread or task."""
        self._open_again()
        session_id = self._parts.sessions.begin(session)
        _AT_EXIT.add(self)
        for old in self._parts.sessions.surplus():
            self._end_quietly(old)
        return session_id

    def current_session(self) -> str | None:
        """The open session of this thread or task."""
        return None if self._built is None else self._built.sessions.current()

    @never_raises("")
    def skills_prompt(self, query: str = "", *, tools: Any = None, session: str = "") -> str:
        """The prompt alone, for a task; the skills that stand in it in full count as used."""
        from skill_learner.skill_tools import named_tools

        parts = self._parts
        with parts.skills.one_look():
            prompt = parts.injector.build(
                query, tools=named_tools(tools), top_k=self.config.semantic_top_k
            )
        with self._lock:
            self._prompts += bool(prompt.text)
        for name in prompt.whole:
            self._note_use(name, session)
        return prompt.text

    # -- below -----------------------------------------------------------------------------------

    @property
    def _parts(self) -> EngineParts:
        """Built at the first use: opening a library costs next to nothing."""
        self._see_a_fork()
        with self._lock:
            if self._built is None:
                from skill_learner.engine_wiring import EngineEvents, build_engine_parts

                events = EngineEvents(
                    self.get_relevant_skills, self._note_use, self._saved, self._reviewed
                )
                self._built = build_engine_parts(
                    self.config, self._llm, self._embedding_provider, events, self._folder
                )
            return self._built

    def _begin(self) -> None:
        self._process = os.getpid()
        self._lock = threading.RLock()
        self.faults = FaultLog()

    def _see_a_fork(self) -> None:
        """A forked child has none of its parent's threads, so a lock that one held is never given
        back, and no database may be used across a fork: it begins anew. Sessions that are open stay
        the parent's."""
        if self._process != os.getpid():
            if self._built is not None:
                _OF_A_PARENT.append(self._built)
                self._built = None
            self._begin()

    def _open_again(self) -> None:
        """What was closed is built anew for the next session. A program that ends closes for good:
        no thread starts any more, and what comes late is a job for the next engine."""
        self._see_a_fork()
        with self._lock:
            if not self._closed or _ENDING:
                return
            before, self._built, self._closed = self._built, None, False
            if before is not None:
                self._built = before.followed_by(self._parts)

    def _session(self, session: str | None) -> HostSession:
        self._open_again()
        _AT_EXIT.add(self)
        sessions = self._parts.sessions
        return sessions.open(sessions.meant(session) or self.begin_session())

    def _advance(self, opened: HostSession) -> None:
        """Store what is new, count it, and ask for a review when one is due."""
        opened.trigger.note(opened.conversation.activity)
        self._keep(opened)
        if self.reviewer is not None and opened.trigger.is_due() and opened.file is not None:
            opened.trigger.asked(opened.stored)
            self.reviewer.submit(opened.conversation.id, opened.file, "nudge")

    def _keep(self, opened: HostSession) -> None:
        if self.reviewer is None:
            return
        fresh = opened.conversation.steps()[opened.stored :]
        if fresh:
            session_id, provider = opened.conversation.id, self._parts.provider
            conversations = self._parts.conversations
            if opened.file is None:
                opened.file = conversations.begin(session_id, provider)
            conversations.ensure_begun(opened.file, session_id, provider)
            conversations.add(opened.file, fresh, sorted(opened.given))
            opened.stored += len(fresh)

    def _end(self, opened: HostSession) -> None:
        session_id = opened.conversation.id
        if self._parts.sessions.close(session_id) is None:
            return
        with self._lock:
            self._ended["turns"] += opened.conversation.turns
            self._ended["tool_calls"] += opened.conversation.tool_calls
        opened.trigger.note(opened.conversation.activity)
        self._keep(opened)
        if self.reviewer is not None and opened.file is not None:
            self._parts.conversations.mark_ended(opened.file)
            self.reviewer.submit(session_id, opened.file, "session_end")
        if self.reviewer is None and not self._parts.sessions.all():
            _AT_EXIT.discard(self)

    @never_raises(None)
    def _end_quietly(self, opened: HostSession) -> None:
        with opened.lock:
            opened.conversation.flush()
            self._end(opened)

    @never_raises(None)
    def _reviewed(self, conversation: StoredConversation, skills: Sequence[str]) -> None:
        opened = self._parts.sessions.get(conversation.session)
        if opened is not None and opened.file == conversation.path:
            opened.trigger.completed(len(conversation.steps))
        if skills:
            self._saved(skills)

    @never_raises(None)
    def _saved(self, names: Sequence[str]) -> None:
        """What was saved is indexed and embedded now, not when the next agent waits for it."""
        self._parts.skills.saved(names)

    @never_raises(None)
    def _note_use(self, name: str, session: str = "") -> None:
        """Each skill counts once a session, when its text was given to the agent."""
        from skill_learner.host_sessions import new_id

        session_id = session or self.current_session() or new_id()
        opened = self._parts.sessions.get(session_id)
        if opened is not None:
            if name in opened.given:
                return
            opened.given.add(name)
        self._parts.usage.note([name], session_id, time.time())

    @never_raises(dict)
    def _skill_counts(self) -> dict[str, int]:
        counted = self._parts.skills.state_counts()
        return {state: counted.get(state, 0) for state in ("active", "candidate", "archived")}

    @never_raises(dict)
    def _use_counts(self) -> dict[str, int]:
        if not self.config.library_paths.usage_db.exists():
            return {}
        return {name: use.count for name, use in self._parts.usage.counts().items()}


def _review_counts(reviewer: BackgroundReviewer | None) -> dict[str, Any]:
    if reviewer is None:
        return {"enabled": False, "completed": 0, "failed": 0, "waiting": 0}
    counts = reviewer.counts
    return {
        "enabled": True,
        "completed": counts.completed,
        "failed": counts.failed,
        "waiting": reviewer.waiting,
        "provider_errors": counts.provider_errors,
        "last_error": counts.last_error,
        "skills_created": counts.skills["created"],
        "skills_patched": counts.skills["patched"],
        "skills_archived": counts.skills["archived"],
    }


def _require(given: object, method: str, words: str) -> None:
    if given is not None and not callable(getattr(given, method, None)):
        raise ConfigError(f"{words}; {type(given).__name__} has not")


def _listed(messages: Any) -> list[Any]:
    """A list of messages from a list, one message, or {"messages": [...]}."""
    if isinstance(messages, Mapping):
        inner = messages.get("messages")
        return list(inner) if isinstance(inner, Sequence) else [messages]
    return [messages] if isinstance(messages, str) else list(messages)


def _on_event_loop() -> bool:
    import asyncio

    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


@atexit.register
def _close_at_exit() -> None:
    """Wait a moment for what still runs; the rest is on disk and is run by the next engine."""
    _ENDING.append(True)
    engines = list(_AT_EXIT)
    deadline = time.monotonic() + max((engine.config.exit_wait for engine in engines), default=0)
    for engine in engines:
        engine.close(max(0.0, min(engine.config.exit_wait, deadline - time.monotonic())))
