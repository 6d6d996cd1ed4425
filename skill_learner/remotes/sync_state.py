"""What this machine remembers of its remotes, in one SQLite file: what was the same on both sides.

Losing it loses nothing: the next sync compares everything again, and finds equal what is equal.
"""

from __future__ import annotations

import contextlib
import json
import re
import secrets
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from skill_learner.characters import SURROGATE
from skill_learner.files import atomic_write
from skill_learner.remotes.protocol import CounterKey, Pulled
from skill_learner.remotes.state_database import StateDatabase
from skill_learner.sqlite_rows import insert_rows

_LABEL = re.compile(r"m-[0-9a-f]{8}")


class Pair(NamedTuple):
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


_COLUMNS = ", ".join(Pair._fields)


class SyncState:
    """The memory of one remote (and, shared by all, of this machine's label and lineages)."""

    def __init__(self, db: Path, remote: str) -> None:
        self._db = StateDatabase(db)
        self._remote = remote

    @property
    def machine(self) -> str:
        """A label for this machine that tells nothing about it. It is kept in a file outside this
        folder, too, beside the uses that it counts: under another one they would count twice."""
        beside, made = self._beside, self._label_beside()
        row = self._kept_label()
        if row is None:
            with self._db.transaction() as connection:
                connection.execute("INSERT OR IGNORE INTO notes VALUES ('', 'machine', ?)", (made,))
                row = self._kept_label()
        label = str(row[0]) if row else made
        if label != made or not beside.exists():
            with contextlib.suppress(OSError):
                atomic_write(beside, f"{label}\n".encode(), 0o600)
        return label

    @property
    def machine_as_read(self) -> str:
        """The same for who may write nothing: where none is kept, one for the moment."""
        row = self._kept_label()
        return str(row[0]) if row else self._label_beside()

    @property
    def _beside(self) -> Path:
        return self._db.file.parent.with_name("machine")

    def _label_beside(self) -> str:
        """What the file says, else a new one."""
        with contextlib.suppress(OSError, ValueError):
            kept = self._beside.read_text(encoding="ascii").strip()
            if _LABEL.fullmatch(kept):
                return kept
        return f"m-{secrets.token_hex(4)}"

    def _kept_label(self) -> tuple[str] | None:
        asked = "SELECT value FROM notes WHERE remote = '' AND key = 'machine'"
        with self._db.reading() as connection:
            row: tuple[str] | None = connection.execute(asked).fetchone()
        return row

    def at_once(self) -> contextlib.AbstractContextManager[object]:
        """What is saved within is saved when the block ends well, all or none of it."""
        return self._db.transaction()

    def pairs(self) -> dict[str, Pair]:
        """By the remote's name."""
        with self._db.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM pairs WHERE remote = ?", (self._remote,)
            ).fetchall()
        return {row[0]: Pair(*row) for row in rows}

    def save_pairs(self, pairs: Iterable[Pair]) -> None:
        with self._db.transaction() as connection:
            into = f"INSERT OR REPLACE INTO pairs (remote, {_COLUMNS})"
            insert_rows(connection, into, [(self._remote, *pair) for pair in pairs])

    def sent(self) -> dict[tuple[str, str], Pair]:
        """What a push carried of which nobody knows yet whether it was accepted: by the remote's
        name and the digest, the pair as it is once it was."""
        with self._db.reading() as connection:
            rows = connection.execute(
                f"SELECT digest, {_COLUMNS} FROM sent WHERE remote = ?", (self._remote,)
            ).fetchall()
        return {(row[1], row[0]): Pair(*row[1:]) for row in rows}

    def save_sent(self, pairs: Mapping[tuple[str, str], Pair]) -> None:
        with self._db.transaction() as connection:
            into = f"INSERT OR REPLACE INTO sent (remote, digest, {_COLUMNS})"
            rows = [(self._remote, key[1], *pair) for key, pair in pairs.items()]
            insert_rows(connection, into, rows)

    def forget_sent(self, names: Iterable[str]) -> None:
        """Once a version of these is accepted, no earlier push of them can land any more."""
        with self._db.transaction() as connection:
            connection.executemany(
                "DELETE FROM sent WHERE remote = ? AND name = ?",
                [(self._remote, name) for name in names],
            )

    def seen(self) -> dict[str, tuple[str, str]]:
        """For home skills without need of a push, by their key: stamp, and why it is held back."""
        with self._db.reading() as connection:
            rows = connection.execute(
                "SELECT local, stamp, held FROM seen WHERE remote = ?", (self._remote,)
            ).fetchall()
        return {local: (stamp, held) for local, stamp, held in rows}

    def save_seen(self, seen: Mapping[str, tuple[str, str]], gone: Iterable[str] = ()) -> None:
        """What bears a name that is no UTF-8, or has a file with one, is looked at each time."""
        with self._db.transaction() as connection:
            rows = [
                (self._remote, local, *told)
                for local, told in seen.items()
                if SURROGATE.search(local + told[0]) is None
            ]
            insert_rows(connection, "INSERT OR REPLACE INTO seen", rows)
            connection.executemany(
                "DELETE FROM seen WHERE remote = ? AND local = ?",
                [(self._remote, local) for local in gone],
            )

    def parked(self) -> list[Pair]:
        """Pairs of which two versions wait for the user."""
        with self._db.reading() as connection:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM pairs WHERE remote = ? AND parked != ''", (self._remote,)
            ).fetchall()
        return [Pair(*row) for row in rows]

    def arrived(self, known: Callable[[str], bool]) -> list[tuple[str, Pair]]:
        """Remote and pair of every skill that first came from one, whichever it is, and whose local
        name is not known."""
        with self._db.reading() as connection:
            names = connection.execute(
                "SELECT remote, name, local FROM pairs WHERE born = 'remote'"
            ).fetchall()
            return [
                (remote, Pair(*row))
                for remote, name, local in names
                if not known(local)
                for row in connection.execute(
                    f"SELECT {_COLUMNS} FROM pairs WHERE remote = ? AND name = ?", (remote, name)
                )
            ]

    def lineage(self, local: str) -> tuple[str, ...]:
        """Hashes of the texts that a home skill is known to have had."""
        with self._db.reading() as connection:
            rows = connection.execute("SELECT text FROM lineage WHERE local = ?", (local,))
            return tuple(row[0] for row in rows)

    def save_lineage(self, texts: Mapping[str, Iterable[str]]) -> None:
        with self._db.transaction() as connection:
            rows = [(local, text) for local, many in texts.items() for text in many]
            insert_rows(connection, "INSERT OR IGNORE INTO lineage", rows)

    def counters(self) -> dict[CounterKey, int]:
        with self._db.reading() as connection:
            rows = connection.execute(
                "SELECT machine, skill, kind, value FROM counters WHERE remote = ?",
                (self._remote,),
            ).fetchall()
        return {(machine, skill, kind): value for machine, skill, kind, value in rows}

    def take_counters(self, pulled: Pulled, machine: str, *, whole: bool) -> None:
        """Take in what a remote has. What it tells of this machine's own is what it has of them,
        and where all was told (`whole`) it has no others: what it lost, is sent again."""
        own = [key for key in pulled.counters if key[0] == machine]
        with self._db.transaction() as connection:
            if whole or pulled.set_back:
                own = [key for key in self.counters() if key[0] == machine]
            connection.executemany(
                "DELETE FROM counters WHERE remote = ? AND machine = ? AND skill = ? AND kind = ?",
                [(self._remote, *key) for key in own],
            )
            self.save_counters(pulled.counters)

    def save_counters(self, counters: Mapping[CounterKey, int]) -> None:
        """Take in counters; one that is known already never goes down."""
        with self._db.transaction() as connection:
            connection.executemany(
                "INSERT INTO counters VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE"
                " SET value = max(value, excluded.value)",
                [(self._remote, *key, value) for key, value in counters.items()],
            )

    def note(self, key: str) -> str:
        with self._db.reading() as connection:
            row = connection.execute(
                "SELECT value FROM notes WHERE remote = ? AND key = ?", (self._remote, key)
            ).fetchone()
        return str(row[0]) if row else ""

    def save_notes(self, notes: Mapping[str, object]) -> None:
        with self._db.transaction() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO notes VALUES (?, ?, ?)",
                [
                    (self._remote, key, value if isinstance(value, str) else json.dumps(value))
                    for key, value in notes.items()
                ],
            )

    def forget(self) -> None:
        """Drop all that is known of this remote."""
        with self._db.transaction() as connection:
            for table in ("pairs", "sent", "seen", "counters", "notes"):
                connection.execute(f"DELETE FROM {table} WHERE remote = ?", (self._remote,))

    def of_a_stranger(self) -> SyncState:
        """The memory of a remote of which nothing is known; nothing is to be saved in it."""
        return SyncState(self._db.file, "")

    def close(self) -> None:
        self._db.close()
