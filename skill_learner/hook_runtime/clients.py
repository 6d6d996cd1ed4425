"""When a client counts as gone: for the hook that recovers its session, and for commands."""

from skill_learner.hook_runtime.state_folder import read_file
from skill_learner.hook_runtime.system import IS_WINDOWS, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

UNKNOWN_CLIENT_REST = 3600.0
"""Seconds without an event after which a client without pid is gone, a turn without end over."""
ANY_CLIENT_REST = 24 * 3600.0
"""... after which a living pid is taken for somebody else's."""
_LARGEST_PID = 2**31 - 1


def is_gone(pid: int, idle: float, runs: "Callable[[int], bool] | None" = None) -> bool:
    """Whether nobody will go on with a session. pid: its client's, 0 where unknown. idle: seconds
    since its last event. runs: tells whether a process with that id exists."""
    if not 0 < pid <= _LARGEST_PID:
        return idle >= UNKNOWN_CLIENT_REST
    return idle > ANY_CLIENT_REST or not (runs or process_runs)(pid)


def process_runs(pid: int) -> bool:
    """Whether a process with this id exists and has not ended, whoever owns it. (It may be another
    one by now.)"""
    if not 0 < pid <= _LARGEST_PID:
        return False
    if IS_WINDOWS:
        from skill_learner.windows import process_runs

        return process_runs(pid)
    try:
        system.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    # One that was killed may still wait for its parent, where that never asks (Linux tells).
    state = read_file(b"/proc/%d/stat" % pid).rpartition(b")")[2].strip()
    return state[:1] not in (b"Z", b"X")
