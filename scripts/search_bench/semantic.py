"""Words and meaning together: the `semantic` extra, as `search.finder` blends it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from search_bench.data import Bench, rank_of
from skill_learner.ranking.score import Candidate
from skill_learner.search.blend import BY_WORDS, Weights, blended, nearest
from skill_learner.search.embeddings import short_text_of, text_of
from skill_learner.search.static_embeddings import StaticEmbeddings

BATCH = 500


SCALES = (1.0, 0.5, 1.5)


def blended_ranks(
    bench: Bench, size: int, found: Sequence[Sequence[Candidate]]
) -> dict[float, list[int]]:
    """The rank of the wanted skill for each query, as `search.finder` ranks, by what the weights in
    force are multiplied with."""
    import numpy

    provider = StaticEmbeddings()
    texts = [text_of(skill) for skill in bench.skills[:size]]
    keys = [skill.path for skill in bench.skills[:size]]
    vectors = _unit(
        numpy, [v for n in range(0, size, BATCH) for v in provider.embed(texts[n : n + BATCH])]
    )
    asked = _unit(numpy, provider.embed([query.text for query in bench.queries]))
    cosine, like = provider.blend_weight, provider.likeness_weight
    short = {skill.path: short_text_of(skill) for skill in bench.skills[:size]}
    ranks: dict[float, list[int]] = {scale: [] for scale in SCALES}
    for query, vector, candidates in zip(bench.queries, asked, found, strict=True):
        cosines = dict(zip(keys, map(float, vectors @ vector), strict=True))
        by_words = {candidate.key: candidate.score for candidate in candidates[:BY_WORDS]}
        looked_at = list(dict.fromkeys([*by_words, *nearest(cosines)]))
        told = provider.likeness(query.text, [short[key] for key in looked_at])
        likeness = dict(zip(looked_at, told, strict=True))
        for scale in SCALES:
            weights = Weights(scale * cosine, scale * like)
            order = blended(by_words, cosines, likeness, weights)
            ranks[scale].append(rank_of(query.wanted, order))
    return ranks


def _unit(numpy: Any, vectors: list[list[float]]) -> Any:
    array = numpy.asarray(vectors, dtype="float32")
    return array / numpy.maximum(numpy.linalg.norm(array, axis=1, keepdims=True), 1e-9)
