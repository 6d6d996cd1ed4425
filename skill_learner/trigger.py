"""When a running conversation is due for a review."""

from __future__ import annotations

import threading
from collections import deque


class ReviewTrigger:
    """Counts tool calls and turns that no completed review has seen.

    Asking for a review clears nothing; its completion does. One that failed or was never run
    leaves the count as it was, and is asked for again after another `interval`.
    Safe for a host's threads and the worker at once.
    """

    def __init__(self, interval: int) -> None:
        self._interval = interval
        self._total = 0
        self._reviewed = 0
        self._asked_at = 0
        self._asked: deque[tuple[int, int]] = deque(maxlen=100)
        self._lock = threading.Lock()

    @property
    def unreviewed(self) -> int:
        return self._total - self._reviewed

    def note(self, total: int) -> None:
        """Tell how many tool calls and turns there were in all."""
        self._total = max(self._total, total)

    def is_due(self) -> bool:
        return self.unreviewed >= self._interval and self._total - self._asked_at >= self._interval

    def asked(self, steps: int) -> None:
        """A review of the first `steps` steps is on its way."""
        with self._lock:
            self._asked_at = self._total
            self._asked.append((steps, self._total))

    def completed(self, steps: int) -> None:
        """A review that saw `steps` steps is done: what had been counted by then is clear."""
        with self._lock:
            covered = [total for asked, total in self._asked if asked <= steps]
            self._reviewed = max([self._reviewed, *covered])
