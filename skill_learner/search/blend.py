"""Words and meaning as one order, for a model of meaning that is weaker than words are."""

from __future__ import annotations

import heapq
from collections.abc import Mapping
from dataclasses import dataclass

BY_WORDS = 50
BY_MEANING = 20
"""How many of the best of each are ranked together. Nearly all that meaning adds is a better order
of what words find; the nearest are for queries that share no word with their skill."""


@dataclass(frozen=True)
class Weights:
    """What is added to the words' score, which lies in 0..1: so much of the cosine of the whole
    texts, and of the likeness (how well each word of the query has its like in the short text)."""

    cosine: float
    likeness: float = 0.0


def nearest(cosines: Mapping[str, float]) -> list[str]:
    return heapq.nlargest(BY_MEANING, cosines, key=cosines.__getitem__)


def blended(
    words: Mapping[str, float],
    cosines: Mapping[str, float],
    likeness: Mapping[str, float],
    weights: Weights,
) -> list[str]:
    """The keys of `words` and `likeness`, best first; a signal that knows nothing of one says 0."""
    scores = {
        key: words.get(key, 0.0)
        + weights.cosine * cosines.get(key, 0.0)
        + weights.likeness * likeness.get(key, 0.0)
        for key in {*words, *likeness}
    }
    return sorted(scores, key=lambda key: (-scores[key], key))
