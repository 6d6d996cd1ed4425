"""Keeps Python from looking through thousands of new skills for garbage, again and again.

They make no cycles, and all are needed until they are written. A search that the host program's
other threads would have had in these seconds comes after them.
"""

from __future__ import annotations

import gc


class GarbagePause:
    def __init__(self) -> None:
        self._paused = False

    def begin(self) -> None:
        if gc.isenabled():
            gc.disable()
            self._paused = True

    def end(self) -> None:
        """Leaves it off where it was off before."""
        if self._paused:
            gc.enable()
            self._paused = False
