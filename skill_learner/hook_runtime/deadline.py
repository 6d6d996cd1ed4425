"""How long a hook call may take by the clock, waiting included: whoever waits asks what is left.

It counts from our first line. What comes before, the start of the shell and of Python, and whether
the scheduler gives a processor at all, is not in our hands.
"""

import time

from skill_learner.hook_runtime.system import IS_WINDOWS

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal  # `signal` itself imports enum: far too slow here
else:
    import _signal

READING = 1.5
"""Seconds after which a hook goes on with the input that has come."""
WHOLE = 1.8
_TRY_AGAIN = 0.1
_SMALLEST = 0.001  # a timer of nothing would be no timer
_began = float("inf")


class OutOfTime(BaseException):
    """No Exception: nothing that passes over faults may pass over this one."""


def begin() -> None:
    global _began  # noqa: PLW0603 - one process is one call
    _began = time.monotonic()


def left(most: float, whole: float = WHOLE) -> float:
    """`most` seconds, or what is left of the `whole` if that is less; never nothing."""
    return max(_SMALLEST, min(most, _began + whole - time.monotonic()))


def give_up_in_time() -> None:
    """From here on OutOfTime is raised where the call's time is over (Windows has no alarm)."""
    if not IS_WINDOWS:
        _signal.signal(_signal.SIGALRM, _give_up)
        _signal.setitimer(_signal.ITIMER_REAL, left(WHOLE), _TRY_AGAIN)


def stay() -> None:
    """What is done may be told: no OutOfTime any more."""
    if not IS_WINDOWS:
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def _give_up(_signum: int, _frame: object) -> None:
    raise OutOfTime(f"not done within {WHOLE} seconds")
