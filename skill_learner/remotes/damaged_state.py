"""A state of syncs that cannot be read any more: put out of the way, and told of."""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
from pathlib import Path


def damaged_since(db: Path, moment: float) -> bool:
    """Whether a damaged state was set aside after that moment (unix seconds)."""
    marks = [path.name.rpartition("-")[2] for path in db.parent.glob(f"{db.name}.damaged-*")]
    return any(mark.isdecimal() and int(mark) > moment * 1e9 for mark in marks)


def set_aside(db: Path) -> None:
    """Put a damaged file out of the way, with what belongs to it."""
    mark = time.time_ns()
    for end in ("-wal", "-shm", ""):
        with contextlib.suppress(FileNotFoundError):
            os.replace(f"{db}{end}", f"{db}{end}.damaged-{mark}")


def is_damage(error: sqlite3.DatabaseError) -> bool:
    """Whether the file itself is unusable; it is not when it is busy or the disk is full."""
    return type(error) is sqlite3.DatabaseError
