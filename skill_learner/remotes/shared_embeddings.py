"""Embeddings that a fleet makes once: those of skills' texts are looked up before they are made.

Only texts of skills are shared, by the hash of the text and the model's name; what somebody
searches for never leaves the machine. A remote that fails is left alone for a while.
"""

from __future__ import annotations

import contextlib
import hashlib
import logging
import threading
import time
from collections.abc import Mapping, Sequence
from typing import Any

from skill_learner.errors import RemoteError
from skill_learner.interfaces import EmbeddingProvider, Vectors
from skill_learner.remotes.protocol import VectorRemote

log = logging.getLogger("skill_learner")

_PAUSE_SECONDS = 60.0
_CLOSE_SECONDS = 2.0


class SharedEmbeddings:
    """An embedding provider in front of another, sharing what it embeds of documents.

    model: names the vectors among all that the remote keeps; two providers that give different
    vectors of one dimension must differ in it. adds: whether the remote is given what was made."""

    def __init__(
        self, own: EmbeddingProvider, remote: VectorRemote, model: str, *, adds: bool = True
    ) -> None:
        self._own = own
        self._remote = remote
        self._model = model
        self._adds = adds
        self._dimension = 0
        """Of the provider's own vectors; 0 until it made one."""
        self._rest_until = 0.0
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def embed(self, texts: list[str]) -> Vectors:
        answer: Any = self._own.embed(texts)
        with contextlib.suppress(TypeError, IndexError, KeyError):  # its user says what is wrong
            self._dimension = len(answer[0])
        vectors: Vectors = answer
        return vectors

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Vectors of skills' texts; only those that nobody made yet are made here, and one by which
        the provider shows which dimension its vectors have."""
        hashes = [hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts]
        by_hash = dict(zip(hashes, texts, strict=True))
        known: dict[str, list[float]] = {}
        if by_hash and not self._dimension:
            known = self._made(dict([next(iter(by_hash.items()))]))
        fresh = dict(known)
        known |= self._ask([name for name in by_hash if name not in known])
        missing = {name: text for name, text in by_hash.items() if name not in known}
        if missing:
            made = self._made(missing)
            fresh, known = {**fresh, **made}, {**known, **made}
        self._tell(fresh)
        return [known[name] for name in hashes]

    def close_remote(self) -> None:
        """The host's own provider stays open. A question that hangs keeps its connection."""
        if self._lock.acquire(timeout=_CLOSE_SECONDS):
            try:
                self._remote.close()
            finally:
                self._lock.release()

    def _made(self, texts: Mapping[str, str]) -> dict[str, list[float]]:
        answer: Any = self.embed(list(texts.values()))
        rows = answer.tolist() if hasattr(answer, "tolist") else answer
        vectors = [[float(value) for value in row] for row in rows]
        return dict(zip(texts, vectors, strict=True))

    def _ask(self, hashes: Sequence[str]) -> dict[str, list[float]]:
        """A vector of another dimension is none; it is replaced by the one that is made."""
        with self._lock:
            if not hashes or time.monotonic() < self._rest_until:
                return {}
            try:
                found = self._remote.vectors(self._name, hashes)
            except RemoteError as problem:
                self._rest(problem)
                return {}
        return {name: row for name, row in found.items() if len(row) == self._dimension}

    def _tell(self, vectors: dict[str, list[float]]) -> None:
        with self._lock:
            if not self._adds or not vectors or time.monotonic() < self._rest_until:
                return
            try:
                self._remote.put_vectors(self._name, vectors)
            except RemoteError as problem:
                self._rest(problem)

    @property
    def _name(self) -> str:
        """Providers whose vectors have different dimensions do not share them, whatever they are
        called."""
        return f"{self._model} [{self._dimension}]"

    def _rest(self, problem: RemoteError) -> None:
        self._rest_until = time.monotonic() + _PAUSE_SECONDS
        log.warning("shared embeddings: %s", problem.message)
