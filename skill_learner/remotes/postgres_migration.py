"""Brings the schema `skill_learner` of a database up to date; any number of processes may try at
once. Once all that can be applied is applied, nothing is locked and nothing fails."""

from __future__ import annotations

import contextlib
from typing import Any

from skill_learner.errors import RemoteError
from skill_learner.remotes import postgres_schema as schema

_LOCK = 0x736B6C6C  # any number of our own
_MAY_HAVE_VECTORS = """
    SELECT has_schema_privilege('skill_learner', 'CREATE') AND CASE
        WHEN e.extname IS NOT NULL THEN has_schema_privilege(e.extnamespace, 'USAGE')
        ELSE has_database_privilege(current_database(), 'CREATE') AND EXISTS (
            SELECT FROM pg_available_extension_versions AS a
            WHERE a.name = 'vector' AND (a.trusted OR r.rolsuper)) END
    FROM pg_roles AS r LEFT JOIN pg_extension AS e ON e.extname = 'vector'
    WHERE r.rolname = current_user
"""
_EXTENSION = """
    SELECT quote_ident(n.nspname) FROM pg_extension AS e
    JOIN pg_namespace AS n ON n.oid = e.extnamespace WHERE e.extname = 'vector'
"""
_OPEN_TO_ALL = """
    SELECT CASE WHEN n.oid IS NOT NULL AND has_schema_privilege(n.oid, 'CREATE')
        THEN 'public' ELSE 'skill_learner' END
    FROM (SELECT 1) AS one LEFT JOIN pg_namespace AS n ON n.nspname = 'public'
"""


def migrate(connection: Any) -> None:
    """connection: at the isolation level `read committed`, so that what others applied while this
    one waited for the lock is seen."""
    import psycopg

    done = _applied(connection)
    known = {name for name, _ in (*schema.MIGRATIONS, schema.VECTORS)}
    if newer := sorted(done - known):
        raise RemoteError(
            f"this database was made ready by a newer skill-learner ({', '.join(newer)[:200]})",
            "Install that version here, too: pip install --upgrade skill-learner",
        )
    if any(name not in done for name, _ in schema.MIGRATIONS):
        try:
            _apply(connection)
        except psycopg.errors.InsufficientPrivilege as error:
            raise RemoteError(
                f"this role may not bring the schema skill_learner up to date: {error}".strip(),
                "Sync once as the role that owns it, or that may create it in this database.",
            ) from error
    elif schema.VECTORS[0] in done:
        return
    if connection.execute(_MAY_HAVE_VECTORS).fetchone()[0]:
        with contextlib.suppress(psycopg.Error), connection.transaction():
            _add_vectors(connection)


def _apply(connection: Any) -> None:
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


def _add_vectors(connection: Any) -> None:
    """Where pgvector was installed already, its type is taken from there; else it is put where
    everybody finds it. A server that refuses leaves each machine to embed for itself."""
    name, statements = schema.VECTORS
    got = connection.execute("SELECT pg_try_advisory_xact_lock(%s)", [_LOCK]).fetchone()[0]
    if not got or name in _applied(connection):
        return
    where = connection.execute(_EXTENSION).fetchone()
    if where is None:
        where = connection.execute(_OPEN_TO_ALL).fetchone()
        connection.execute(f"CREATE EXTENSION vector WITH SCHEMA {where[0]}")
    connection.execute(statements.format(schema=where[0]))
    _note(connection, name)


def _applied(connection: Any) -> set[str]:
    found = connection.execute("SELECT to_regclass('skill_learner.migrations') IS NOT NULL")
    if not found.fetchone()[0]:
        return set()
    return {row[0] for row in connection.execute("SELECT name FROM skill_learner.migrations")}


def _note(connection: Any, name: str) -> None:
    connection.execute("INSERT INTO skill_learner.migrations (name) VALUES (%s)", [name])
