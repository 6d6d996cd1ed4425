"""Search by meaning over an `EmbeddingProvider`: derived vectors, cosine, and words where it fails.

Vectors are kept with the model's name and dimension, and made again when either changes. A provider
that raises, is slow, or answers in a wrong shape is left alone for a while; nothing is raised.
"""

from __future__ import annotations

import contextlib
import heapq
import logging
import math
import sqlite3
import threading
import time
from array import array
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from operator import mul
from typing import Any, Protocol

from skill_learner.errors import LibraryError, SkillFormatError
from skill_learner.interfaces import EmbeddingProvider
from skill_learner.models import Skill
from skill_learner.search.blend import Weights
from skill_learner.search.skill_search import USER_SCOPE
from skill_learner.search.vector_store import VectorStore

log = logging.getLogger("skill_learner")

BATCH = 64
TEXT_CHARACTERS = 2_000
_PAUSE_AFTER_FAULT = 60.0

Bounded = Callable[[Callable[[], Any], float], Any]
"""Runs work within so many seconds, else raises TimeoutError."""


class EmbeddingFaultError(Exception):
    """The provider's answer is not what it should be."""


class EmbeddedLibrary(Protocol):
    def at(self, key: str) -> Skill: ...


@dataclass(frozen=True)
class Known:
    """What the search index knows of a skill, without reading its file."""

    content_hash: str
    state: str
    scope: str


@dataclass(frozen=True)
class Limits:
    """threshold: least cosine of a result. timeout: seconds that a search or a save waits for the
    provider; bounded: how such a limit is kept."""

    threshold: float
    timeout: float
    bounded: Bounded


class EmbeddingSearch:
    """known: what the library holds now, by key. model: changes whenever the vectors would.

    weights: None where the cosine alone ranks. A provider that is weaker than words says by its own
    `blend_weight` how much its cosine adds to their score, and by `likeness_weight` how much its
    `likeness(query, texts)`.
    """

    def __init__(
        self,
        library: EmbeddedLibrary,
        known: Callable[[], Mapping[str, Known]],
        provider: EmbeddingProvider,
        store: VectorStore,
        model: str,
        limits: Limits,
    ) -> None:
        self.weights = _weights_of(provider)
        self._library = library
        self._known = known
        self._provider = provider
        self._store = store
        self._model = model
        self._limits = limits
        self._lock = threading.RLock()
        self._rest_until = 0.0
        self._last_error = ""
        self._embedded = self._wanted = 0

    def relevant(self, query: str, top_k: int, scope: str | None) -> list[Skill] | None:
        """The active skills whose cosine with the query reaches the threshold, nearest first;
        None when words are to be used instead."""
        cosines = self.cosines(query, scope)
        if cosines is None:
            return None
        near = [(c, key) for key, c in cosines.items() if c >= self._limits.threshold]
        return self.skills(key for _, key in heapq.nlargest(top_k, near))

    def cosines(self, query: str, scope: str | None) -> dict[str, float] | None:
        """The cosine of each active skill with the query, by the skill's key; None when the
        provider fails, or not all skills are embedded yet."""
        found: dict[str, float] | None = None
        with self._lock, self._guarded():
            known = self._known()
            vectors = self._brought_up_to_date(known) if query.strip() else None
            if vectors is not None:
                asked = self._embed([query])[0]
                if any(len(vector) != len(asked) for _, vector in vectors.values()):
                    self._store.clear()
                    vectors = self._brought_up_to_date(known) or {}
                scopes = None if scope is None else {scope, USER_SCOPE}
                found = {
                    key: sum(map(mul, asked, vector))
                    for key, (_, vector) in vectors.items()
                    if scopes is None or known[key].scope in scopes
                }
        return found

    def likeness(self, query: str, skills: Mapping[str, Skill]) -> dict[str, float]:
        """How like the query the name and description of each skill are, as the provider says;
        nothing when it fails."""
        texts = [short_text_of(skill) for skill in skills.values()]
        found: dict[str, float] = {}
        with self._lock, self._guarded():
            likeness: Any = getattr(self._provider, "likeness", None)
            if likeness is not None and texts:
                told = self._limits.bounded(lambda: likeness(query, texts), self._limits.timeout)
                found = dict(zip(skills, map(float, told), strict=True))
        return found

    def skills(self, keys: Iterable[str]) -> list[Skill]:
        skills = []
        for key in keys:
            with contextlib.suppress(LibraryError, SkillFormatError):
                skills.append(self._library.at(key))
        return skills

    def sync(self) -> None:
        """Embed what is new, in batches; what is not done in time waits for the next call."""
        with self._lock, self._guarded():
            self._brought_up_to_date(self._known())

    def state(self) -> dict[str, Any]:
        return {
            "model": self._model,
            "embedded": self._embedded,
            "of": self._wanted,
            "last_error": self._last_error,
        }

    def close(self) -> None:
        with self._lock:
            self._store.close()

    def _brought_up_to_date(
        self, known: Mapping[str, Known]
    ) -> Mapping[str, tuple[str, array[float]]] | None:
        """The vectors of all active skills; None when the provider rests or needs more time."""
        vectors = self._store.load(self._model)
        wanted = {key: about for key, about in known.items() if about.state == "active"}
        gone = [key for key in vectors if key not in known]
        if gone:
            self._store.drop(gone)
        stale = [
            key
            for key, about in wanted.items()
            if key not in vectors or vectors[key][0] != about.content_hash
        ]
        self._wanted, self._embedded = len(wanted), len(wanted) - len(stale)
        if time.monotonic() < self._rest_until:
            return None
        deadline = time.monotonic() + self._limits.timeout
        for start in range(0, len(stale), BATCH):
            if time.monotonic() >= deadline:
                return None
            batch = self._readable(stale[start : start + BATCH])
            made = self._embed([text for _, text in batch], documents=True)
            self._store.put(
                self._model,
                {
                    key: (wanted[key].content_hash, v)
                    for (key, _), v in zip(batch, made, strict=True)
                },
            )
            self._embedded += len(batch)
        return {key: vectors[key] for key in wanted if key in vectors}

    def _readable(self, keys: Sequence[str]) -> list[tuple[str, str]]:
        texts = []
        for key in keys:
            with contextlib.suppress(LibraryError, SkillFormatError):
                texts.append((key, text_of(self._library.at(key))))
        return texts

    def _embed(self, texts: list[str], *, documents: bool = False) -> list[array[float]]:
        if not texts:
            return []
        embed = self._provider.embed
        if documents:  # texts of skills, which a fleet embeds once
            embed = getattr(self._provider, "embed_documents", embed)
        answer = self._limits.bounded(lambda: embed(texts), self._limits.timeout)
        return unit_vectors(answer, len(texts))

    @contextlib.contextmanager
    def _guarded(self) -> Iterator[None]:
        try:
            yield
        except sqlite3.Error as error:
            self._note(f"{type(error).__name__}: {error}")
            with contextlib.suppress(OSError, sqlite3.Error):
                self._store.clear()
        except Exception as error:
            self._rest_until = time.monotonic() + _PAUSE_AFTER_FAULT
            self._note(f"{type(error).__name__}: {error}")

    def _note(self, why: str) -> None:
        self._last_error = why
        log.warning("embedding: %s; searching by words", why)


