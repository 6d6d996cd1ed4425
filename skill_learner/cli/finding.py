"""What a check of `doctor` found."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

OK, NOTE, FAULT = "ok", "note", "fault"


@dataclass(frozen=True)
class Finding:
    """result: ok, note (nothing to do, or the user's choice) or fault. todo: the next step, as a
    command where there is one. fix: does that step where it is safe; returns what it did."""

    check: str
    result: str
    what: str
    todo: str = ""
    fix: Callable[[], str] | None = field(default=None, repr=False, compare=False)

    def data(self) -> dict[str, Any]:
        """As plain data."""
        return {
            "check": self.check,
            "result": self.result,
            "what": self.what,
            "todo": self.todo,
            "fixable": self.fix is not None,
        }
