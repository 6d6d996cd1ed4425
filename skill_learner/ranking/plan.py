"""What of a query is worth looking up: its rarest words, as far as their lists stay short."""

import math

from skill_learner.ranking.words import Query, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

MOST_WORDS = 24
_FEWEST_WORDS = 3
_FEW_POSTINGS = 500
_MOST_PAIRS = 8
_PAIR_SHARE = 0.3

BIGRAM_WEIGHT = 0.3
BACKGROUND_SIZE = 10_000
_BACKGROUND_WEIGHT = 1_000
"""How many skills of this library the background's frequencies count for."""


class Effort:
    """How much work a search may be. postings: entries that may be walked, as common words of a
    long prompt cost the most time and tell the least; postings_share: the same as a multiple of the
    library's size. candidates: how many are ranked. phrases: whether phrases are looked for."""

    __slots__ = ("candidates", "phrases", "postings", "postings_share")

    def __init__(
        self, postings: int, postings_share: float, candidates: int, phrases: bool
    ) -> None:
        self.postings = postings
        self.postings_share = postings_share
        self.candidates = candidates
        self.phrases = phrases


THOROUGH = Effort(20_000, 1e9, 120, True)
QUICK = Effort(10_000, 0.5, 40, False)
"""For a hook: what is worth an offer stands high in the index's own order."""


class Plan:
    """words, bigrams: to be looked for, rarest first. pairs: phrases of them. idf: how much each
    stem or bigram tells. mass: of all words of the query, also those that occur nowhere."""

    __slots__ = ("bigrams", "follows", "idf", "mass", "pairs", "stems", "words")

    def __init__(self) -> None:
        self.words: list[str] = []
        self.bigrams: list[str] = []
        self.pairs: list[tuple[str, str]] = []
        self.follows: list[tuple[str, str]] = []
        self.idf: dict[str, float] = {}
        self.stems: dict[str, str] = {}
        self.mass = 0.0


def make_plan(
    query: Query,
    known: "Mapping[str, int]",
    background: "Mapping[str, int]",
    size: int,
    effort: Effort = THOROUGH,
) -> Plan:
    """known: in how many skills of the library a word occurs; those in none are left out.
    background: in how many of BACKGROUND_SIZE other skills the stem does. size: of the library."""
    plan = Plan()
    order = sorted((word for word in query.words if word in known), key=known.__getitem__)
    walked = 0
    most = min(effort.postings, max(effort.postings_share * size, _FEW_POSTINGS))
    for word in order[:MOST_WORDS]:
        walked += known[word]
        if walked > most and len(plan.words) >= _FEWEST_WORDS:
            break
        plan.words.append(word)
    pairs = sorted((pair for pair in query.bigrams if pair in known), key=known.__getitem__)
    plan.bigrams = pairs[:MOST_WORDS]
    for word in query.words:
        short = plan.stems[word] = stem(word)
        tells = _idf(known.get(word, 0), background.get(short, 0), size)
        plan.mass += tells
        if word in known:
            plan.idf[short] = min(tells, plan.idf.get(short, tells))
    for pair in query.bigrams:
        tells = BIGRAM_WEIGHT * _idf(known.get(pair, 0), background.get(pair, 0), size)
        plan.mass += tells
        if pair in known:
            plan.idf[pair] = tells
    _choose_pairs(plan, query, known, size)
    if not effort.phrases:
        plan.pairs = []
    return plan


def _idf(count: int, background: int, size: int) -> float:
    share = _BACKGROUND_WEIGHT / BACKGROUND_SIZE
    seen = count + background * share
    return math.log((size + _BACKGROUND_WEIGHT - seen + 0.5) / (seen + 0.5) + 1)


def _choose_pairs(plan: Plan, query: Query, known: "Mapping[str, int]", size: int) -> None:
    used = set(plan.words)
    often = max(_PAIR_SHARE * size, 3)
    told = []
    for first, second in query.follows:
        if first in used and second in used and first != second:
            rarity = min(known[first], known[second])
            if rarity <= often:
                told.append((rarity, first, second))
        stems = (plan.stems.get(first, first), plan.stems.get(second, second))
        if stems[0] in plan.idf and stems[1] in plan.idf and stems[0] != stems[1]:
            plan.follows.append(stems)
    told.sort()
    plan.pairs = [(first, second) for _, first, second in told[:_MOST_PAIRS]]
