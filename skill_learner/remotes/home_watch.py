"""Whether the home library is as a running process last saw it, for the price of a few stats."""

from __future__ import annotations

import os
import time
from collections.abc import Sequence
from pathlib import Path

FULL_LOOK_SECONDS = 60.0
"""After so long the home files themselves are looked at again. Between, what our own writers touch
tells of their changes; an edit by hand waits until then."""
_CLOCK_TICK_NS = 100_000_000
"""Two changes within one tick of the file system's clock cannot be told apart."""

Marks = tuple[int, ...]


class HomeWatch:
    """watched: paths of which one changes with every write of ours."""

    def __init__(self, watched: Sequence[Path]) -> None:
        self._watched = tuple(watched)
        self._known: tuple[Marks, float] | None = None

    def marks(self) -> Marks:
        marks = []
        for path in self._watched:
            try:
                marks.append(os.stat(path).st_mtime_ns)
            except OSError:
                marks.append(0)
        return tuple(marks)

    def remember(self, marks: Marks) -> None:
        """Home was looked at, and was at `marks` before that; known when it still is."""
        is_old = max(marks, default=0) < time.time_ns() - _CLOCK_TICK_NS
        if is_old and self.marks() == marks:
            self._known = (marks, time.monotonic())

    def forget(self) -> None:
        self._known = None

    def is_unchanged(self) -> bool:
        if self._known is None or time.monotonic() - self._known[1] > FULL_LOOK_SECONDS:
            return False
        return self.marks() == self._known[0]
