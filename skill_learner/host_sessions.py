"""The open sessions of a host program, and which of them a call is about."""

from __future__ import annotations

import contextvars
import os
import threading
from dataclasses import dataclass, field
from pathlib import Path

from skill_learner.conversation import Conversation
from skill_learner.trigger import ReviewTrigger

MOST_OPEN = 10_000
"""Sessions that are never ended must not fill a host's memory: the oldest are ended then."""


@dataclass
class HostSession:
    """file: where it is kept until it is reviewed, once anything is; stored: how many of its steps.
    given: skills whose text the agent was given."""

    conversation: Conversation
    trigger: ReviewTrigger
    file: Path | None = None
    stored: int = 0
    given: set[str] = field(default_factory=set)
    lock: threading.RLock = field(default_factory=threading.RLock)


class HostSessions:
    """A session belongs to the thread or asyncio task that began it. Safe for all of them."""

    def __init__(self, nudge_interval: int) -> None:
        self._interval = nudge_interval
        self._open: dict[str, HostSession] = {}
        self._lock = threading.RLock()
        self._current: contextvars.ContextVar[str] = contextvars.ContextVar(f"skills-{id(self)}")
        self.begun = 0

    def begin(self, session: str | None = None) -> str:
        """Open a session, or go on with the one of that name, for this thread or task."""
        session_id = session or new_id()
        self._current.set(session_id)
        self.open(session_id)
        return session_id

    def current(self) -> str | None:
        """The open session of this thread or task."""
        session_id = self._current.get("")
        return session_id if session_id in self._open else None

    def meant(self, session: str | None) -> str | None:
        """The session a call is about: the named one, this thread's or task's, or, where none was
        begun here, the only one there is."""
        if session is not None:
            return session
        current = self.current()
        if current is None and not self._current.get(""):
            with self._lock:
                return next(iter(self._open)) if len(self._open) == 1 else None
        return current

    def open(self, session_id: str) -> HostSession:
        with self._lock:
            session = self._open.get(session_id)
            if session is None:
                session = HostSession(Conversation(session_id), ReviewTrigger(self._interval))
                self._open[session_id] = session
                self.begun += 1
            return session

    def get(self, session_id: str) -> HostSession | None:
        return self._open.get(session_id)

    def close(self, session_id: str) -> HostSession | None:
        """Take a session out; None when it was not open."""
        with self._lock:
            return self._open.pop(session_id, None)

    def all(self) -> list[HostSession]:
        with self._lock:
            return list(self._open.values())

    def surplus(self) -> list[HostSession]:
        """The oldest of too many."""
        with self._lock:
            more = len(self._open) - MOST_OPEN
            return list(self._open.values())[:more] if more > 0 else []


def new_id() -> str:
    return os.urandom(16).hex()
