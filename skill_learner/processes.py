"""Whether a process still runs."""

from __future__ import annotations


def process_runs(pid: int) -> bool:
    """Whether a process with this id exists, whoever owns it. (It may be another one by now.)"""
    from skill_learner.hook_runtime import clients

    return clients.process_runs(pid)
