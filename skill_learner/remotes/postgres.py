"""A remote that is a library in a PostgreSQL database.

Versions are optimistic: a write names the version it replaces, and another one there is never
overwritten. All writes take rows in one order, so that writers wait for each other and never lock
each other out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_learner.errors import RemoteError
from skill_learner.remotes import postgres_schema as schema
from skill_learner.remotes.postgres_connection import PostgresConnection
from skill_learner.remotes.postgres_rows import (
    MOST_TEXT,
    encoded,
    is_countable,
    skill_of,
    token_of,
    vector_of,
    vector_text,
)
from skill_learner.remotes.protocol import (
    CounterKey,
    Foretell,
    OutgoingSkill,
    Pulled,
    Pushed,
    unheard,
)
from skill_learner.remotes.settings import RemoteSettings

_BATCH_ROWS = 500
_BATCH_BYTES = 8 * 1024 * 1024


def open_remote(settings: RemoteSettings, folder: Path, machine: str) -> PostgresRemote:
    return PostgresRemote(PostgresConnection(settings.url, settings.library), machine)


class PostgresRemote:
    def __init__(self, connection: PostgresConnection, machine: str) -> None:
        self._connection = connection
        self._machine = machine
        self._looked_at: tuple[object, ...] = ()
        """How the server stood at the last pull, over which connection, and the cursor from it. A
        crash of the server, which would end the connection, may make it stand so once more."""

    def pull(self, cursor: str, foretell: Foretell = unheard) -> Pulled:
        """All comes in one answer; a first one may be long, so it is counted before."""
        since = cursor if cursor.isdecimal() else "0"
        oldest, newest = self._connection.run(schema.STANDING)[0]
        standing = oldest, newest, self._connection.number
        if oldest == newest and (newest == since or self._looked_at == (*standing, cursor)):
            return Pulled(cursor)  # no transaction has written anything since
        if int(oldest) < int(since):  # another server than the cursor is of
            since = "0"
        if since == "0":
            foretell(self._run(schema.HOW_MANY, {})[0][0])
        pulled = self._pulled(since)
        self._looked_at = (*standing, pulled.cursor)
        return pulled

    def push(self, skills: Sequence[OutgoingSkill], counters: Mapping[CounterKey, int]) -> Pushed:
        accepted: dict[str, str] = {}
        refused: list[str] = []
        for batch in _batches(skills):
            taken = self._push_batch(batch)
            accepted |= taken
            refused += [name for name, _, _ in batch if name not in taken]
        counters = {key: n for key, n in counters.items() if is_countable(key, n)}
        keys = sorted(counters)
        for start in range(0, len(keys), _BATCH_ROWS):
            self._count({key: counters[key] for key in keys[start : start + _BATCH_ROWS]})
        if accepted:
            with contextlib.suppress(RemoteError):
                self._connection.notify()
        return Pushed(accepted, refused)

    def wait(self, seconds: float) -> bool:
        """Wait for word that somebody changed something; whether it came. A hint only."""
        return self._connection.wait(seconds)

    def vectors(self, model: str, hashes: Sequence[str]) -> dict[str, list[float]]:
        rows = self._with_vectors(
            "SELECT hash, vector::text FROM skill_learner.vectors"
            " WHERE library = %(library)s AND model = %(model)s AND hash = ANY(%(hashes)s)",
            {"model": model, "hashes": list(hashes)},
        )
        return {name: vector_of(text) for name, text in rows}

    def put_vectors(self, model: str, vectors: Mapping[str, Sequence[float]]) -> None:
        texts = {name: vector_text(vectors[name]) for name in sorted(vectors)}
        texts = {name: text for name, text in texts.items() if text}
        self._with_vectors(
            "INSERT INTO skill_learner.vectors AS v (library, model, hash, vector)"
            " SELECT %(library)s, %(model)s, hash, vector::vector"
            " FROM unnest(%(hashes)s::text[], %(texts)s::text[]) AS i (hash, vector)"
            " ON CONFLICT (library, model, hash) DO UPDATE SET vector = excluded.vector"
            " WHERE vector_dims(v.vector) <> vector_dims(excluded.vector)",
            {"model": model, "hashes": [*texts], "texts": [*texts.values()]},
        )

    def close(self) -> None:
        self._connection.close()

    # -- below ---------------------------------------------------------------------------------

    def _pulled(self, since: str) -> Pulled:
        """What was written in transactions from `since` on. The cursor goes no further than the
        last one that is seen here: after a crash the server gives those numbers anew that no
        transaction on its disk bears."""
        rows = self._run(schema.PULL, {"since": since, "most": MOST_TEXT})
        still_open = next(int(row[5]) for row in rows if row[0] == "open")
        seen = max((int(row[5]) + 1 for row in rows if row[0] != "open"), default=int(since))
        skills = [
            skill_of(name, token, text) for kind, name, token, text, *_ in rows if kind == "skill"
        ]
        counters = {
            (machine, skill, kind): value
            for row, machine, skill, kind, value, _ in rows
            if row == "counter" and is_countable((machine, skill, kind), value)
        }
        return Pulled(str(min(seen, still_open)), skills, counters)

    def _push_batch(self, batch: Sequence[tuple[str, str, OutgoingSkill]]) -> dict[str, str]:
        """Names with their tokens, of those that are there now as they were sent."""
        tokens = {name: token_of(text) for name, text, _ in batch}
        rows = self._run(
            schema.PUSH,
            {
                "machine": self._machine,
                "names": [name for name, _, _ in batch],
                "tokens": list(tokens.values()),
                "parents": [skill.expected for _, _, skill in batch],
                "files": [text for _, text, _ in batch],
            },
        )
        taken = dict(rows)
        if len(taken) < len(batch):
            there = self._run(
                "SELECT name, token FROM skill_learner.skills"
                " WHERE library = %(library)s AND name = ANY(%(names)s)",
                {"names": [name for name in tokens if name not in taken]},
            )
            taken |= {name: token for name, token in there if tokens[name] == token}
        return taken

    def _count(self, counters: Mapping[CounterKey, int]) -> None:
        keys = list(counters)
        self._run(
            schema.COUNT,
            {
                "machines": [key[0] for key in keys],
                "skills": [key[1] for key in keys],
                "kinds": [key[2] for key in keys],
                "values": [counters[key] for key in keys],
            },
        )

    def _run(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        return self._connection.run(statement, {**values, "library": self._connection.library})

    def _with_vectors(self, statement: str, values: Mapping[str, Any]) -> list[tuple[Any, ...]]:
        self._connection.run("SELECT 1")
        return self._run(statement, values) if self._connection.has_vectors else []


def _batches(
    skills: Sequence[OutgoingSkill],
) -> Iterator[list[tuple[str, str, OutgoingSkill]]]:
    """Names, texts and skills, in the order in which rows are locked."""
    batch: list[tuple[str, str, OutgoingSkill]] = []
    size = 0
    for skill in sorted(skills, key=lambda item: item.name):
        text = encoded(skill.files)
        batch.append((skill.name, text, skill))
        size += len(text)
        if len(batch) >= _BATCH_ROWS or size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch
