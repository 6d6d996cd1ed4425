"""The backend without a database: an index in memory, filled from the files by each process."""

from __future__ import annotations

import math
import re
import threading
from array import array
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from skill_learner.interfaces import IndexDocument
from skill_learner.ranking.plan import Plan
from skill_learner.ranking.score import Candidate
from skill_learner.ranking.words import parse_query

_WORD = re.compile(r"[^\W_]+")
_ENDINGS = re.compile(r"(?:ations?|ings?|edly|ed|ies|es|s|ly|e)$")
_WEIGHTS = {
    "name": 10.0,
    "description": 5.0,
    "triggers": 5.0,
    "asks": 5.0,
    "prose": 1.0,
    "code": 0.3,
    "parts": 0.5,
    "bigrams": 0.15,
}
_K1, _B = 1.2, 0.75
_DEAD_FLOOR = 500


class FilesystemIndex:
    """BM25 over what `update` was given. The path is taken for the registry's sake and not used.

    A changed document gets a new slot; when many slots are dead, `stamps` reports an empty index,
    which makes the caller fill it afresh.
    """

    def __init__(self, db: Path | None = None) -> None:
        self._lock = threading.RLock()
        self._forget()

    def _forget(self) -> None:
        self._slots: list[IndexDocument | None] = []
        self._by_key: dict[str, int] = {}
        self._name_words: set[str] = set()
        self._whole = _Postings()
        self._sealed: str | None = None

    def holds(self, mark: str) -> bool:
        return self._sealed == mark

    def seal(self, mark: str) -> None:
        self._sealed = mark

    def stamps(self) -> dict[str, tuple[str, str]]:
        with self._lock:
            dead = len(self._slots) - len(self._by_key)
            if dead > _DEAD_FLOOR + len(self._by_key) // 4:
                self._forget()
            live = [document for document in self._slots if document is not None]
            return {document.key: (document.stamp, document.content_hash) for document in live}

    def update(self, changed: Sequence[IndexDocument], removed: Sequence[str]) -> None:
        with self._lock:
            self._sealed = None
            for key in [*removed, *(document.key for document in changed)]:
                slot = self._by_key.pop(key, None)
                if slot is not None:
                    self._slots[slot] = None
            for document in changed:
                self._add(document)

    def _add(self, document: IndexDocument) -> None:
        slot = len(self._slots)
        columns = {name: _tokens(getattr(document, name)) for name in _WEIGHTS}
        self._whole.add(slot, columns)
        self._name_words.update(parse_query(document.name).words)
        self._slots.append(replace(document, prose="", code="", parts="", bigrams=""))
        self._by_key[document.key] = slot

    def restamp(self, stamps: Mapping[str, str]) -> None:
        with self._lock:
            self._sealed = None
            for key, stamp in stamps.items():
                slot = self._by_key.get(key)
                document = None if slot is None else self._slots[slot]
                if slot is not None and document is not None:
                    self._slots[slot] = replace(document, stamp=stamp)

    def finish(self) -> None:
        pass

    def size(self) -> int:
        return len(self._by_key)

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        with self._lock:
            counts = {
                word: sum(self._slots[slot] is not None for slot in self._whole.slots(_stem(word)))
                for word in dict.fromkeys(words)
            }
        return {word: count for word, count in counts.items() if count}

    def name_words(self, beginning: str) -> list[str]:
        with self._lock:
            return sorted(word for word in self._name_words if word.startswith(beginning))

    def match(
        self, plan: Plan, states: Collection[str], scopes: Collection[str] | None, limit: int
    ) -> list[Candidate]:
        words = [*map(_stem, plan.words), *plan.bigrams]

        def eligible(slot: int) -> bool:
            document = self._slots[slot]
            return (
                document is not None
                and document.state in states
                and (scopes is None or document.scope in scopes)
            )

        with self._lock:
            whole = self._whole.scores(words, eligible)
            best = sorted(whole, key=lambda slot: -whole[slot])[:limit]
            found = [(slot, document) for slot in best if (document := self._slots[slot])]
        return [
            Candidate(d.key, d.name, d.summary, d.head, whole[slot], 0.0, slot) for slot, d in found
        ]

    def holding(self, key: str, words: Sequence[str]) -> set[str]:
        with self._lock:
            slot = self._by_key.get(key)
            return {word for word in words if slot in self._whole.slots(_stem(word))}

    def clear(self) -> None:
        with self._lock:
            self._forget()

    def close(self) -> None:
        self.clear()


class _Postings:
    """For each term the slots that hold it, each with a weighted count; packed, since ten thousand
    skills have millions of them."""

    def __init__(self) -> None:
        self._terms: dict[str, tuple[array[int], array[float]]] = {}
        self._lengths: dict[int, int] = {}
        self._total_length = 0

    def add(self, slot: int, columns: Mapping[str, Sequence[str]]) -> None:
        weighted: dict[str, float] = {}
        for column, tokens in columns.items():
            for token in tokens:
                weighted[token] = weighted.get(token, 0.0) + _WEIGHTS[column]
        for token, weight in weighted.items():
            slots, weights = self._terms.setdefault(token, (array("L"), array("f")))
            slots.append(slot)
            weights.append(weight)
        self._lengths[slot] = sum(map(len, columns.values()))
        self._total_length += self._lengths[slot]

    def slots(self, term: str) -> Sequence[int]:
        return self._terms[term][0] if term in self._terms else ()

    def scores(self, terms: Iterable[str], eligible: Callable[[int], bool]) -> dict[int, float]:
        """BM25 of every eligible slot that holds any of the terms."""
        mean = self._total_length / len(self._lengths) if self._lengths else 1.0
        scores: dict[int, float] = {}
        for term in dict.fromkeys(terms):
            if term not in self._terms:
                continue
            slots, weights = self._terms[term]
            rarity = math.log((len(self._lengths) - len(slots) + 0.5) / (len(slots) + 0.5))
            for slot, weight in zip(slots, weights, strict=True):
                if eligible(slot):
                    damping = _K1 * (1 - _B + _B * self._lengths[slot] / (mean or 1.0))
                    gain = max(rarity, 1e-6) * weight * (_K1 + 1) / (weight + damping)
                    scores[slot] = scores.get(slot, 0.0) + gain
        return scores


def _tokens(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    """A word without its commonest English endings, so that `building` finds `build`."""
    word = word.lower()
    return _ENDINGS.sub("", word) if word.isascii() and len(word) > 4 else word
