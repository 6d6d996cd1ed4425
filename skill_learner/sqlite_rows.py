"""Many rows into a table, several by one statement."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Any

_MOST_VALUES = 900
"""Of one statement; SQLite before 3.32 takes no more than 999."""


def insert_rows(connection: sqlite3.Connection, into: str, rows: Sequence[Sequence[Any]]) -> None:
    """into: "INSERT INTO table" and what belongs before VALUES; all rows are of one width.

    Faster than a statement a row, and threads that write to different files hinder each other less:
    a statement lets go of the interpreter's lock and has to get it back."""
    if not rows:
        return
    marks = f"({', '.join('?' * len(rows[0]))})"
    at_once = _MOST_VALUES // len(rows[0])
    for start in range(0, len(rows), at_once):
        some = rows[start : start + at_once]
        values = ", ".join([marks] * len(some))
        connection.execute(f"{into} VALUES {values}", [*chain.from_iterable(some)])
