"""Whether a process still runs."""

from __future__ import annotations

import os

_ON_WINDOWS = os.name == "nt"


def process_runs(pid: int) -> bool:
    """Whether a process with this id exists, whoever owns it. (It may be another one by now.)"""
    if _ON_WINDOWS and pid > 0:
        from skill_learner import windows

        return windows.process_runs(pid)
    from skill_learner.hook_runtime import clients

    return clients.process_runs(pid)
