"""The backend without a database: an index in memory, filled from the files by each process."""

from __future__ import annotations

import math
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skill_learner.interfaces import IndexDocument, IndexMatch, IndexQuery

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
_HEAD = ("name", "description")
_K1, _B = 1.2, 0.75


@dataclass(frozen=True)
class _Counted:
    document: IndexDocument
    head: Mapping[str, float]
    whole: Mapping[str, float]
    head_length: int
    whole_length: int


class FilesystemIndex:
    """BM25 over what `update` was given. The path is taken for the registry's sake and not used."""

    def __init__(self, db: Path | None = None) -> None:
        self._documents: dict[str, _Counted] = {}
        self._lock = threading.RLock()

    def stamps(self) -> dict[str, tuple[str, str]]:
        with self._lock:
            return {
                key: (counted.document.stamp, counted.document.content_hash)
                for key, counted in self._documents.items()
            }

    def update(self, changed: Sequence[IndexDocument], removed: Sequence[str]) -> None:
        counted = {document.key: _count(document) for document in changed}
        with self._lock:
            self._documents.update(counted)
            for key in removed:
                self._documents.pop(key, None)

    def restamp(self, stamps: Mapping[str, str]) -> None:
        with self._lock:
            for key, stamp in stamps.items():
                if key in self._documents:
                    old = self._documents[key]
                    self._documents[key] = replace(old, document=replace(old.document, stamp=stamp))

    def rarest(self, words: Sequence[str], limit: int) -> list[str]:
        with self._lock:
            counts = {word: self._frequency(_stem(word)) for word in dict.fromkeys(words)}
        found = [word for word, count in counts.items() if count]
        return sorted(found, key=counts.__getitem__)[:limit]

    def match(self, query: IndexQuery) -> list[IndexMatch]:
        words = [_stem(word) for word in query.words]
        with self._lock:
            every = list(self._documents.values())
        eligible = [
            counted
            for counted in every
            if counted.document.state in query.states
            and (query.scopes is None or counted.document.scope in query.scopes)
        ]
        head = _Ranking([c.head for c in every], [c.head_length for c in every], words)
        terms = [*words, *query.bigrams]
        whole = _Ranking([c.whole for c in every], [c.whole_length for c in every], terms)
        matches = [
            IndexMatch(
                c.document.key,
                head.score(c.head, c.head_length),
                whole.score(c.whole, c.whole_length),
            )
            for c in eligible
        ]
        matches = [match for match in matches if match.head or match.whole]
        return sorted(matches, key=lambda match: -match.whole)[: query.limit]

    def clear(self) -> None:
        with self._lock:
            self._documents.clear()

    def close(self) -> None:
        self.clear()

    def _frequency(self, term: str) -> int:
        return sum(term in counted.whole for counted in self._documents.values())


class _Ranking:
    """BM25 for one query: how rare each term is over all documents, then a score for each."""

    def __init__(
        self, documents: Sequence[Mapping[str, float]], lengths: Sequence[int], terms: list[str]
    ) -> None:
        total = len(documents) or 1
        self._mean = sum(lengths) / total or 1.0
        self._idf = {}
        for term in terms:
            hits = sum(term in document for document in documents)
            self._idf[term] = max(math.log((total - hits + 0.5) / (hits + 0.5)), 1e-6)

    def score(self, document: Mapping[str, float], length: int) -> float:
        damping = _K1 * (1 - _B + _B * length / self._mean)
        score = 0.0
        for term, idf in self._idf.items():
            count = document.get(term, 0.0)
            score += idf * count * (_K1 + 1) / (count + damping)
        return score


def _count(document: IndexDocument) -> _Counted:
    columns = {name: _tokens(getattr(document, name)) for name in _WEIGHTS}
    return _Counted(
        document=replace(document, prose="", code="", parts="", bigrams=""),
        head=_weighted((name, columns[name]) for name in _HEAD),
        whole=_weighted(columns.items()),
        head_length=sum(len(columns[name]) for name in _HEAD),
        whole_length=sum(map(len, columns.values())),
    )


def _weighted(columns: Iterable[tuple[str, list[str]]]) -> Mapping[str, float]:
    weighted: dict[str, float] = {}
    for name, tokens in columns:
        for token in tokens:
            weighted[token] = weighted.get(token, 0.0) + _WEIGHTS[name]
    return weighted


def _tokens(text: str) -> list[str]:
    return [_stem(word) for word in _WORD.findall(text)]


def _stem(word: str) -> str:
    """A word without its commonest English endings, so that `building` finds `build`."""
    word = word.lower()
    return _ENDINGS.sub("", word) if word.isascii() and len(word) > 4 else word
