"""Skills, queries, and the indexes that the parts of the benchmark share."""

from __future__ import annotations

import contextlib
import gzip
import json
import sqlite3
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from skill_learner.models import Skill
from skill_learner.search.documents import document_of
from skill_learner.storage.sqlite import SqliteIndex

BATCH = 500
CHECKOUT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True)
class Query:
    text: str
    wanted: frozenset[str]
    source: str
    cjk: bool

    @property
    def skill(self) -> str:
        """The skill by which queries are grouped."""
        return min(self.wanted)


@dataclass(frozen=True)
class Figures:
    """Shares of queries with a wanted skill on top, among the first five, and the mean of 1/rank
    within ten."""

    hit1: float
    recall5: float
    mrr: float
    count: int

    def __str__(self) -> str:
        return f"{self.hit1:.3f}  {self.recall5:.3f}  {self.mrr:.3f}"


def figures(ranks: Sequence[int]) -> Figures:
    """ranks: of the first wanted skill, from 1; 0 for none."""
    count = len(ranks) or 1
    return Figures(
        sum(rank == 1 for rank in ranks) / count,
        sum(0 < rank <= 5 for rank in ranks) / count,
        sum(1 / rank for rank in ranks if 0 < rank <= 10) / count,
        len(ranks),
    )


def rank_of(wanted: frozenset[str], found: Sequence[str]) -> int:
    return next((place for place, key in enumerate(found, 1) if key in wanted), 0)


@contextlib.contextmanager
def working_folder(folder: Path | None) -> Iterator[Path]:
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        yield folder
        return
    with tempfile.TemporaryDirectory() as made:
        yield Path(made)


class Bench:
    def __init__(self, data: Path, work: Path, pools: Sequence[int]) -> None:
        self.data = data
        self.work = work
        self.pools = tuple(pools)

    @cached_property
    def skills(self) -> list[Skill]:
        with gzip.open(self.data / "skills-10k.jsonl.gz", "rt", encoding="utf-8") as lines:
            return [_skill(json.loads(line)) for line in lines]

    @cached_property
    def queries(self) -> list[Query]:
        return self._read("queries-pos.jsonl")

    @cached_property
    def unwanted(self) -> list[Query]:
        return self._read("queries-neg.jsonl")

    def _read(self, name: str) -> list[Query]:
        with open(self.data / name, encoding="utf-8") as lines:
            rows = [json.loads(line) for line in lines]
        return [Query(r["query"], frozenset(r["rel"]), r["source"], r["cjk"]) for r in rows]

    def index(self, size: int) -> SqliteIndex:
        """Ours, over the first skills of the data."""
        path = self.work / f"ours-{size}.sqlite"
        if path.exists():
            return SqliteIndex(path)
        started = time.process_time()
        index = SqliteIndex(path)
        documents = [document_of(skill, skill.path, "1") for skill in self.skills[:size]]
        for start in range(0, size, BATCH):
            index.update(documents[start : start + BATCH], [])
        index.finish()
        index.close()
        self._told("ours", size, path, time.process_time() - started)
        return SqliteIndex(path)

    def plain(self, size: int) -> sqlite3.Connection:
        """FTS5 as one would use it first: one table, and one of name and description alone."""
        path = self.work / f"plain-{size}.sqlite"
        fresh = not path.exists()
        connection = sqlite3.connect(path, isolation_level=None)
        if not fresh:
            return connection
        started = time.process_time()
        tokens = "tokenize = 'porter unicode61'"
        connection.execute(
            "CREATE VIRTUAL TABLE whole USING fts5("
            f"name, description, body, content = '', {tokens})"
        )
        connection.execute("BEGIN")
        connection.executemany(
            "INSERT INTO whole(rowid, name, description, body) VALUES (?, ?, ?, ?)",
            ((n, s.name, s.description, s.body) for n, s in enumerate(self.skills[:size])),
        )
        connection.execute("COMMIT")
        self._told("FTS5, one table", size, path, time.process_time() - started)
        connection.execute(
            f"CREATE VIRTUAL TABLE head USING fts5(name, description, content = '', {tokens})"
        )
        connection.executemany(
            "INSERT INTO head(rowid, name, description) VALUES (?, ?, ?)",
            ((n, s.name, s.description) for n, s in enumerate(self.skills[:size])),
        )
        return connection

    def _told(self, name: str, size: int, path: Path, seconds: float) -> None:
        text = sum(len(f"{s.name}{s.description}{s.body}".encode()) for s in self.skills[:size])
        on_disk = sum(f.stat().st_size for f in path.parent.glob(path.name + "*"))
        print(
            f"build {name}, {size}: {seconds:.1f} s CPU, {on_disk / 1e6:.1f} MB on disk ="
            f" {on_disk / text:.2f} x the text",
            flush=True,
        )


def _skill(row: dict[str, str]) -> Skill:
    return Skill(
        name=row["name"],
        description=row["description"] or "",
        body=row["body"],
        state="active",
        scope="user",
        path=row["id"],
        content_hash=row["id"],
        ours=True,
    )
