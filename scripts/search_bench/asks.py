"""What stored asks bring: three queries of a skill are kept with it, its other queries are asked.

Only skills with more than three queries count. Which three is drawn anew in each round.
"""

from __future__ import annotations

import argparse
import random
from collections import defaultdict
from dataclasses import replace

from search_bench.data import Bench, Query, figures, rank_of
from search_bench.quality import ACTIVE
from skill_learner.ranking.find import find
from skill_learner.search.documents import document_of

STORED = 3
ROUNDS = 2
TARGET = (0.66, 0.82)


def run(bench: Bench, options: argparse.Namespace) -> list[str]:
    size = max(bench.pools)
    by_skill: dict[str, list[Query]] = defaultdict(list)
    for query in bench.queries:
        if len(query.wanted) == 1:
            by_skill[query.skill].append(query)
    taught = {skill: its for skill, its in by_skill.items() if len(its) > STORED}
    skills = {skill.path: skill for skill in bench.skills[:size]}
    index = bench.index(size)
    before: list[int] = []
    after: list[int] = []
    try:
        for turn in range(ROUNDS):
            draw = random.Random(turn)
            kept = {skill: draw.sample(its, STORED) for skill, its in sorted(taught.items())}
            asked = [q for skill, its in taught.items() for q in its if q not in kept[skill]]
            plain = [document_of(skills[key], key, "1") for key in kept]
            with_asks = [
                document_of(replace(skills[key], asks=tuple(q.text[:300] for q in its)), key, "1")
                for key, its in kept.items()
            ]
            for documents, ranks in ((plain, before), (with_asks, after)):
                index.update(documents, [])
                for query in asked:
                    found = find(index, query.text, ACTIVE, None)
                    ranks.append(rank_of(query.wanted, [c.key for c in found.candidates]))
    finally:
        index.update([document_of(skills[key], key, "1") for key in taught], [])
        index.close()
    result = figures(after)
    print(f"\nStored asks, pool {size}, {len(taught)} skills, {ROUNDS} draws: hit@1 recall@5 MRR")
    print(f"  {'their other queries, nothing stored':44}{figures(before)}")
    print(f"  {'with three asks stored':44}{result}", flush=True)
    if result.hit1 >= TARGET[0] and result.recall5 >= TARGET[1]:
        return []
    return [f"stored asks: {result}, wanted {TARGET[0]} and {TARGET[1]}"]
