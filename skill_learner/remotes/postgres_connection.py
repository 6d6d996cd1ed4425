"""One connection to a PostgreSQL library: opened when needed, again after it was lost.

Every statement that goes through `run` may be repeated without harm, so a lost answer is asked for
again. Where and as whom to connect is libpq's business: the address, ~/.pgpass, PGSERVICE, TLS.
No call waits for ever: a server that says nothing for longer than a statement may take is given up.
"""

from __future__ import annotations

import random
import time
from collections.abc import Mapping
from functools import cache
from typing import Any

from skill_learner.errors import RemoteError, RemoteUnavailableError
from skill_learner.remotes.postgres_migration import migrate

_CONNECT_SECONDS = 10
_STATEMENT_SECONDS = 120
_SILENT_SECONDS = _STATEMENT_SECONDS + 30
"""The server answers before, if only that it took too long."""
_TRIES = 6
_WATCHED = {
    "keepalives_idle": 30,
    "keepalives_interval": 10,
    "keepalives_count": 3,
    "tcp_user_timeout": 60_000,
}
_SETTINGS = f"""
    SET statement_timeout = '{_STATEMENT_SECONDS}s';
    SET idle_in_transaction_session_timeout = '{_STATEMENT_SECONDS}s';
    SET client_min_messages = warning;
    SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED;
"""
_STANDING = """
    SELECT set_config('skill_learner.library', %(library)s, false),
        skill_learner.may_use(%(library)s),
        to_regclass('skill_learner.vectors') IS NOT NULL,
        (SELECT oid FROM pg_database WHERE datname = current_database()),
        has_function_privilege('pg_catalog.pg_control_system()', 'EXECUTE')
"""


class PostgresConnection:
    def __init__(self, url: str, library: str) -> None:
        self._url = url
        self.library = library
        self._connection: Any = None
        self._is_open = False
        self.has_vectors = False
        self.server = ""
        """Which server and which of its databases it is."""
        self.number = 0
        """How many connections were opened so far."""

    def run(
        self,
        statement: str,
        values: Mapping[str, Any] | None = None,
        *,
        opens_library: bool = True,
    ) -> list[tuple[Any, ...]]:
        """The rows of one statement, which is a transaction of its own. opens_library: a library
        that nobody opened yet is opened before; whoever only asks opens none."""
        psycopg = _psycopg()
        for attempt in range(1, _TRIES + 1):
            fresh = self._connection is None
            try:
                connection = self._opened()
                if opens_library and not self._is_open:
                    self._open_library(connection)
                cursor = connection.execute(statement, values)
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
            except (
                psycopg.errors.UndefinedTable,
                psycopg.errors.UndefinedFunction,
                psycopg.errors.InvalidSchemaName,
                psycopg.errors.InsufficientPrivilege,
            ) as error:
                self.close()  # what was true when it was opened may have changed beneath it
                if fresh or attempt == _TRIES:
                    raise _refusal(error) from error
            except (psycopg.Error, UnicodeError) as error:
                raise _refusal(error) from error
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
            for note in connection.notifies(timeout=min(seconds, _STATEMENT_SECONDS)):
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
            connection = _watched_connection().connect(
                self._url, **self._given(), autocommit=True, client_encoding="utf8"
            )
            try:
                self._prepare(connection)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self.number += 1
        return self._connection

    def _given(self) -> dict[str, Any]:
        """How to connect, where the address does not tell otherwise."""
        told = _psycopg().conninfo.conninfo_to_dict(self._url)
        watched = {key: value for key, value in _WATCHED.items() if key not in told}
        name = {"fallback_application_name": "skill-learner"}
        return {**name, **watched, "connect_timeout": _CONNECT_SECONDS}

    def _prepare(self, connection: Any) -> None:
        if connection.info.parameter_status("server_encoding") == "SQL_ASCII":
            raise RemoteError(
                "the database's encoding is SQL_ASCII, which does not tell what its texts are",
                "Make one by: CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0",
            )
        connection.execute(_SETTINGS)
        migrate(connection)
        _, may_use, self.has_vectors, database, tells = connection.execute(
            _STANDING, {"library": self.library}
        ).fetchone()
        if may_use is False:
            raise belongs_to_others(self.library)
        self._is_open = bool(may_use)
        self.server = str(database)
        if tells:
            ask = "SELECT system_identifier FROM pg_control_system()"
            self.server = f"{connection.execute(ask).fetchone()[0]}.{database}"

    def _open_library(self, connection: Any) -> None:
        opened = connection.execute("SELECT skill_learner.open_library(%s)", [self.library])
        if not opened.fetchone()[0]:
            raise belongs_to_others(self.library)
        self._is_open = True


@cache
def _watched_connection() -> Any:
    """The class of a connection that ends when its server stays silent, whatever the network in
    between says of it."""
    psycopg = _psycopg()
    connection: Any = psycopg.Connection

    class WatchedConnection(connection):  # type: ignore[misc]  # the extra need not be installed
        def wait(self, generator: Any, *arguments: Any, **named: Any) -> Any:
            return super().wait(self._watched(generator), *arguments, **named)

        def _watched(self, generator: Any) -> Any:
            end = time.monotonic() + _SILENT_SECONDS
            try:
                wanted = next(generator)
                while True:
                    ready = yield wanted
                    if ready:
                        end = time.monotonic() + _SILENT_SECONDS
                    elif time.monotonic() > end:
                        self.close()
                        raise psycopg.OperationalError(f"no answer for {_SILENT_SECONDS} seconds")
                    wanted = generator.send(ready)
            except StopIteration as done:
                return done.value

    return WatchedConnection


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


def belongs_to_others(library: str) -> RemoteError:
    return RemoteError(
        f"the library {library!r} of this database belongs to others",
        "A member admits a role by: SELECT skill_learner.admit('<library>', '<role>')",
    )


def lost_its_library() -> RemoteError:
    return RemoteError(
        "the connection to PostgreSQL forgot which library it is for",
        "A pooler in between must be in session mode; one in transaction mode forgets settings.",
    )


def _refusal(error: Exception) -> RemoteError:
    row_level = "row-level security" in str(error)
    return RemoteError(
        f"PostgreSQL refuses: {_words(error)}", lost_its_library().hint if row_level else ""
    )


def _words(error: Exception) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return "; ".join(lines[:2])[:300]
