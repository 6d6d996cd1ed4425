"""The default index: SQLite with a full-text table, derived from the library's files.

It holds little text of its own (the table is contentless), so that it stays small. A changed skill
gets a new row; the old one's words stay behind, unreachable, until enough of them have gathered
for `stamps` to report an empty index, which makes the caller fill it afresh. A file that is
damaged, or from a newer version, is thrown away and made again.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from operator import attrgetter
from pathlib import Path
from typing import TypeVar

from skill_learner.errors import IndexUnusableError
from skill_learner.files import ensure_private_dir
from skill_learner.interfaces import IndexDocument
from skill_learner.ranking import sqlite_reader
from skill_learner.ranking.plan import Plan
from skill_learner.ranking.score import Candidate
from skill_learner.ranking.sqlite_reader import match
from skill_learner.ranking.words import parse_query
from skill_learner.storage.sqlite_schema import NewerSchemaError, migrate

T = TypeVar("T")

_BUSY_MS = 5_000
_DEAD_FLOOR = 500
_WAL_BYTES = 4 << 20
_FIELDS = ("key", "stamp", "content_hash", "state", "scope", "name", "summary", "head")
_WHOLE_COLUMNS = ("name", "description", "triggers", "asks", "prose", "code", "parts", "bigrams")
_INSERT_DOCUMENT, _INSERT_WHOLE = (
    f"INSERT INTO {table}({number}, {', '.join(columns)}) VALUES (?{', ?' * len(columns)})"
    for table, number, columns in (("documents", "id", _FIELDS), ("whole", "rowid", _WHOLE_COLUMNS))
)


class SqliteIndex:
    def __init__(self, db: Path) -> None:
        self._db = db
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._seen: int | None = None

    # -- the SkillIndex protocol -----------------------------------------------------------------

    def holds(self, mark: str) -> bool:
        def read(connection: sqlite3.Connection) -> bool:
            sealed = connection.execute("SELECT digest FROM sealed").fetchone()
            return sealed is not None and bool(sealed[0] == mark)

        return self._run(read)

    def seal(self, mark: str) -> None:
        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.execute("DELETE FROM sealed")
                if _changes_of_others(connection) == self._seen:
                    connection.execute("INSERT INTO sealed VALUES (?)", (mark,))

        self._run(write)

    def stamps(self) -> dict[str, tuple[str, str]]:
        def read(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
            if _worn(connection):
                self._throw_away()
                connection = self._open()
            self._seen = _changes_of_others(connection)
            rows = connection.execute("SELECT key, stamp, content_hash FROM documents")
            return {key: (stamp, digest) for key, stamp, digest in rows}

        return self._run(read)

    def update(self, changed: Sequence[IndexDocument], removed: Sequence[str]) -> None:
        keys = [document.key for document in changed] + list(removed)

        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.executemany(
                    "DELETE FROM documents WHERE key = ?", [(key,) for key in keys]
                )
                connection.execute("DELETE FROM sealed")
                _insert(connection, changed)

        self._run(write)

    def restamp(self, stamps: Mapping[str, str]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.execute("DELETE FROM sealed")
                connection.executemany(
                    "UPDATE documents SET stamp = ? WHERE key = ?",
                    [(stamp, key) for key, stamp in stamps.items()],
                )

        self._run(write)

    def size(self) -> int:
        return self._run(sqlite_reader.size)

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        return self._run(lambda connection: sqlite_reader.frequencies(connection, words))

    def name_words(self, beginning: str) -> list[str]:
        return self._run(lambda connection: sqlite_reader.name_words(connection, beginning))

    def match(
        self, plan: Plan, states: Collection[str], scopes: Collection[str] | None, limit: int
    ) -> list[Candidate]:
        return self._run(lambda connection: match(connection, plan, states, scopes, limit))

    def holding(self, key: str, words: Sequence[str]) -> set[str]:
        def read(connection: sqlite3.Connection) -> set[str]:
            row = connection.execute("SELECT id FROM documents WHERE key = ?", (key,)).fetchone()
            return sqlite_reader.holding(connection, row[0], words) if row else set()

        return self._run(read)

    def finish(self) -> None:
        """Merge what many updates left in pieces: smaller and faster from then on. Left undone
        where another process is in the way."""

        def merge(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT INTO whole(whole) VALUES ('optimize')")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            connection.execute("VACUUM")
            connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")

        with contextlib.suppress(IndexUnusableError):
            self._run(merge)

    def clear(self) -> None:
        with self._lock:
            self._throw_away()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = self._seen = None

    # -- opening, and starting over --------------------------------------------------------------

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Do the work; on a damaged file throw it away and do it once more on an empty one."""
        with self._lock:
            try:
                return work(self._open())
            except (sqlite3.DatabaseError, NewerSchemaError) as error:
                if _is_busy(error):
                    raise IndexUnusableError(
                        f"{self._db} is busy: {error}", "Try again."
                    ) from error
            try:
                self._throw_away()
                return work(self._open())
            except (sqlite3.Error, OSError) as error:
                raise IndexUnusableError(f"{self._db}: {error}") from error

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            try:
                try:
                    self._connection = self._connect()
                except FileNotFoundError:  # another process made it anew meanwhile
                    self._connection = self._connect()
            except OSError as error:
                raise sqlite3.OperationalError(str(error)) from error
        return self._connection

    def _connect(self) -> sqlite3.Connection:
        ensure_private_dir(self._db.parent)
        self._db.touch(mode=0o600)  # SQLite's other files take after this one
        connection = sqlite3.connect(
            self._db, timeout=_BUSY_MS / 1000, isolation_level=None, check_same_thread=False
        )
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute(f"PRAGMA journal_size_limit = {_WAL_BYTES}")
            migrate(connection)
            self._db.chmod(0o600)
        except BaseException:
            connection.close()
            raise
        return connection

    def _throw_away(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm", "-journal"):
            path = self._db.with_name(self._db.name + suffix)
            path.unlink(missing_ok=True)


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
    except BaseException:
        connection.execute("ROLLBACK")
        raise
    connection.execute("COMMIT")


def _insert(connection: sqlite3.Connection, documents: Sequence[IndexDocument]) -> None:
    used = connection.execute("SELECT seq FROM sqlite_sequence WHERE name = 'documents'").fetchone()
    numbered = list(enumerate(documents, used[0] + 1 if used else 1))
    for statement, fields in ((_INSERT_DOCUMENT, _FIELDS), (_INSERT_WHOLE, _WHOLE_COLUMNS)):
        values = attrgetter(*fields)
        connection.executemany(statement, ((n, *values(document)) for n, document in numbered))
    words = {word for document in documents for word in parse_query(document.name).words}
    connection.executemany("INSERT OR IGNORE INTO name_words VALUES (?)", [(w,) for w in words])


def _changes_of_others(connection: sqlite3.Connection) -> int:
    """A number that differs after another connection has changed the file."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _worn(connection: sqlite3.Connection) -> bool:
    """Whether a quarter of the rows or more belong to documents that were since replaced."""
    live, newest = connection.execute("SELECT count(*), max(id) FROM documents").fetchone()
    dead = (newest or 0) - live
    return bool(dead > _DEAD_FLOOR + live // 4)


def _is_busy(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, sqlite3.OperationalError) and ("locked" in text or "busy" in text)
