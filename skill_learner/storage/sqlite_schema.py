"""The tables of the SQLite index, as named migrations that are only ever appended to."""

from __future__ import annotations

import sqlite3

from skill_learner.ranking.sqlite_reader import TOKENIZER

_PIECE_BYTES = 8 << 20
"""What FTS5 gathers in memory before it writes; its own default makes pieces that it then merges
over and over."""

MIGRATIONS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "0001 documents with two full-text tables",
        (
            # AUTOINCREMENT: the number of a removed row never names another document
            "CREATE TABLE documents(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,"
            " stamp TEXT NOT NULL, content_hash TEXT NOT NULL, state TEXT NOT NULL,"
            " scope TEXT NOT NULL)",
            "CREATE VIRTUAL TABLE head USING"
            f" fts5(name, description, content = '', tokenize = '{TOKENIZER}')",
            "CREATE VIRTUAL TABLE whole USING fts5(name, description, triggers, asks, prose, code,"
            f" parts, bigrams, content = '', tokenize = '{TOKENIZER}')",
            "CREATE VIRTUAL TABLE whole_terms USING fts5vocab('whole', 'row')",
        ),
    ),
    (
        "0002 one full-text table, short texts as stems beside it, filled anew",
        (
            "DROP TABLE head",
            "DROP TABLE whole_terms",
            "DROP TABLE whole",
            "DROP TABLE documents",
            "CREATE TABLE documents(id INTEGER PRIMARY KEY AUTOINCREMENT, key TEXT NOT NULL UNIQUE,"
            " stamp TEXT NOT NULL, content_hash TEXT NOT NULL, state TEXT NOT NULL,"
            " scope TEXT NOT NULL, name TEXT NOT NULL, summary TEXT NOT NULL, head TEXT NOT NULL)",
            "CREATE INDEX documents_eligible ON documents(state, scope)",
            "CREATE TABLE name_words(word TEXT PRIMARY KEY) WITHOUT ROWID",
            "CREATE VIRTUAL TABLE whole USING fts5(name, description, triggers, asks, prose, code,"
            f" parts, bigrams, content = '', tokenize = '{TOKENIZER}')",
            "CREATE VIRTUAL TABLE whole_terms USING fts5vocab('whole', 'row')",
        ),
    ),
    (
        "0003 heads mark the sentences that trigger, filled anew",
        (
            "DELETE FROM documents",
            "INSERT INTO whole(whole) VALUES ('delete-all')",
        ),
    ),
    (
        "0004 one digest for all stamps, larger pieces while many skills are taken in",
        (
            "CREATE TABLE sealed(digest BLOB NOT NULL)",
            f"INSERT INTO whole(whole, rank) VALUES ('hashsize', {_PIECE_BYTES})",
        ),
    ),
)


class NewerSchemaError(Exception):
    """The file was made by a later version: this one cannot tell what is in it."""


def migrate(connection: sqlite3.Connection) -> None:
    """Bring an index file to the newest schema; one transaction a migration."""
    connection.execute("CREATE TABLE IF NOT EXISTS migrations(name TEXT PRIMARY KEY)")
    done = _applied(connection)
    if done - {name for name, _ in MIGRATIONS}:
        raise NewerSchemaError
    for name, statements in MIGRATIONS:
        if name in done:
            continue
        connection.execute("BEGIN IMMEDIATE")
        try:
            if name not in _applied(connection):  # another process may have been first
                for statement in statements:
                    connection.execute(statement)
                connection.execute("INSERT INTO migrations VALUES (?)", (name,))
        except BaseException:
            connection.execute("ROLLBACK")
            raise
        connection.execute("COMMIT")


def _applied(connection: sqlite3.Connection) -> set[str]:
    return {name for (name,) in connection.execute("SELECT name FROM migrations")}
