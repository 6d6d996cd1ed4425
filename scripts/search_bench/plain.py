"""The reference: FTS5 with stop words out and the words OR-ed, one table or two."""

from __future__ import annotations

import re
import sqlite3

from search_bench.data import Bench, rank_of
from skill_learner.ranking.stop_words import STOP_WORDS

_WORD = re.compile(r"\w+")
HEAD_SHARE, WHOLE_SHARE = 0.3, 0.7
CANDIDATES = 100


def expression(text: str, most: int = 0) -> str:
    words = [w for w in dict.fromkeys(_WORD.findall(text.lower())) if w not in STOP_WORDS]
    return " OR ".join(f'"{word}"' for word in (words[:most] if most else words))


def ranks(bench: Bench, size: int) -> tuple[list[int], list[int]]:
    """Of the wanted skill for each query: in the one table; in both, each divided by its best."""
    connection = bench.plain(size)
    keys = [skill.path for skill in bench.skills[:size]]
    one, two = [], []
    for query in bench.queries:
        asked = expression(query.text)
        whole = _scores(connection, "whole", "10.0, 5.0, 1.0", asked)
        head = _scores(connection, "head", "10.0, 5.0", asked)
        one.append(rank_of(query.wanted, [keys[n] for n in whole]))
        best_whole, best_head = max(whole.values(), default=1), max(head.values(), default=1)
        both = {
            n: WHOLE_SHARE * whole.get(n, 0) / best_whole + HEAD_SHARE * head.get(n, 0) / best_head
            for n in {**whole, **head}
        }
        order = sorted(both, key=lambda n: -both[n])
        two.append(rank_of(query.wanted, [keys[n] for n in order]))
    connection.close()
    return one, two


def _scores(
    connection: sqlite3.Connection, table: str, weights: str, asked: str
) -> dict[int, float]:
    if not asked:
        return {}
    rows = connection.execute(
        f"SELECT rowid, -bm25({table}, {weights}) AS score FROM {table} WHERE {table} MATCH ?"
        " ORDER BY score DESC LIMIT ?",
        (asked, CANDIDATES),
    )
    return dict(rows.fetchall())
