"""From a text to ranked skills, over any index."""

from skill_learner.ranking.background import background_counts, read_background
from skill_learner.ranking.plan import BACKGROUND_SIZE, THOROUGH, Effort, Plan, make_plan
from skill_learner.ranking.score import Candidate, rank
from skill_learner.ranking.strength import LOOKED_AT, THRESHOLD, strength
from skill_learner.ranking.typos import can_be_typo, nearest_name
from skill_learner.ranking.words import Query, parse_query, stem

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from typing import Protocol

    class Index(Protocol):
        """The part of `interfaces.SkillIndex` that finding needs."""

        def size(self) -> int: ...

        def frequencies(self, words: Sequence[str]) -> dict[str, int]: ...

        def name_words(self, beginning: str) -> list[str]: ...

        def match(
            self,
            plan: Plan,
            states: Collection[str],
            scopes: Collection[str] | None,
            limit: int,
        ) -> list[Candidate]: ...

        def holding(self, key: str, words: Sequence[str]) -> set[str]: ...


_MOST_TYPOS = 3


class Found:
    """plan: how the query was taken. candidates: best first."""

    __slots__ = ("candidates", "plan")

    def __init__(self, plan: Plan, candidates: list[Candidate]) -> None:
        self.plan = plan
        self.candidates = candidates


def find(
    index: "Index",
    text: str,
    states: "Collection[str]",
    scopes: "Collection[str] | None",
    effort: Effort = THOROUGH,
) -> Found:
    """The skills of these states and scopes that share words with a text, best first."""
    query = parse_query(text)
    known = index.frequencies(query.words + query.bigrams)
    _correct(index, query, known)
    stems = list(dict.fromkeys(map(stem, query.words))) + query.bigrams
    usual = background_counts(stems, read_background(), BACKGROUND_SIZE)
    plan = make_plan(query, known, usual, index.size(), effort)
    return Found(plan, rank(plan, index.match(plan, states, scopes, effort.candidates)))


def measure_strength(index: "Index", found: Found, first: int = LOOKED_AT) -> None:
    """Fill in `strength` of the `first` candidates. Of those that cannot reach the threshold it is
    what they would have if every word occurred in their bodies, or less."""
    plan, size = found.plan, index.size()
    for candidate in found.candidates[:first]:
        most = strength(candidate, plan, set(plan.words), size)
        if most < THRESHOLD:
            candidate.strength = most
            continue
        head = set(candidate.head.split())
        unseen = [word for word in plan.words if plan.stems[word] not in head]
        candidate.strength = strength(candidate, plan, index.holding(candidate.key, unseen), size)


def _correct(index: "Index", query: Query, known: dict[str, int]) -> None:
    """Read words that occur nowhere as the name's word that they nearly are."""
    unknown = [word for word in query.words if word not in known and can_be_typo(word)]
    for word in unknown[:_MOST_TYPOS]:
        meant = nearest_name(word, index.name_words(word[0]))
        count = index.frequencies([meant]).get(meant, 0) if meant else 0
        if not count:
            continue
        query.words = [meant if each == word else each for each in query.words]
        query.follows = [
            (meant if first == word else first, meant if second == word else second)
            for first, second in query.follows
        ]
        known[meant] = count
