"""Ends a detached review that takes too long, together with every program it started."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Callable
from types import TracebackType

from skill_learner import child_process


class Watchdog:
    """Bounds one job: entering its block arms it, leaving disarms it.

    When the time is over: `on_expiry`, then the programs that were started, then this process with
    its process group are ended. `end_process` exists for tests.
    """

    def __init__(
        self,
        seconds: float,
        on_expiry: Callable[[], None],
        end_process: Callable[[], None] | None = None,
    ) -> None:
        self._seconds = seconds
        self._on_expiry = on_expiry
        self._end_process = end_process or end_own_group
        self._timer: threading.Timer | None = None

    def __enter__(self) -> Watchdog:
        self._timer = threading.Timer(self._seconds, self._expire)
        self._timer.daemon = True
        self._timer.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _expire(self) -> None:
        with contextlib.suppress(Exception):
            self._on_expiry()
        child_process.kill_all()
        self._end_process()


def end_own_group() -> None:
    """End this process at once; with its group when it leads one (as a detached review does)."""
    if hasattr(os, "killpg") and os.getpgrp() == os.getpid():
        os.killpg(os.getpgrp(), signal.SIGKILL)
    os.kill(os.getpid(), getattr(signal, "SIGKILL", signal.SIGTERM))
