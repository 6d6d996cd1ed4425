"""Starts the review on Windows, where there is no fork: apart from console, group and job."""

import sys

from skill_learner.events import HookCall

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

_NEW_PROCESS_GROUP = 0x00000200  # Ctrl-C in the editor's terminal is not for us
_NO_WINDOW = 0x08000000
"""A console of its own that nobody sees. A DETACHED_PROCESS has none, and every git and every model
client that the review starts would open a window."""
_BREAKAWAY_FROM_JOB = 0x01000000  # an editor that ends its job does not end the review


def start_review(call: HookCall, start: "Callable[..., Any] | None" = None) -> None:
    """OSError when it cannot start. start: in place of subprocess.Popen."""
    import subprocess

    start = start or subprocess.Popen
    environ = {_text(key): _text(value) for key, value in call.environ.items()}
    environ["SKILL_LEARNER_REVIEW"] = "1"
    environ["SKILL_LEARNER_STATE_DIR"] = _text(call.state)
    command = [sys.executable, "-B", "-m", "skill_learner", "review", "--detached"]
    for job in (_BREAKAWAY_FROM_JOB, 0):  # not every job lets its processes go
        try:
            start(
                command,
                cwd=_text(call.state),
                env=environ,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=subprocess.DEVNULL,
                close_fds=True,
                creationflags=_NEW_PROCESS_GROUP | _NO_WINDOW | job,
            )
            return
        except OSError:
            if not job:
                raise


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogatepass")
