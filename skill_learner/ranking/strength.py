"""How strongly a skill answers a text, on a scale that is the same for all texts and libraries.

What matters is how much of what the text tells is found again, in the skill's short texts or its
body, against what a skill picked at random from so many would share by chance.
"""

from math import log, sqrt

from skill_learner.ranking.plan import Plan
from skill_learner.ranking.score import ASK, TOGETHER, Candidate

LOOKED_AT = 3
IN_BODY = 0.5
ASKED = 1.0


def strength(candidate: Candidate, plan: Plan, held: set[str], size: int) -> float:
    """held: words of the plan that occur anywhere in the skill."""
    if plan.mass <= 0:
        return 0.0
    head = set(candidate.head.split())
    found = 0.0
    done = set()
    for word in plan.words:
        short = plan.stems[word]
        if short in done or short not in plan.idf:
            continue
        if short in head:
            found += plan.idf[short]
            done.add(short)
        elif word in held:
            found += IN_BODY * plan.idf[short]
            done.add(short)
    for pair in plan.bigrams:
        if pair in head:
            found += plan.idf[pair]
    found += candidate.signals[TOGETHER]
    if candidate.signals[ASK]:
        found += ASKED * candidate.signals[ASK] * plan.mass
    return found / sqrt(plan.mass * log(size + 2))
