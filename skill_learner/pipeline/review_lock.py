"""The lock under which reviews run: held by one process, and by nothing that a kill leaves behind.

A kill may come while its process starts a program (git, a client). What is to become that program
holds the lock as well until its exec: for milliseconds, or longer on a busy machine. A review that
started just then would go, in the belief that somebody is at work.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from pathlib import Path

from skill_learner.files import locked
from skill_learner.processes import process_runs

_PATIENCE = 10.0


class AnotherReviewRunsError(Exception):
    """A living process holds the lock."""


@contextlib.contextmanager
def review_lock(path: Path, *, wait: bool) -> Iterator[None]:
    """Hold the lock for the block. wait: until it is free; else AnotherReviewRunsError is raised,
    at once where the holder lives."""
    deadline = time.monotonic() + _PATIENCE
    with contextlib.ExitStack() as stack:
        while True:
            try:
                stack.enter_context(locked(path, timeout=None if wait else 0))
                break
            except TimeoutError:
                if _holder_lives(path) or time.monotonic() > deadline:
                    raise AnotherReviewRunsError from None
                time.sleep(0.05)
        with contextlib.suppress(OSError):  # a full disk
            path.write_text(str(os.getpid()))
        yield


def _holder_lives(path: Path) -> bool:
    try:
        return process_runs(int(path.read_text()))
    except (OSError, ValueError):
        return False