def text_of(skill: Skill) -> str:
    """What of a skill is embedded."""
    return f"{short_text_of(skill)}\n{skill.body}"[:TEXT_CHARACTERS]


def short_text_of(skill: Skill) -> str:
    return f"{skill.name.replace('-', ' ')}\n{skill.description}"


def _weights_of(provider: EmbeddingProvider) -> Weights | None:
    cosine, likeness = (
        getattr(provider, name, None) for name in ("blend_weight", "likeness_weight")
    )
    if not isinstance(cosine, (int, float)):
        return None
    return Weights(cosine, likeness if isinstance(likeness, (int, float)) else 0.0)


def unit_vectors(answer: Any, count: int) -> list[array[float]]:
    """The provider's answer as vectors of length 1 and one dimension; EmbeddingFaultError when it
    is of another shape."""
    rows = answer.tolist() if hasattr(answer, "tolist") else answer
    if isinstance(rows, (str, bytes)) or not isinstance(rows, Sequence) or len(rows) != count:
        raise EmbeddingFaultError(f"{count} vectors are expected, not {str(rows)[:60]!r}")
    vectors = [_unit(row) for row in rows]
    if len({len(vector) for vector in vectors}) > 1:
        raise EmbeddingFaultError("the vectors have different dimensions")
    return vectors


def _unit(row: Any) -> array[float]:
    try:
        numbers = [float(number) for number in row]
    except (TypeError, ValueError) as error:
        raise EmbeddingFaultError(f"a vector is expected, not {str(row)[:60]!r}") from error
    length = math.sqrt(sum(number * number for number in numbers))
    if not numbers or not math.isfinite(length):
        raise EmbeddingFaultError("a vector is empty or holds numbers that are none")
    return array("f", [number / (length or 1.0) for number in numbers])
