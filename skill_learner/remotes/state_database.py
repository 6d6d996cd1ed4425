"""The SQLite file behind what is remembered of remotes: how it is opened, read and written.

Readers need no lock and write nothing: they also serve where a disk is full or read-only.
"""

from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Iterator
from pathlib import Path

from skill_learner.errors import RemoteError
from skill_learner.files import ensure_private_dir
from skill_learner.remotes.damaged_state import is_damage, set_aside

_PAIR = """name TEXT NOT NULL, local TEXT NOT NULL, token TEXT NOT NULL,
    base BLOB NOT NULL, local_hash TEXT NOT NULL, local_state TEXT NOT NULL,
    local_scope TEXT NOT NULL, born TEXT NOT NULL, parked TEXT NOT NULL, parked_home TEXT NOT NULL,
    parked_as TEXT NOT NULL, parked_base BLOB NOT NULL"""
_SCHEMA = f"""
PRAGMA page_size = 16384; -- of a new file: a packed skill fits, so no row needs a page of its own
PRAGMA journal_mode = WAL;
CREATE TABLE IF NOT EXISTS pairs (
    remote TEXT NOT NULL, {_PAIR},
    PRIMARY KEY (remote, name)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS pairs_local ON pairs (remote, local);
CREATE TABLE IF NOT EXISTS sent (
    remote TEXT NOT NULL, digest TEXT NOT NULL, {_PAIR},
    PRIMARY KEY (remote, name, digest)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS seen (
    remote TEXT NOT NULL, local TEXT NOT NULL, stamp TEXT NOT NULL, held TEXT NOT NULL,
    PRIMARY KEY (remote, local)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lineage (
    local TEXT NOT NULL, text TEXT NOT NULL, PRIMARY KEY (local, text)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS counters (
    remote TEXT NOT NULL, machine TEXT NOT NULL, skill TEXT NOT NULL, kind TEXT NOT NULL,
    value INTEGER NOT NULL, PRIMARY KEY (remote, machine, skill, kind)) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS notes (
    remote TEXT NOT NULL, key TEXT NOT NULL, value TEXT NOT NULL,
    PRIMARY KEY (remote, key)) WITHOUT ROWID;
PRAGMA user_version = 2;
"""
_VERSION = 2
_NEXT_STEPS = {
    "full": "Make room on that disk; what was remembered is as it was.",
    "readonly": "See whether you may write that file and its folder; the disk may be read-only.",
    "unable to open": "See whether that folder is there, and whether you may write it.",
    "disk I/O": "See whether that disk has room, may be written, and is well.",
    "locked": "Another skill-learner is at work with it; try again in a moment.",
}
"""By what SQLite says of faults that are not the file's own."""


class StateDatabase:
    """Its errors are RemoteErrors that say what is wrong with the file, and what to do."""

    def __init__(self, file: Path) -> None:
        self.file = file
        self._connection: sqlite3.Connection | None = None

    @contextlib.contextmanager
    def transaction(self) -> Iterator[sqlite3.Connection]:
        """All of what is written within is saved when the block ends well, or none of it."""
        if self._connection is not None and self._connection.in_transaction:
            yield self._connection  # which ends with the one around it
            return
        with self._in_words():
            connection = self._open()
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection

    @contextlib.contextmanager
    def reading(self) -> Iterator[sqlite3.Connection]:
        """All that is read within is of one moment."""
        if self._connection is not None and self._connection.in_transaction:
            yield self._connection
            return
        with self._in_words():
            connection = self._open_to_read()
            try:
                with connection:
                    connection.execute("BEGIN")
                    yield connection
            finally:
                if connection is not self._connection:
                    connection.close()

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    # -- opening -------------------------------------------------------------------------------

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            ensure_private_dir(self.file.parent)
            try:
                self._connection = self._connected()
            except sqlite3.DatabaseError as error:
                if not is_damage(error):
                    raise
                set_aside(self.file)
                self._connection = self._connected()
        return self._connection

    def _connected(self) -> sqlite3.Connection:
        if not self.file.exists():
            self.file.touch(mode=0o600)
        connection = sqlite3.connect(
            self.file, timeout=30, isolation_level=None, check_same_thread=False
        )
        try:
            if _version(connection) < _VERSION:
                connection.executescript(_SCHEMA)
            connection.execute("PRAGMA synchronous = NORMAL")
        except BaseException:
            connection.close()
            raise
        return connection

    def _open_to_read(self) -> sqlite3.Connection:
        """Where SQLite cannot even make the files that it shares with other processes, the file is
        read without them."""
        try:
            return self._open()
        except (sqlite3.OperationalError, OSError) as error:
            if "locked" in str(error):
                raise
            return self._alone() if self._has_log() else self._as_it_lies()

    def _has_log(self) -> bool:
        """Whether a part of it lies in the file beside it still."""
        log = self.file.with_name(f"{self.file.name}-wal")
        return log.exists() and log.stat().st_size > 0

    def _alone(self) -> sqlite3.Connection:
        connection = sqlite3.connect(self.file, timeout=5, isolation_level=None)
        connection.execute("PRAGMA locking_mode = EXCLUSIVE")  # the index of the log is in memory
        return connection

    def _as_it_lies(self) -> sqlite3.Connection:
        """What has no tables yet remembers nothing."""
        if self.file.exists():
            address = f"{self.file.absolute().as_uri()}?immutable=1"
            connection = sqlite3.connect(address, uri=True, isolation_level=None)
            if _version(connection) >= _VERSION:
                return connection
            connection.close()
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(_SCHEMA)
        return connection

    # -- faults --------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.DatabaseError as error:
            self.close()
            told = f"{error} (the disk may be full)" if "disk I/O" in str(error) else str(error)
            raise RemoteError(f"{self.file}: {told}", self._next_step(error)) from error

    def _next_step(self, error: sqlite3.DatabaseError) -> str:
        if not is_damage(error):
            return next((step for said, step in _NEXT_STEPS.items() if said in str(error)), "")
        try:
            set_aside(self.file)
        except OSError as problem:
            return f"It is damaged, and cannot be put out of the way: {problem.strerror}."
        return "It was damaged and is set aside: the next sync compares everything again."


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
