"""One connection to a PostgreSQL library: opened when needed, again after it was lost.

Every statement that goes through `run` may be repeated without harm, so a lost answer is asked for
again. Where and as whom to connect is libpq's business: the address, ~/.pgpass, PGSERVICE, TLS.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from typing import Any

from skill_learner.errors import RemoteError, RemoteUnavailableError
from skill_learner.remotes import postgres_schema as schema

_CONNECT_SECONDS = 10
_STATEMENT_SECONDS = 120
_TRIES = 6
_LOCK = 0x736B6C6C  # any number of our own


class PostgresConnection:
    def __init__(self, url: str, library: str) -> None:
        self._url = url
        self.library = library
        self._connection: Any = None
        self.has_vectors = False
        self.number = 0
        """How many connections were opened so far."""

    def run(self, statement: str, values: Mapping[str, Any] | None = None) -> list[tuple[Any, ...]]:
        """The rows of one statement, which is a transaction of its own."""
        psycopg = _psycopg()
        for attempt in range(1, _TRIES + 1):
            fresh = self._connection is None
            try:
                cursor = self._opened().execute(statement, values)
                rows: list[tuple[Any, ...]] = cursor.fetchall() if cursor.description else []
                return rows
            except (
                psycopg.errors.DeadlockDetected,
                psycopg.errors.SerializationFailure,
                psycopg.errors.LockNotAvailable,
            ) as error:
                if attempt == _TRIES:
                    raise RemoteUnavailableError(f"PostgreSQL is too busy: {error}") from error
                time.sleep(random.uniform(0.01, 0.05) * attempt)
            except (psycopg.OperationalError, psycopg.InterfaceError) as error:
                self.close()
                if fresh or attempt == _TRIES:
                    raise _unavailable(error) from error
            except psycopg.Error as error:
                raise RemoteError(f"PostgreSQL refuses: {_words(error)}") from error
        raise AssertionError("unreachable")

    def notify(self) -> None:
        """Tell listeners that something changed: a hint, which may be lost."""
        if self._connection is not None:
            self.run("SELECT pg_notify('skill_learner', %(library)s)", {"library": self.library})

    def wait(self, seconds: float) -> bool:
        """Wait for such a hint about this library; whether one came."""
        psycopg = _psycopg()
        try:
            connection = self._opened()
            connection.execute("LISTEN skill_learner")
            for note in connection.notifies(timeout=seconds):
                if note.payload == self.library:
                    return True
        except psycopg.Error as error:
            self.close()
            raise _unavailable(error) from error
        return False

    def close(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _opened(self) -> Any:
        if self._connection is None:
            connection = _psycopg().connect(
                self._url,
                autocommit=True,
                connect_timeout=_CONNECT_SECONDS,
                fallback_application_name="skill-learner",
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self.number += 1
        return self._connection

    def _prepare(self, connection: Any) -> None:
        connection.execute(f"SET statement_timeout = '{_STATEMENT_SECONDS}s'")
        connection.execute("SET client_min_messages = warning")
        migrate(connection)
        connection.execute("SELECT set_config('skill_learner.library', %s, false)", [self.library])
        allowed = connection.execute(
            "SELECT skill_learner.open_library(%s)", [self.library]
        ).fetchone()
        if not (allowed and allowed[0]):
            raise RemoteError(
                f"the library {self.library!r} of this database belongs to others",
                "A member admits a role by: SELECT skill_learner.admit('<library>', '<role>')",
            )
        self.has_vectors = bool(
            connection.execute(
                "SELECT to_regclass('skill_learner.vectors') IS NOT NULL"
            ).fetchone()[0]
        )


def migrate(connection: Any) -> None:
    """Bring the schema up to date; any number of processes may try at once."""
    psycopg = _psycopg()
    wanted = [*schema.MIGRATIONS, schema.VECTORS]
    if {name for name, _ in wanted} <= _applied(connection):
        return
    with connection.transaction():
        connection.execute("SELECT pg_advisory_xact_lock(%s)", [_LOCK])
        if _applied(connection) == set():
            connection.execute("CREATE SCHEMA IF NOT EXISTS skill_learner")
            connection.execute(
                "CREATE TABLE IF NOT EXISTS skill_learner.migrations"
                " (name text PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())"
            )
        done = _applied(connection)
        for name, statements in schema.MIGRATIONS:
            if name not in done:
                connection.execute(statements)
                _note(connection, name)
        name, statements = schema.VECTORS
        if name not in done:
            try:
                with connection.transaction():
                    connection.execute(statements)
                    _note(connection, name)
            except psycopg.Error:
                pass  # no pgvector here, or not for this role: each machine embeds for itself


def _applied(connection: Any) -> set[str]:
    found = connection.execute("SELECT to_regclass('skill_learner.migrations') IS NOT NULL")
    if not found.fetchone()[0]:
        return set()
    return {row[0] for row in connection.execute("SELECT name FROM skill_learner.migrations")}


def _note(connection: Any, name: str) -> None:
    connection.execute("INSERT INTO skill_learner.migrations (name) VALUES (%s)", [name])


def _psycopg() -> Any:
    try:
        import psycopg
    except ImportError as error:
        raise RemoteError(
            "PostgreSQL needs psycopg, which is not installed",
            "pip install 'skill-learner[postgres]'",
        ) from error
    return psycopg


def _unavailable(error: Exception) -> RemoteUnavailableError:
    has_answered = bool(getattr(error, "sqlstate", None))
    what = "could not do it" if has_answered else "cannot be reached"
    return RemoteUnavailableError(
        f"PostgreSQL {what}: {_words(error)}",
        "Everything goes on with the library at home; the next sync tries again.",
    )


def _words(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "; ".join(lines[:2])[:300]
