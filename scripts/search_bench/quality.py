"""Whether the wanted skill comes first, by pool size, by source, and cross-validated."""

from __future__ import annotations

import argparse
import itertools
import time
from collections import defaultdict
from collections.abc import Sequence

from search_bench import plain
from search_bench.data import Bench, Figures, Query, figures, rank_of
from skill_learner.ranking import score
from skill_learner.ranking.find import find
from skill_learner.ranking.score import Candidate

TARGETS = {1_000: (0.68, 0.87), 10_000: (0.57, 0.76)}
SEMANTIC_RECALL = {10_000: 0.80}
CJK_TARGET = {10_000: (0.31, 0.48)}
ACTIVE = frozenset({"active"})


def run(bench: Bench, options: argparse.Namespace) -> list[str]:
    missed: list[str] = []
    for size in bench.pools:
        print(f"\nQuality, pool {size}, {len(bench.queries)} queries: hit@1  recall@5  MRR@10")
        one, two = plain.ranks(bench, size)
        _row("FTS5, one table (10, 5, 1; porter)", figures(one))
        _row("FTS5, two tables (.3, .7)", figures(two))
        index = bench.index(size)
        started = time.process_time()
        found = [find(index, query.text, ACTIVE, None) for query in bench.queries]
        spent = (time.process_time() - started) / len(found) * 1000
        index.close()
        ranks = [
            rank_of(query.wanted, [c.key for c in f.candidates])
            for query, f in zip(bench.queries, found, strict=True)
        ]
        ours = figures(ranks)
        _row(f"skill-learner ({spent:.0f} ms CPU, warm)", ours)
        missed += _missed(f"pool {size}", ours, TARGETS.get(size))
        cjk = [rank for query, rank in zip(bench.queries, ranks, strict=True) if query.cjk]
        _row(f"  its {len(cjk)} CJK queries", figures(cjk))
        missed += _missed(f"CJK at {size}", figures(cjk), CJK_TARGET.get(size))
        if options.semantic:
            missed += _semantic(bench, size, [f.candidates for f in found], ours)
        _by_source(bench.queries, ranks)
        _row("  mean over skills", _by_skill(bench.queries, ranks))
        _cross_validated(bench.queries, [f.candidates for f in found])
    return missed


def _semantic(
    bench: Bench, size: int, found: Sequence[Sequence[Candidate]], words: Figures
) -> list[str]:
    from search_bench.semantic import blended_ranks

    ranks = blended_ranks(bench, size, found)
    both = figures(ranks[1.0])
    _row("  with the `semantic` extra", both)
    cjk = [rank for query, rank in zip(bench.queries, ranks[1.0], strict=True) if query.cjk]
    _row(f"    its {len(cjk)} CJK queries", figures(cjk))
    for scale in (0.5, 1.5):
        _row(f"    were its weights {scale} times as large", figures(ranks[scale]))
    wanted = SEMANTIC_RECALL.get(size)
    if wanted is None or (both.recall5 >= wanted and both.hit1 >= words.hit1):
        return []
    return [f"semantic at {size}: {both}, wanted recall {wanted} and no loss of hit@1"]


def _row(name: str, result: Figures) -> None:
    print(f"  {name:44}{result}", flush=True)


def _missed(name: str, result: Figures, target: tuple[float, float] | None) -> list[str]:
    if target is None or (result.hit1 >= target[0] and result.recall5 >= target[1]):
        return []
    return [f"{name}: {result}, wanted {target[0]} and {target[1]}"]


def _by_source(queries: Sequence[Query], ranks: Sequence[int]) -> None:
    by_source: dict[str, list[int]] = defaultdict(list)
    for query, rank in zip(queries, ranks, strict=True):
        by_source[query.source].append(rank)
    for source, its in sorted(by_source.items()):
        _row(f"  {source[:32]} ({len(its)})", figures(its))


def _by_skill(queries: Sequence[Query], ranks: Sequence[int]) -> Figures:
    by_skill: dict[str, list[int]] = defaultdict(list)
    for query, rank in zip(queries, ranks, strict=True):
        by_skill[query.skill].append(rank)
    each = [figures(its) for its in by_skill.values()]
    return Figures(
        sum(f.hit1 for f in each) / len(each),
        sum(f.recall5 for f in each) / len(each),
        sum(f.mrr for f in each) / len(each),
        len(each),
    )


# -- would other weights have been chosen without the queries they are measured on? --------------

GRID = [
    (0.7, *rest, 0.0)
    for rest in itertools.product(
        (0.0, 0.05, 0.15), (0.05, 0.1, 0.2), (0.0, 0.1), (0.0, 0.1, 0.2), (0.0, 0.1, 0.2)
    )
]


def _cross_validated(queries: Sequence[Query], found: Sequence[Sequence[Candidate]]) -> None:
    """Figures of weights that are chosen anew, for each fold, on the other folds alone."""
    table = [
        [_rank_with(weights, query, candidates) for weights in GRID]
        for query, candidates in zip(queries, found, strict=True)
    ]
    skills = sorted({query.skill for query in queries})
    fold_of = {skill: number % 5 for number, skill in enumerate(skills)}
    for name, folds in (
        ("  weights chosen on other skills (5 folds)", [fold_of[q.skill] for q in queries]),
        ("  weights chosen on other sources", [q.source for q in queries]),
    ):
        ranks: list[int] = []
        for fold in sorted(set(folds), key=str):
            train = [row for row, its in zip(table, folds, strict=True) if its != fold]
            best = max(range(len(GRID)), key=lambda n: _worth([row[n] for row in train]))
            ranks += [row[best] for row, its in zip(table, folds, strict=True) if its == fold]
        _row(name, figures(ranks))


def _worth(ranks: Sequence[int]) -> float:
    result = figures(ranks)
    return result.hit1 + result.mrr


def _rank_with(weights: Sequence[float], query: Query, candidates: Sequence[Candidate]) -> int:
    best = [max((c.signals[i] for c in candidates), default=0.0) or 1.0 for i in range(7)]
    if query.cjk:
        weights = score.WEIGHTS_CJK
    scale = [weight / top for weight, top in zip(weights, best, strict=True)]
    sums = [(-sum(s * v for s, v in zip(scale, c.signals, strict=True)), c.key) for c in candidates]
    sums.sort()
    return rank_of(query.wanted, [key for _, key in sums])
