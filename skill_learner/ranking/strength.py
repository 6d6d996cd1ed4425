"""How strongly a skill answers a text, on a scale that is the same for all texts and libraries.

What counts is how much of what the text tells is found again in the skill, against what the best of
so many skills shares with any text by chance. Little evidence is no evidence, however short the
text: "fix the typo" shares all its words with some skill. `scripts/bench_search --offers` prints
what each threshold would do.
"""

from math import log, sqrt

from skill_learner.ranking.plan import Plan
from skill_learner.ranking.score import ASK, TOGETHER, Candidate

THRESHOLD = 0.98
STRONG = 1.6
"""From here on a short skill may be given whole."""

LOOKED_AT = 3
_IN_BODY = 0.7
_STANDING_TOGETHER = 0.5
_ENOUGH = 8.0
_SMALLEST_LIBRARY = 50


def strength(candidate: Candidate, plan: Plan, held: set[str], size: int) -> float:
    """held: words that occur anywhere in the skill. size: of the library."""
    if plan.mass <= 0:
        return 0.0
    head = set(candidate.head.split())
    evidence = _STANDING_TOGETHER * candidate.signals[TOGETHER]
    counted = set()
    for word, short in plan.stems.items():
        if short in counted or short not in plan.idf:
            continue
        if short in head:
            evidence += plan.idf[short]
            counted.add(short)
        elif word in held:
            evidence += _IN_BODY * plan.idf[short]
            counted.add(short)
    for pair in plan.bigrams:
        if pair in head:
            evidence += plan.idf[pair]
    # an ask that says the same again is as good as everything found
    evidence = max(evidence, candidate.signals[ASK] * plan.mass)
    chance = sqrt(plan.mass * log(max(size, _SMALLEST_LIBRARY) + 2))
    return evidence / chance * min(1.0, evidence / _ENOUGH)
