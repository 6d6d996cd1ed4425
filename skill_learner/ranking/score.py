"""The order of candidates: six signals, each divided by the best candidate's.

What the full-text index says of the whole skill decides most. The others look at the short texts
(name, description, trigger sentences, stored asks) and at words that stand together.
"""

from skill_learner.ranking.plan import Plan

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

WHOLE, HEAD, TOGETHER, NAME, TRIGGER, PHRASE, ASK = range(7)
SIGNALS = ("whole", "head", "together", "name", "trigger", "phrase", "ask")
WEIGHTS = (0.7, 0.05, 0.1, 0.1, 0.1, 0.1, 0.4)
WEIGHTS_CJK = (0.7, 0.3, 0.3, 0.1, 0.1, 0.2, 0.4)
"""For queries with runs of characters: pairs tell little in long bodies, more in short texts."""

_K1, _B = 1.2, 0.5
_USUAL_HEAD, _USUAL_TRIGGER = 45, 30
_NAME_TIMES, _DESCRIPTION_TIMES = 10, 5
_UNKNOWN_NAME_WORD = 6.0
_NAME_GAP = 5
_NEAR = 4
_MOST_TERMS = 32


class Candidate:
    """One skill that the index found. summary: the beginning of its description. head: lines of
    stems (see `HEAD_LINES`). number: the index's own. signals: what each says, before any division;
    score: the sum that orders."""

    __slots__ = ("head", "key", "name", "number", "score", "signals", "strength", "summary")

    def __init__(  # noqa: PLR0913, PLR0917 - a row of the index
        self,
        key: str,
        name: str,
        summary: str,
        head: str,
        whole: float,
        phrase: float,
        number: int = 0,
    ) -> None:
        self.key = key
        self.name = name
        self.summary = summary
        self.head = head
        self.number = number
        self.signals = [whole, 0.0, 0.0, 0.0, 0.0, phrase, 0.0]
        self.score = 0.0
        self.strength = 0.0


HEAD_LINES = 3
"""A head's first lines are the stems of name, description and further triggers; each line after
them is those of a stored ask."""

TRIGGER_BEGINS, TRIGGER_ENDS = "+", "-"
"""Stand around the sentences of a description that say when to use the skill."""


def rank(plan: Plan, candidates: "Sequence[Candidate]") -> "list[Candidate]":
    """The candidates with their scores in 0..1, best first; equal ones by key."""
    terms = set(sorted(plan.idf, key=plan.idf.__getitem__, reverse=True)[:_MOST_TERMS])
    for candidate in candidates:
        _look_at_head(candidate, plan, terms)
    weights = WEIGHTS_CJK if plan.bigrams else WEIGHTS
    best = [max((c.signals[i] for c in candidates), default=0.0) for i in range(len(weights))]
    for candidate in candidates:
        candidate.score = part_of_best(candidate.signals, best, weights)
    return sorted(candidates, key=lambda candidate: (-candidate.score, candidate.key))


def part_of_best(
    signals: "Sequence[float]", best: "Sequence[float]", weights: "Sequence[float]"
) -> float:
    """How near the signals come to the best of each, 0..1. Both sums are made in the same order and
    by plain additions (`sum` is more exact from Python 3.12 on), or 1 could be exceeded."""
    reached = possible = 0.0
    for weight, signal, top in zip(weights, signals, best, strict=True):
        if top > 0:
            reached += weight * (signal / top)
            possible += weight
    return reached / possible if possible else 0.0


def _look_at_head(candidate: Candidate, plan: Plan, terms: set[str]) -> None:
    lines = candidate.head.split("\n")
    name = lines[0].split() if lines else []
    description, trigger = _description(lines[1] if len(lines) > 1 else "")
    idf, signals = plan.idf, candidate.signals
    places: dict[str, list[int]] = {}
    times: dict[str, int] = {}
    for place, term in enumerate(name):
        if term in terms:
            times[term] = times.get(term, 0) + _NAME_TIMES
            places.setdefault(term, []).append(place)
    start = len(name) + _NAME_GAP
    for place, term in enumerate(description, start):
        if term in terms:
            times[term] = times.get(term, 0) + _DESCRIPTION_TIMES
            places.setdefault(term, []).append(place)
    signals[HEAD] = _bm25(times, idf, (len(name) + len(description)) / _USUAL_HEAD)
    signals[TOGETHER] = _together(plan, places)
    told = {term for term in name if term in terms}
    if told:
        mass = sum(idf[term] for term in told)
        rest = sum(idf.get(term, _UNKNOWN_NAME_WORD) for term in set(name) - told)
        signals[NAME] = mass * mass / (mass + rest)
    if len(lines) > HEAD_LINES - 1:
        trigger += lines[2].split()
    signals[TRIGGER] = _trigger(trigger, terms, idf)
    if len(lines) > HEAD_LINES:
        signals[ASK] = max(_likeness(line, plan) for line in lines[HEAD_LINES:])


def _trigger(trigger: list[str], terms: set[str], idf: dict[str, float]) -> float:
    times: dict[str, int] = {}
    for term in trigger:
        if term in terms:
            times[term] = times.get(term, 0) + 1
    return _bm25(times, idf, len(trigger) / _USUAL_TRIGGER)


def _description(line: str) -> tuple[list[str], list[str]]:
    """All stems of a description, and those of its trigger sentences."""
    if TRIGGER_BEGINS not in line:
        return line.split(), []
    every: list[str] = []
    trigger: list[str] = []
    for part in line.split(TRIGGER_BEGINS):
        told, found, rest = part.partition(TRIGGER_ENDS)
        if found:
            trigger += told.split()
            every += told.split()
            every += rest.split()
        else:
            every += told.split()
    return every, trigger


def _bm25(times: dict[str, int], idf: dict[str, float], length: float) -> float:
    damping = _K1 * (1 - _B + _B * length)
    return sum(idf[term] * n * (_K1 + 1) / (n + damping) for term, n in times.items())


def _together(plan: Plan, places: dict[str, list[int]]) -> float:
    score = 0.0
    for first, second in plan.follows:
        if first in places and second in places:
            gap = min(abs(a - b) for a in places[first] for b in places[second])
            if gap <= _NEAR:
                weight = min(plan.idf[first], plan.idf[second])
                score += weight if gap <= 1 else weight / 2
    return score


def _likeness(ask: str, plan: Plan) -> float:
    """How much of what the query tells an earlier ask told too, and of the ask the query."""
    words = set(ask.split())
    shared = sum(plan.idf[word] for word in words if word in plan.idf)
    if not shared:
        return 0.0
    rest = _UNKNOWN_NAME_WORD * sum(word not in plan.idf for word in words)
    return float(shared / (plan.mass * (shared + rest)) ** 0.5) if plan.mass else 0.0
