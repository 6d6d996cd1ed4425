"""Faults of ours that must not become a host's: logged, counted, and shown on request."""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from functools import wraps

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any, Protocol, TypeVar

    Method = TypeVar("Method", bound=Callable[..., Any])

    class HasFaults(Protocol):
        faults: FaultLog


class FaultLog:
    """How many faults there were, and the last one in words."""

    def __init__(self) -> None:
        self.count = 0
        self.last = ""
        self._lock = threading.Lock()

    def note(self, why: str) -> None:
        with self._lock:
            self.count += 1
            self.last = why
        if sys.is_finalizing():  # a stream that is thrown away then: nothing can be imported
            return
        import logging  # a host without faults need not load it

        logging.getLogger("skill_learner").warning("skill-learner: %s", why)


def never_raises(instead: Any) -> Callable[[Method], Method]:
    """Makes a method of an object with `faults` one that never raises: on a fault it returns
    `instead`, or what that gives when it is called."""

    def decorate(method: Method) -> Method:
        @wraps(method)
        def guarded(self: HasFaults, *args: Any, **kwargs: Any) -> Any:
            try:
                return method(self, *args, **kwargs)
            except Exception as error:
                self.faults.note(f"{method.__name__}: {type(error).__name__}: {error}")
                return instead() if callable(instead) else instead

        return guarded  # type: ignore[return-value]  # the same signature, by wraps

    return decorate
