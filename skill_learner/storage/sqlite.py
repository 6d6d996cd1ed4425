"""The default index: SQLite with two full-text tables, derived from the library's files.

It holds no text of its own (the tables are contentless), so that it stays small. A changed skill
gets a new row; the old one's words stay behind, unreachable, until enough of them have gathered
for `stamps` to report an empty index, which makes the caller fill it afresh. A file that is
damaged, or from a newer version, is thrown away and made again.
"""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from skill_learner.errors import IndexUnusableError
from skill_learner.files import ensure_private_dir
from skill_learner.interfaces import IndexDocument, IndexMatch, IndexQuery
from skill_learner.storage.sqlite_schema import (
    HEAD_WEIGHTS,
    TOKENIZER,
    WHOLE_WEIGHTS,
    NewerSchemaError,
    migrate,
)

T = TypeVar("T")

_BUSY_MS = 5_000
_DEAD_FLOOR = 500
_WAL_BYTES = 4 << 20
_WHOLE_COLUMNS = ("name", "description", "triggers", "asks", "prose", "code", "parts", "bigrams")


class SqliteIndex:
    def __init__(self, db: Path) -> None:
        self._db = db
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None

    # -- the SkillIndex protocol -----------------------------------------------------------------

    def stamps(self) -> dict[str, tuple[str, str]]:
        def read(connection: sqlite3.Connection) -> dict[str, tuple[str, str]]:
            if _worn(connection):
                self._throw_away()
                connection = self._open()
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
                for document in changed:
                    _insert(connection, document)

        self._run(write)

    def restamp(self, stamps: Mapping[str, str]) -> None:
        def write(connection: sqlite3.Connection) -> None:
            with _transaction(connection):
                connection.executemany(
                    "UPDATE documents SET stamp = ? WHERE key = ?",
                    [(stamp, key) for key, stamp in stamps.items()],
                )

        self._run(write)

    def rarest(self, words: Sequence[str], limit: int) -> list[str]:
        def read(connection: sqlite3.Connection) -> list[str]:
            connection.execute(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked"
                f" USING fts5(word, tokenize = '{TOKENIZER}')"
            )
            connection.execute(
                "CREATE VIRTUAL TABLE IF NOT EXISTS temp.asked_terms"
                " USING fts5vocab('temp', 'asked', 'instance')"
            )
            with _transaction(connection):
                connection.execute("DELETE FROM temp.asked")
                connection.executemany(
                    "INSERT INTO temp.asked(rowid, word) VALUES (?, ?)", enumerate(words)
                )
                rows = connection.execute(
                    "SELECT a.doc, min(v.doc) FROM temp.asked_terms a"
                    " JOIN main.whole_terms v ON v.term = a.term"
                    " GROUP BY a.doc ORDER BY 2, 1 LIMIT ?",
                    (limit,),
                ).fetchall()
            return [words[number] for number, _ in rows]

        return self._run(read) if words else []

    def match(self, query: IndexQuery) -> list[IndexMatch]:
        def read(connection: sqlite3.Connection) -> list[IndexMatch]:
            head = _ranked(connection, "head", HEAD_WEIGHTS, _expression(query.words, ()), query)
            expression = _expression(query.words, query.bigrams)
            whole = _ranked(connection, "whole", WHOLE_WEIGHTS, expression, query)
            return [
                IndexMatch(key, head.get(key, 0.0), whole.get(key, 0.0))
                for key in {**head, **whole}
            ]

        return self._run(read)

    def clear(self) -> None:
        with self._lock:
            self._throw_away()

    def close(self) -> None:
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

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
                ensure_private_dir(self._db.parent)
            except OSError as error:
                raise sqlite3.OperationalError(str(error)) from error
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
            self._connection = connection
        return self._connection

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


def _insert(connection: sqlite3.Connection, document: IndexDocument) -> None:
    cursor = connection.execute(
        "INSERT INTO documents(key, stamp, content_hash, state, scope) VALUES (?, ?, ?, ?, ?)",
        (document.key, document.stamp, document.content_hash, document.state, document.scope),
    )
    connection.execute(
        "INSERT INTO head(rowid, name, description) VALUES (?, ?, ?)",
        (cursor.lastrowid, document.name, document.description),
    )
    columns = ", ".join(_WHOLE_COLUMNS)
    marks = ", ".join("?" for _ in _WHOLE_COLUMNS)
    connection.execute(
        f"INSERT INTO whole(rowid, {columns}) VALUES (?, {marks})",
        (cursor.lastrowid, *(getattr(document, column) for column in _WHOLE_COLUMNS)),
    )


def _worn(connection: sqlite3.Connection) -> bool:
    """Whether a quarter of the rows or more belong to documents that were since replaced."""
    live, newest = connection.execute("SELECT count(*), max(id) FROM documents").fetchone()
    dead = (newest or 0) - live
    return bool(dead > _DEAD_FLOOR + live // 4)


def _expression(words: Sequence[str], bigrams: Sequence[str]) -> str:
    """An FTS5 expression that any of these matches. Each is quoted, so nothing is syntax."""
    parts = [_quoted(word) for word in words]
    if bigrams:
        parts.append(f"bigrams : ({' OR '.join(map(_quoted, bigrams))})")
    return " OR ".join(parts)


def _quoted(word: str) -> str:
    return '"' + word.replace("\x00", " ").replace('"', '""') + '"'


def _ranked(
    connection: sqlite3.Connection, table: str, weights: str, expression: str, query: IndexQuery
) -> dict[str, float]:
    if not expression:
        return {}
    states = sorted(query.states)
    condition = f"d.state IN ({', '.join('?' for _ in states)})"
    values: list[object] = [expression, *states]
    if query.scopes is not None:
        condition += f" AND d.scope IN ({', '.join('?' for _ in query.scopes)})"
        values += sorted(query.scopes)
    rows = connection.execute(
        f"SELECT d.key, -bm25({table}, {weights}) AS score FROM {table}"
        f" JOIN documents d ON d.id = {table}.rowid"
        f" WHERE {table} MATCH ? AND {condition} ORDER BY score DESC LIMIT ?",
        [*values, query.limit],
    )
    return dict(rows.fetchall())


def _is_busy(error: Exception) -> bool:
    text = str(error)
    return isinstance(error, sqlite3.OperationalError) and ("locked" in text or "busy" in text)
