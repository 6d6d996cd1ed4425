"""The vectors of skills on disk: derived, so a damaged file is thrown away."""

from __future__ import annotations

import sqlite3
from array import array
from collections.abc import Mapping, Sequence
from pathlib import Path

from skill_learner.files import ensure_private_dir


class VectorStore:
    """Unit vectors by key in one SQLite file, which is thrown away when it is damaged."""

    def __init__(self, db: Path) -> None:
        self._db = db
        self._connection: sqlite3.Connection | None = None
        self._version: object = None
        self._vectors: dict[str, tuple[str, array[float]]] = {}

    def load(self, model: str) -> dict[str, tuple[str, array[float]]]:
        """Content hash and vector by key, of this model; vectors of another are dropped."""
        connection = self._open()
        with connection:
            connection.execute("DELETE FROM vectors WHERE model <> ?", (model,))
        version = connection.execute("PRAGMA data_version").fetchone()[0]
        if version != self._version:
            rows = connection.execute("SELECT key, content_hash, vector FROM vectors")
            self._vectors = {key: (digest, array("f", blob)) for key, digest, blob in rows}
            self._version = version
        return self._vectors

    def put(self, model: str, vectors: Mapping[str, tuple[str, array[float]]]) -> None:
        with self._open() as connection:
            connection.executemany(
                "INSERT OR REPLACE INTO vectors VALUES (?, ?, ?, ?)",
                [(key, digest, model, v.tobytes()) for key, (digest, v) in vectors.items()],
            )
        self._vectors.update(vectors)

    def drop(self, keys: Sequence[str]) -> None:
        with self._open() as connection:
            connection.executemany("DELETE FROM vectors WHERE key = ?", [(key,) for key in keys])
        for key in keys:
            self._vectors.pop(key, None)

    def clear(self) -> None:
        self.close()
        for suffix in ("", "-wal", "-shm"):
            self._db.with_name(self._db.name + suffix).unlink(missing_ok=True)

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
        self._connection, self._version, self._vectors = None, None, {}

    def _open(self) -> sqlite3.Connection:
        if self._connection is None:
            ensure_private_dir(self._db.parent)
            connection = sqlite3.connect(self._db, timeout=5, check_same_thread=False)
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS vectors(key TEXT PRIMARY KEY,"
                " content_hash TEXT NOT NULL, model TEXT NOT NULL, vector BLOB NOT NULL)"
            )
            self._connection = connection
        return self._connection
