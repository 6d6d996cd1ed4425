"""When to offer a skill and when to be silent: a curve over the threshold, in a library of 552.

related: queries in the whole library. unrelated: the same queries where no skill is left that could
serve: every one of the same source is taken away, and the ten nearest to each wanted one by its
description. idle: prompts that ask for nothing in particular.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from dataclasses import replace

from search_bench.data import CHECKOUT, Bench
from skill_learner.models import Skill
from skill_learner.ranking.find import find, measure_strength
from skill_learner.ranking.plan import QUICK
from skill_learner.ranking.strength import THRESHOLD
from skill_learner.search.documents import document_of
from skill_learner.storage.sqlite import SqliteIndex

SIZE = 552
LABELLED = 252
NEAREST = 10
IDLE = CHECKOUT / "tests" / "offers" / "idle_prompts.txt"
MOST_UNRELATED, MOST_IDLE, FEWEST_KEPT = 0.05, 0.01, 0.72
ACTIVE = frozenset({"active"})


def run(bench: Bench, options: argparse.Namespace) -> list[str]:
    index = _library(bench)
    library = bench.skills[:SIZE]
    like = _like_each(index, library)
    hits: list[float] = []
    misses: list[float] = []
    unrelated: list[float] = []
    for query in bench.queries:
        key, strength = _first(index, query.text, None)
        (hits if key in query.wanted else misses).append(strength)
        sources = {query.source, *map(_source, query.wanted)}
        away = {key for wanted in query.wanted for key in like.get(wanted, ())}
        left = {s.path for s in library if _source(s.path) not in sources} - away
        unrelated.append(_first(index, query.text, frozenset(left))[1])
    forbidden = []
    for query in bench.unwanted:
        key, strength = _first(index, query.text, None)
        forbidden.append(strength if key in query.wanted else 0.0)
    idle_prompts = IDLE.read_text(encoding="utf-8").splitlines()
    idle = [_first(index, prompt, None)[1] for prompt in idle_prompts]
    index.close()
    print(f"\nOffers, library of {SIZE}: {len(hits)} hits of {len(bench.queries)} queries")
    print("  threshold  hits kept  wrong offers  unrelated  idle  forbidden on top")
    steps = sorted({*(0.2 * n for n in range(16)), THRESHOLD})
    for step in steps:
        told = "  <- in force" if step == THRESHOLD else ""
        shares = (_share(values, step) for values in (hits, misses, unrelated, idle, forbidden))
        print(f"  {step:9.2f}" + "".join(f"{share:11.3f}" for share in shares) + told)
    at = sorted(unrelated)[int(len(unrelated) * (1 - MOST_UNRELATED))]
    print(f"  unrelated at 5 % would be {at:.2f}, which keeps {_share(hits, at):.3f}")
    missed = []
    if _share(unrelated, THRESHOLD) > MOST_UNRELATED:
        missed.append(f"unrelated prompts get offers: {_share(unrelated, THRESHOLD):.3f}")
    if _share(idle, THRESHOLD) > MOST_IDLE:
        missed.append(f"idle prompts get offers: {_share(idle, THRESHOLD):.3f}")
    if _share(hits, THRESHOLD) < FEWEST_KEPT:
        missed.append(f"hits kept: {_share(hits, THRESHOLD):.3f}, wanted {FEWEST_KEPT}")
    return missed


def _share(values: list[float], threshold: float) -> float:
    return sum(value >= threshold for value in values) / (len(values) or 1)


def _first(index: SqliteIndex, text: str, scopes: frozenset[str] | None) -> tuple[str, float]:
    found = find(index, text, ACTIVE, scopes, QUICK)
    if not found.candidates:
        return "", 0.0
    measure_strength(index, found)
    return found.candidates[0].key, found.candidates[0].strength


def _like_each(index: SqliteIndex, library: Sequence[Skill]) -> dict[str, list[str]]:
    return {
        skill.path: [
            candidate.key
            for candidate in find(
                index, f"{skill.name} {skill.description}", ACTIVE, None
            ).candidates[: NEAREST + 1]
        ]
        for skill in library[:LABELLED]
    }


def _source(key: str) -> str:
    return key.partition(":")[0]


def _library(bench: Bench) -> SqliteIndex:
    path = bench.work / f"offers-{SIZE}.sqlite"
    path.unlink(missing_ok=True)
    index = SqliteIndex(path)
    skills = [replace(skill, scope=skill.path) for skill in bench.skills[:SIZE]]
    index.update([document_of(skill, skill.path, "1") for skill in skills], [])
    return index
