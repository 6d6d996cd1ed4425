"""Embeddings that a fleet makes once: those of skills' texts are looked up before they are made.

Only texts of skills are shared, by the hash of the text and the model's name; what somebody
searches for never leaves the machine. A remote that fails is left alone for a while.
"""

from __future__ import annotations

import hashlib
import logging
import threading
import time
from collections.abc import Sequence
from typing import Any

from skill_learner.errors import RemoteError
from skill_learner.interfaces import EmbeddingProvider
from skill_learner.remotes.protocol import VectorRemote

log = logging.getLogger("skill_learner")

_PAUSE_SECONDS = 60.0


class SharedEmbeddings:
    """An embedding provider in front of another, sharing what it embeds of documents.

    model: names the vectors among all that the remote keeps; two providers that give different
    vectors must differ in it."""

    def __init__(self, own: EmbeddingProvider, remote: VectorRemote, model: str) -> None:
        self._own = own
        self._remote = remote
        self._model = model
        self._rest_until = 0.0
        self._lock = threading.Lock()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._own, name)

    def embed(self, texts: list[str]) -> list[list[float]]:
        return self._own.embed(texts)

    def embed_documents(self, texts: list[str]) -> list[list[float]]:
        """Vectors of skills' texts; only those that nobody made yet are made here."""
        hashes = [hashlib.sha256(text.encode("utf-8", "replace")).hexdigest() for text in texts]
        known = self._ask(hashes)
        missing = [at for at, name in enumerate(hashes) if name not in known]
        if missing:
            answer: Any = self._own.embed([texts[at] for at in missing])
            rows = answer.tolist() if hasattr(answer, "tolist") else answer
            made = [[float(value) for value in row] for row in rows]
            fresh = {hashes[at]: row for at, row in zip(missing, made, strict=True)}
            self._tell(fresh)
            known = {**known, **fresh}
        return [known[name] for name in hashes]

    def _ask(self, hashes: Sequence[str]) -> dict[str, list[float]]:
        with self._lock:
            if time.monotonic() < self._rest_until:
                return {}
            try:
                return self._remote.vectors(self._model, hashes)
            except RemoteError as problem:
                self._rest(problem)
                return {}

    def _tell(self, vectors: dict[str, list[float]]) -> None:
        with self._lock:
            if time.monotonic() < self._rest_until:
                return
            try:
                self._remote.put_vectors(self._model, vectors)
            except RemoteError as problem:
                self._rest(problem)

    def _rest(self, problem: RemoteError) -> None:
        self._rest_until = time.monotonic() + _PAUSE_SECONDS
        log.warning("shared embeddings: %s", problem.message)
