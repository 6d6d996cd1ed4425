"""Whether a process still runs."""

from __future__ import annotations

import os

_ON_WINDOWS = os.name == "nt"


def process_runs(pid: int) -> bool:
    """Whether a process with this id exists, whoever owns it. (It may be another one by now.)"""
    if pid <= 0:
        return False
    if _ON_WINDOWS:
        from skill_learner import windows

        return windows.process_runs(pid)
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
