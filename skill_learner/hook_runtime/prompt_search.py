"""The library's index asked for a prompt, read-only, by a process that lives for a moment."""

from skill_learner.hook_runtime.bare_sqlite import sqlite3
from skill_learner.hook_runtime.deadline import left
from skill_learner.hook_runtime.offer import Offer, Offering
from skill_learner.ranking import sqlite_reader
from skill_learner.ranking.find import Found, find, measure_strength
from skill_learner.ranking.plan import QUICK
from skill_learner.ranking.score import Candidate
from skill_learner.ranking.strength import STRONG, THRESHOLD

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Sequence
    from sqlite3 import Connection

    from skill_learner.ranking.plan import Plan

MOST_OFFERS = 2
_NEARLY_AS_GOOD = 0.75
_SHORT_BODY = 3_000
_MOST_REASONS = 5
_BUSY_SECONDS = 0.2
_ACTIVE = frozenset({"active"})


class ReadOnlyIndex:
    """What `ranking.find` needs of an index, over one connection."""

    def __init__(self, connection: "Connection") -> None:
        self._connection = connection
        self._numbers: dict[str, int] = {}
        self._size = -1

    def size(self) -> int:
        if self._size < 0:
            self._size = sqlite_reader.size(self._connection)
        return self._size

    def frequencies(self, words: "Sequence[str]") -> dict[str, int]:
        return sqlite_reader.frequencies(self._connection, words)

    def name_words(self, beginning: str) -> list[str]:
        return sqlite_reader.name_words(self._connection, beginning)

    def match(
        self, plan: "Plan", states: "Collection[str]", scopes: "Collection[str] | None", limit: int
    ) -> list[Candidate]:
        found = sqlite_reader.match(self._connection, plan, states, scopes, limit)
        self._numbers = {candidate.key: candidate.number for candidate in found}
        return found

    def holding(self, key: str, words: "Sequence[str]") -> set[str]:
        return sqlite_reader.holding(self._connection, self._numbers[key], words)


def offers_for(offering: Offering, prompt: str) -> list[Offer]:
    """The skills that answer a prompt strongly enough, at most two, best first. An index that is
    missing, busy, damaged or of another version answers nothing: a command will make it anew."""
    try:
        connection = sqlite3.connect(
            _uri(offering.index), timeout=left(_BUSY_SECONDS), isolation_level=None, uri=True
        )
    except sqlite3.Error:
        return []
    try:
        scopes = {offering.call.event.project_key, "user"}
        index = ReadOnlyIndex(connection)
        found = find(index, prompt, _ACTIVE, scopes, QUICK)
        measure_strength(index, found, MOST_OFFERS)
        chosen = _choose(offering, found)
        return [_offer(offering, index, found, candidate) for candidate in chosen]
    except sqlite3.Error:
        return []
    finally:
        connection.close()


def _choose(offering: Offering, found: Found) -> list[Candidate]:
    chosen: list[Candidate] = []
    for candidate in found.candidates[:MOST_OFFERS]:
        if candidate.strength < THRESHOLD:
            continue
        if chosen and candidate.score < _NEARLY_AS_GOOD * chosen[0].score:
            continue
        if offering.is_open(candidate.key) and not offering.is_declined(candidate.key):
            chosen.append(candidate)
    return chosen


def _offer(offering: Offering, index: ReadOnlyIndex, found: Found, candidate: Candidate) -> Offer:
    plan = found.plan
    head = set(candidate.head.split())
    words = [word for word in plan.words if plan.stems[word] in head]
    words = words or sorted(index.holding(candidate.key, plan.words))
    words.sort(key=lambda word: -plan.idf.get(plan.stems[word], 0.0))
    pairs = [pair for pair in plan.bigrams if pair in head]
    body = ""
    if offering.inject == b"body" and candidate.strength >= STRONG:
        body = offering.text_of(candidate.key, _SHORT_BODY)
    return Offer(candidate.key, candidate.summary, [*words, *pairs][:_MOST_REASONS], body)


def _uri(path: bytes) -> str:
    text = path.decode("utf-8", "surrogateescape")
    for character, escaped in (("%", "%25"), ("?", "%3f"), ("#", "%23")):
        text = text.replace(character, escaped)
    return f"file:{text}?mode=ro"
