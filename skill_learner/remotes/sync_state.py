"""What this machine remembers of its remotes, in one SQLite file: what was the same on both sides.

Losing it loses nothing: the next sync compares everything again, and finds equal what is equal.
"""

from __future__ import annotations

import contextlib
import json
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from skill_learner.errors import RemoteError
from skill_learner.files import ensure_private_dir
from skill_learner.remotes.protocol import CounterKey

_SCHEMA = """
CREATE TABLE IF NOT EXISTS pairs (
    remote TEXT NOT NULL, name TEXT NOT NULL, local TEXT NOT NULL, token TEXT NOT NULL,
    base BLOB NOT NULL, local_hash TEXT NOT NULL, local_state TEXT NOT NULL,
    local_scope TEXT NOT NULL, born TEXT NOT NULL, parked TEXT NOT NULL, parked_home TEXT NOT NULL,
    parked_as TEXT NOT NULL, parked_base BLOB NOT NULL,
    PRIMARY KEY (remote, name)) WITHOUT ROWID;
CREATE UNIQUE INDEX IF NOT EXISTS pairs_local ON pairs (remote, local);
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
PRAGMA user_version = 1;
"""


@dataclass(frozen=True)
class Pair:
    """A skill that both sides have.

    name, local: what it is called there and here. token: the remote's version that `base` (a
    packed skill) is the text of. local_hash, local_state, local_scope: the home file as it was when
    both sides were last the same. born: where it came from, "home" or "remote". parked: the
    remote's version that waits for a person, with home's digest then, the candidate that shows it,
    and its packed text.
    """

    name: str
    local: str
    token: str
    base: bytes
    local_hash: str
    local_state: str
    local_scope: str
    born: str
    parked: str = ""
    parked_home: str = ""
    parked_as: str = ""
    parked_base: bytes = b""


_COLUMNS = ", ".join(field.name for field in fields(Pair))


class SyncState:
    """The memory of one remote (and, shared by all, of this machine's label and lineages)."""

    def __init__(self, db: Path, remote: str) -> None:
        self._db = db
        self._remote = remote
        self._connection: sqlite3.Connection | None = None

    @property
    def machine(self) -> str:
        """A label for this machine that tells nothing about it."""
        made = f"m-{secrets.token_hex(4)}"
        with self._transaction() as connection:
            connection.execute("INSERT OR IGNORE INTO notes VALUES ('', 'machine', ?)", (made,))
            row = connection.execute(
                "SELECT value FROM notes WHERE remote = '' AND key = 'machine'"
            ).fetchone()
        return str(row[0])

    def pairs(self) -> dict[str, Pair]:
        """By the remote's name."""
        with self._transaction() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM pairs WHERE remote = ?", (self._remote,)
            ).fetchall()
        return {row[0]: Pair(*row) for row in rows}

    def save_pairs(self, pairs: Iterable[Pair]) -> None:
        marks = ", ".join("?" * (len(fields(Pair)) + 1))
        with self._transaction() as connection:
            connection.executemany(
                f"INSERT OR REPLACE INTO pairs (remote, {_COLUMNS}) VALUES ({marks})",
                [(self._remote, *vars(pair).values()) for pair in pairs],
            )

    def seen(self) -> dict[str, tuple[str, str]]:
        """For home skills without need of a push, by their key: stamp, and why it is held back."""
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT local, stamp, held FROM seen WHERE remote = ?", (self._remote,)
            ).fetchall()
        return {local: (stamp, held) for local, stamp, held in rows}

    def save_seen(self, seen: Mapping[str, tuple[str, str]], gone: Iterable[str] = ()) -> None:
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO seen VALUES (?, ?, ?, ?)",
                [(self._remote, local, *told) for local, told in seen.items()],
            )
            connection.executemany(
                "DELETE FROM seen WHERE remote = ? AND local = ?",
                [(self._remote, local) for local in gone],
            )

    def lineage(self, local: str) -> tuple[str, ...]:
        """Hashes of the texts that a home skill is known to have had."""
        with self._transaction() as connection:
            rows = connection.execute("SELECT text FROM lineage WHERE local = ?", (local,))
            return tuple(row[0] for row in rows)

    def save_lineage(self, texts: Mapping[str, Iterable[str]]) -> None:
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR IGNORE INTO lineage VALUES (?, ?)",
                [(local, text) for local, many in texts.items() for text in many],
            )

    def counters(self) -> dict[CounterKey, int]:
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT machine, skill, kind, value FROM counters WHERE remote = ?",
                (self._remote,),
            ).fetchall()
        return {(machine, skill, kind): value for machine, skill, kind, value in rows}

    def save_counters(self, counters: Mapping[CounterKey, int]) -> None:
        """Take in counters; one that is known already never goes down."""
        with self._transaction() as connection:
            connection.executemany(
                "INSERT INTO counters VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET value = max(value, excluded.value)",
                [(self._remote, *key, value) for key, value in counters.items()],
            )

    def note(self, key: str) -> str:
        with self._transaction() as connection:
            row = connection.execute(
                "SELECT value FROM notes WHERE remote = ? AND key = ?", (self._remote, key)
            ).fetchone()
        return str(row[0]) if row else ""

    def save_notes(self, notes: Mapping[str, object]) -> None:
        with self._transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)",
                [
                    (self._remote, key, value if isinstance(value, str) else json.dumps(value))
                    for key, value in notes.items()
                ],
            )

    def forget(self) -> None:
        """Drop all that is known of this remote."""
        with self._transaction() as connection:
            for table in ("pairs", "seen", "counters", "notes"):
                connection.execute(f"DELETE FROM {table} WHERE remote = ?", (self._remote,))

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    @contextlib.contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._open()
            with connection:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
        except sqlite3.DatabaseError as error:
            self.close()
            raise RemoteError(
                f"{self._db}: {error}",
                "If it stays so, move the file away: the next sync compares everything again.",
            ) from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            ensure_private_dir(self._db.parent)
            self._db.touch(mode=0o600)
            connection = sqlite3.connect(
                self._db, timeout=30, isolation_level=None, check_same_thread=False
            )
            if connection.execute("PRAGMA user_version").fetchone()[0] < 1:
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(_SCHEMA)
            connection.execute("PRAGMA synchronous = NORMAL")
            self._connection = connection
        return self._connection
