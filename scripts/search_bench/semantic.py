"""Words and meaning together: the `semantic` extra, as `search.finder` blends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from search_bench.data import Bench, rank_of
from skill_learner.ranking.score import Candidate
from skill_learner.search.embeddings import text_of
from skill_learner.search.static_embeddings import StaticEmbeddings

BATCH = 500
NEAREST = 50


def blended_ranks(bench: Bench, size: int, found: Sequence[Sequence[Candidate]]) -> list[int]:
    """The rank of the wanted skill for each query, by score plus weighted cosine."""
    import numpy

    provider = StaticEmbeddings()
    texts = [text_of(skill) for skill in bench.skills[:size]]
    keys = [skill.path for skill in bench.skills[:size]]
    vectors = _unit(
        numpy, [v for n in range(0, size, BATCH) for v in provider.embed(texts[n : n + BATCH])]
    )
    asked = _unit(numpy, provider.embed([query.text for query in bench.queries]))
    ranks = []
    for query, vector, candidates in zip(bench.queries, asked, found, strict=True):
        cosines = vectors @ vector
        scores = {candidate.key: candidate.score for candidate in candidates}
        for place in numpy.argsort(-cosines)[:NEAREST]:
            scores.setdefault(keys[place], 0.0)
        by_key = {key: cosines[place] for place, key in enumerate(keys) if key in scores}
        order = sorted(scores, key=lambda key: -(scores[key] + provider.blend_weight * by_key[key]))
        ranks.append(rank_of(query.wanted, order))
    return ranks


def _unit(numpy: Any, vectors: list[list[float]]) -> Any:
    array = numpy.asarray(vectors, dtype="float32")
    return array / numpy.maximum(numpy.linalg.norm(array, axis=1, keepdims=True), 1e-9)
