"""Syncs that nobody waits for: at the end of a detached process, and beside a Python host."""

from __future__ import annotations

import contextlib
import logging
import random
import threading
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from skill_learner.errors import SkillLearnerError
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.sync import Synchroniser, SyncReport

log = logging.getLogger("skill_learner")

_SHORTEST = 5.0
_SLICE = 0.5
"""Seconds after which a thread that waits for a hint looks whether it is to end."""

_BUILT_AGAIN = 60.0


def is_due(state_says: str, every: int, now: float) -> bool:
    """Whether a remote last synced at that time is due. A clock that was set back makes it due."""
    if every <= 0:
        return False
    try:
        last = float(state_says)
    except ValueError:
        return True
    return not 0 <= now - last < every


@dataclass
class _Running:
    settings: RemoteSettings
    synchroniser: Synchroniser | None = None
    """None until it could be built."""
    due: float = float("-inf")

    @property
    def gives_hints(self) -> bool:
        return self.synchroniser is not None and self.synchroniser.gives_hints


class BackgroundSync:
    """A thread that keeps a library in step with its remotes for as long as a process runs."""

    def __init__(
        self,
        remotes: Sequence[RemoteSettings],
        build: Callable[[RemoteSettings], Synchroniser],
        on_change: Callable[[SyncReport], None] = lambda _: None,
    ) -> None:
        self._remotes = [r for r in remotes if r.every > 0]
        self._build = build
        self._on_change = on_change
        self._stop = threading.Event()
        self._first = threading.Event()
        self._thread = threading.Thread(target=self._run, name="skill-learner-sync", daemon=True)

    def start(self, wait_seconds: float = 0.0) -> None:
        """Begin; wait so long for the first round to end."""
        self._thread.start()
        self._first.wait(wait_seconds)

    def close(self, timeout: float = 5.0) -> None:
        self._stop.set()
        self._thread.join(timeout)

    def _run(self) -> None:
        running = [_Running(settings) for settings in self._remotes]
        pause = max(_SHORTEST, min((r.settings.every for r in running), default=3600) / 4)
        while True:
            for one in running:
                if time.monotonic() >= one.due and not self._stop.is_set():
                    self._sync(one)
            self._first.set()
            is_whole = all(one.synchroniser is not None for one in running)
            if self._rest(running, pause if is_whole else min(pause, _BUILT_AGAIN)):
                break
        for one in running:
            if one.synchroniser is not None:
                with contextlib.suppress(Exception):
                    one.synchroniser.close()

    def _rest(self, running: Sequence[_Running], seconds: float) -> bool:
        """Wait so long, or until a remote gives a hint that there is news; whether to end. Hints
        are never acted on in a row: many writers must not make as many readers."""
        end = time.monotonic() + seconds
        if self._stop.wait(min(seconds, _SHORTEST)):
            return True
        hinting = [one for one in running if one.gives_hints]
        while hinting and time.monotonic() < end and not self._stop.is_set():
            for one in tuple(hinting):
                try:
                    assert one.synchroniser is not None
                    if one.synchroniser.wait_for_hint(_SLICE / len(hinting)):
                        one.due = float("-inf")
                        return self._stop.wait(random.uniform(0, 1))
                except SkillLearnerError:
                    hinting.remove(one)
        return self._stop.wait(max(0.0, end - time.monotonic()))

    def _sync(self, one: _Running) -> None:
        """What cannot even be built (a damaged state, a full disk) is tried again before long."""
        every = one.settings.every
        one.due = time.monotonic() + min(every, _BUILT_AGAIN)
        try:
            if one.synchroniser is None:
                one.synchroniser = self._build(one.settings)
            one.due = time.monotonic() + every
            report = one.synchroniser.sync()
            if report.changed_home:
                self._on_change(report)
            if report.error:
                log.warning("sync with %s: %s", one.settings.name, report.error)
        except Exception as error:
            log.warning("sync with %s: %s", one.settings.name, error)
