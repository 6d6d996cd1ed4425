"""How far a machine has read a library, and by what it knows that library again.

    <transaction> <place> <version> <time> <name>

place: the table of one database of one server. What follows is a mark: a version of a skill that
this machine saw there. Versions are never taken away, so where it is missing the database was set
back to an older state, or made anew. Cursors of a number alone were written before there were
marks.
"""

from __future__ import annotations

import re
from typing import NamedTuple

FIRST = 3
"""The number of the first transaction that PostgreSQL ever gives."""
_MARK = re.compile(r"([0-9]{1,18}) ([0-9]{1,18}) (.+)", re.DOTALL)


class Mark(NamedTuple):
    """A version of a skill. at: when it was written, in microseconds, by the server's clock."""

    name: str
    version: int
    at: int


class Cursor(NamedTuple):
    """since: the oldest transaction that may not have been read; 0 when nothing was."""

    since: int = 0
    place: str = ""
    mark: Mark | None = None

    @classmethod
    def read(cls, text: str) -> Cursor:
        since, _, rest = text.partition(" ")
        if not (since.isascii() and since.isdecimal()):
            return cls()
        place, _, told = rest.partition(" ")
        mark = _MARK.fullmatch(told)
        if mark is None:
            return cls(int(since), place)
        return cls(int(since), place, Mark(mark[3], int(mark[1]), int(mark[2])))

    def __str__(self) -> str:
        if not self.place:
            return str(self.since)
        mark = self.mark
        told = f" {mark.version} {mark.at} {mark.name}" if mark else ""
        return f"{self.since} {self.place}{told}"


class Standing(NamedTuple):
    """How a database stands when it is read. oldest: the oldest transaction that is open; newest:
    the one to come. has_mark: whether the mark that was asked for is there."""

    oldest: int
    newest: int
    place: str
    has_mark: bool

    def is_set_back(self, cursor: Cursor) -> bool:
        """Whether something is lost here that was there when the cursor was written."""
        if cursor.mark is not None:
            return not self.has_mark
        return bool(cursor.place) and cursor.place != self.place

    def counts_anew(self, cursor: Cursor) -> bool:
        """Whether its transactions have other numbers than those of which the cursor tells."""
        is_elsewhere = bool(cursor.place) and cursor.place != self.place
        return is_elsewhere or self.oldest < cursor.since
