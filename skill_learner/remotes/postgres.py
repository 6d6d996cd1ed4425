"""A remote that is a library in a PostgreSQL database.

Versions are optimistic: a write names the version it replaces, and another one there is never
overwritten. All writes take rows in one order, so that writers wait for each other and never lock
each other out.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from skill_learner.errors import RemoteError
from skill_learner.remotes import postgres_schema as schema
from skill_learner.remotes.counters import is_countable
from skill_learner.remotes.postgres_connection import (
    PostgresConnection,
    belongs_to_others,
    lost_its_library,
)
from skill_learner.remotes.postgres_cursor import FIRST, Cursor, Mark, Standing
from skill_learner.remotes.postgres_rows import (
    MOST_TEXT,
    encoded,
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
    RemoteSkill,
    unheard,
)
from skill_learner.remotes.settings import RemoteSettings

_BATCH_ROWS = 500
_BATCH_BYTES = 8 * 1024 * 1024
_NO_MARK = Mark("", 0, 0)
_Rows = list[tuple[Any, ...]]


def open_remote(settings: RemoteSettings, folder: Path, machine: str) -> PostgresRemote:
    return PostgresRemote(PostgresConnection(settings.url, settings.library), machine)


class PostgresRemote:
    def __init__(self, connection: PostgresConnection, machine: str) -> None:
        self._connection = connection
        self._machine = machine
        self._looked_at: tuple[object, ...] = ()
        """How the server stood at the last pull, over which connection, and the cursor from it. A
        crash of the server, which would end the connection, may make it stand so once more."""
        self._only_looks = False
        self._cursor = Cursor()
        self._refused: list[str] = []
        """Names whose rows were others than the last push expected: whoever writes them by hand
        may not tell that he did."""

    def pull(self, cursor: str, foretell: Foretell = unheard) -> Pulled:
        """All comes in one answer; a first one may be long, so it is counted before."""
        refused, self._refused = self._refused, []
        oldest, newest, library = self._run(schema.STANDING)[0]
        if library != self._connection.library:
            raise lost_its_library()
        standing = oldest, newest, self._connection.number
        if oldest == newest and not refused and self._looked_at == (*standing, cursor):
            return Pulled(cursor)  # no transaction has written anything since
        pulled = self._pulled(Cursor.read(cursor), refused, foretell)
        self._looked_at = (*standing, pulled.cursor)
        return pulled

    def look(self, cursor: str) -> Pulled:
        """A pull that opens no library."""
        self._only_looks = True
        try:
            return self.pull(cursor)
        finally:
            self._only_looks = False

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
        self._refused = refused
        return Pushed(accepted, refused, cursor=str(self._cursor) if accepted else "")

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
        """Those that the server can keep, in place of what has another dimension. Their type is
        never named: it is the column's, wherever pgvector was installed."""
        texts = [(name, vector_text(vectors[name])) for name in sorted(vectors)]
        texts = [pair for pair in texts if pair[1]]
        for start in range(0, len(texts), _BATCH_ROWS):
            some = dict(enumerate(texts[start : start + _BATCH_ROWS]))
            rows = ", ".join(f"(%(library)s, %(model)s, %(h{n})s, %(v{n})s)" for n in some)
            values = {f"h{n}": name for n, (name, _) in some.items()}
            values |= {f"v{n}": text for n, (_, text) in some.items()}
            self._with_vectors(
                "INSERT INTO skill_learner.vectors AS v (library, model, hash, vector)"
                f" VALUES {rows} ON CONFLICT (library, model, hash)"
                " DO UPDATE SET vector = excluded.vector"
                " WHERE cardinality(string_to_array(v.vector::text, ','))"
                " <> cardinality(string_to_array(excluded.vector::text, ','))",
                {"model": model, **values},
            )

    def close(self) -> None:
        self._connection.close()

    # -- below ---------------------------------------------------------------------------------

    def _pulled(self, cursor: Cursor, refused: Collection[str], foretell: Foretell) -> Pulled:
        since = cursor.since
        if since:
            standing, rows = self._written(cursor, refused)
            if standing.is_set_back(cursor) or standing.counts_anew(cursor):
                since = 0
        if not since:
            foretell(self._run(schema.HOW_MANY)[0][0])
            standing, rows = self._written(cursor._replace(since=0), ())
        set_back = standing.is_set_back(cursor)
        skills = [
            skill_of(name, token, text)._replace(lost=set_back)
            for kind, name, token, text, *_ in rows
            if kind == "skill"
        ]
        if not set_back:
            skills += [RemoteSkill(name, "", None) for kind, name, *_ in rows if kind == "gone"]
        counters = {
            (machine, skill, kind): value
            for row, machine, skill, kind, value, *_ in rows
            if row == "counter" and is_countable((machine, skill, kind), value)
        }
        since = _read_to(since, standing, rows)
        mark = None if set_back else cursor.mark
        if skills or mark is None:
            mark = next((Mark(*row) for row in self._run(schema.NEWEST)), mark)
        self._cursor = Cursor(since, standing.place, mark)
        return Pulled(str(self._cursor), skills, counters, set_back)

    def _written(self, cursor: Cursor, names: Collection[str]) -> tuple[Standing, _Rows]:
        """How the database stands, and what was written in transactions from the cursor's on."""
        mark = cursor.mark or _NO_MARK
        rows = self._run(
            schema.PULL,
            {
                "since": str(cursor.since),
                "all": not cursor.since,
                "names": list(names),
                "most": MOST_TEXT,
                "mark_name": mark.name,
                "mark_version": mark.version,
                "mark_at": mark.at,
            },
        )
        is_open = next(row for row in rows if row[0] == "open")
        _, library, may_use, has_mark, table, oldest, newest = is_open
        if library != self._connection.library:
            raise lost_its_library()
        if may_use == "false":
            raise belongs_to_others(library)
        place = f"{self._connection.server}.{table}"
        rows.remove(is_open)
        return Standing(int(oldest), int(newest), place, has_mark == "true"), rows

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
        taken = {name: token for name, token, *_ in rows}
        if rows:
            self._cursor = self._cursor._replace(mark=Mark(rows[-1][0], *rows[-1][2:]))
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

    def _run(self, statement: str, values: Mapping[str, Any] | None = None) -> _Rows:
        given = {**(values or {}), "library": self._connection.library}
        return self._connection.run(statement, given, opens_library=not self._only_looks)

    def _with_vectors(self, statement: str, values: Mapping[str, Any]) -> _Rows:
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


def _read_to(since: int, standing: Standing, rows: _Rows) -> int:
    """The cursor goes no further than the last transaction that is seen here: after a crash the
    server gives those numbers anew that no transaction on its disk bears. What has a number yet to
    come was written at another server."""
    numbers = (int(row[5]) + 1 for row in rows if int(row[5]) < standing.newest)
    return min(max(numbers, default=since), standing.oldest) or FIRST
