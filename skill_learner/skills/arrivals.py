"""Ledger and bytes of skills that arrived many at once, in one SQLite file instead of a file each.

A batch is one durable transaction, made before any SKILL.md is written. What happens to such a
skill later stands in its own ledger, like any other change.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import time
import zlib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from skill_learner.errors import LibraryError
from skill_learner.files import ensure_private_dir
from skill_learner.sqlite_rows import insert_rows

_SCHEMA = """
PRAGMA page_size = 16384; -- of a new file: most skills fit, so no row needs a page of its own
CREATE TABLE IF NOT EXISTS entries (name TEXT NOT NULL, noted INTEGER NOT NULL, line BLOB NOT NULL);
CREATE INDEX IF NOT EXISTS entries_name ON entries (name);
CREATE TABLE IF NOT EXISTS versions (hash TEXT PRIMARY KEY, packed BLOB NOT NULL) WITHOUT ROWID;
PRAGMA user_version = 1;
"""
_FileId = tuple[int, int, int]


class ArrivedEntry(NamedTuple):
    """A ledger line of a skill, and the bytes, `packed`, with their hash, that it tells of."""

    name: str
    line: bytes
    digest: str
    packed: bytes


_OURS = b"---\n"
"""What every SKILL.md of ours begins with, and nothing that zlib pressed does."""
_WORTH_PRESSING = 2048
"""Bytes below which pressing takes longer than writing."""


def packed(data: bytes) -> bytes:
    is_small = len(data) < _WORTH_PRESSING and data.startswith(_OURS)
    return data if is_small else zlib.compress(data, 1)


def _unpacked(data: bytes) -> bytes:
    return data if data.startswith(_OURS) else zlib.decompress(data)


class Arrivals:
    """Reading makes no file; one that is damaged holds nothing."""

    def __init__(self, db: Path) -> None:
        self._db = str(db)
        self._open: tuple[_FileId, sqlite3.Connection] | None = None

    def add(self, entries: Iterable[ArrivedEntry]) -> None:
        """Note these durably, all or none of them. The caller holds the library's lock."""
        rows = list(entries)
        try:
            self._insert(rows)
        except sqlite3.OperationalError as error:  # busy, or a full disk: the file itself is sound
            self.close()
            raise LibraryError(f"{self._db}: {error}") from error
        except sqlite3.DatabaseError:
            self.close()
            os.replace(self._db, f"{self._db}.damaged-{time.time_ns()}")
            with contextlib.suppress(FileNotFoundError):
                os.unlink(f"{self._db}-journal")  # of the file that is gone
            try:
                self._insert(rows)
            except sqlite3.Error as error:
                self.close()
                raise LibraryError(f"{self._db}: {error}") from error

    def _insert(self, rows: Sequence[ArrivedEntry]) -> None:
        noted = time.time_ns()
        with self._writing() as connection:
            # a nanosecond apart, so that the last of them is what changed last
            told = [(e.name, noted + n, e.line) for n, e in enumerate(rows)]
            insert_rows(connection, "INSERT INTO entries", told)
            held = sorted((e.digest, e.packed) for e in rows)  # twice as fast as in another order
            insert_rows(connection, "INSERT OR IGNORE INTO versions", held)

    def lines(self, name: str) -> list[bytes]:
        """A skill's ledger lines, oldest first."""
        rows = self._read("SELECT line FROM entries WHERE name = ? ORDER BY rowid", name)
        return [row[0] for row in rows]

    def bytes_of(self, digest: str) -> bytes | None:
        for row in self._read("SELECT packed FROM versions WHERE hash = ?", digest):
            with contextlib.suppress(zlib.error):
                return _unpacked(row[0])
        return None

    def names(self) -> dict[str, int]:
        """Names of all skills in it, with the time (ns) of their last entry."""
        return dict(self._read("SELECT name, max(noted) FROM entries GROUP BY name"))

    def fault(self) -> str:
        """Why what is in it cannot be told; "" when it is sound or not there."""
        try:
            connection = self._connection()
            if connection is None:
                return ""
            said = str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
            return "" if said == "ok" else said
        except sqlite3.Error as error:
            self.close()
            return str(error)

    def close(self) -> None:
        if self._open is not None:
            self._open[1].close()
            self._open = None

    def _read(self, statement: str, *values: str) -> list[Any]:
        try:
            connection = self._connection()
            return [] if connection is None else connection.execute(statement, values).fetchall()
        except sqlite3.Error:
            self.close()
            return []

    @contextlib.contextmanager
    def _writing(self) -> Iterator[sqlite3.Connection]:
        connection = self._made()
        connection.execute("BEGIN IMMEDIATE")
        try:
            yield connection
            connection.execute("COMMIT")
        except BaseException:
            with contextlib.suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
            raise

    def _made(self) -> sqlite3.Connection:
        ensure_private_dir(Path(self._db).parent)
        os.close(os.open(self._db, os.O_RDWR | os.O_CREAT, 0o600))
        connection = self._connection()
        assert connection is not None
        connection.execute("PRAGMA synchronous = FULL")
        if connection.execute("PRAGMA user_version").fetchone()[0] < 1:
            connection.executescript(_SCHEMA)
        return connection

    def _connection(self) -> sqlite3.Connection | None:
        """The file as it stands there now, opened once for this process; None without one."""
        try:
            status = os.stat(self._db)
        except OSError:
            self.close()
            return None
        found = (os.getpid(), status.st_dev, status.st_ino)
        if self._open is None or self._open[0] != found:
            self.close()
            connection = sqlite3.connect(
                self._db, timeout=30, isolation_level=None, check_same_thread=False
            )
            self._open = found, connection
        return self._open[1]
