"""An `EmbeddingProvider` without network or key: the static model inside wordllama's wheel.

pip install 'skill-learner[semantic]'
engine = SkillEngine(config, llm, embedding_provider=StaticEmbeddings())
"""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from typing import Any

from skill_learner.errors import ProviderUnavailableError

MODEL = "wordllama l2_supercat_256"
_QUERY_CHARACTERS = 2_000
_SAYS_LITTLE = 3.0
"""Length of the vectors of words like `the`, `with` and `an`, or less."""


class StaticEmbeddings:
    """Averaged word vectors of 256 dimensions, loaded at the first use. Raises
    ProviderUnavailableError where the extra `semantic` is not installed."""

    model_name = MODEL
    provider_id = "skill_learner.StaticEmbeddings"
    blend_weight, likeness_weight = 0.3, 1.0
    """Alone the cosine finds less than words do (hit@1 .31 against .58 among 10,000 skills), the
    likeness too (.41); added to their score they find more (.61)."""

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = threading.Lock()
        if importlib.util.find_spec("wordllama") is None:
            raise ProviderUnavailableError(
                "wordllama is not installed", "pip install 'skill-learner[semantic]'"
            )

    def embed(self, texts: list[str]) -> list[list[float]]:
        with self._lock:
            rows: list[list[float]] = self._loaded().embed(texts, norm=True).tolist()
        return rows

    def likeness(self, query: str, texts: list[str]) -> list[float]:
        """For each text how well the query's words are met in it: the cosine of each with the word
        that is nearest to it, on average. A word counts by the length of its vector, which the
        model has made long for words that tell much."""
        import numpy

        with self._lock:
            model = self._loaded()
            asked, *told = (
                numpy.unique([n for n, used in zip(e.ids, e.attention_mask, strict=True) if used])
                for e in model.tokenize([query[:_QUERY_CHARACTERS], *texts])
            )
        vectors = model.embedding
        lengths = numpy.linalg.norm(vectors[asked], axis=1) if len(asked) else numpy.zeros(0)
        asked, weights = asked[lengths > _SAYS_LITTLE], lengths[lengths > _SAYS_LITTLE]
        if not len(asked):
            return [0.0] * len(texts)
        directions = vectors[asked] / weights[:, None]
        found = []
        for words in told:
            near = vectors[words] if len(words) else numpy.zeros((1, vectors.shape[1]))
            near = near / numpy.maximum(numpy.linalg.norm(near, axis=1, keepdims=True), 1e-9)
            best = (directions @ near.T).max(axis=1)
            found.append(float((weights * best).sum() / weights.sum()))
        return found

    def _loaded(self) -> Any:
        if self._model is None:
            self._model = _load()
        return self._model


def _load() -> Any:
    """The model from the wheel alone. wordllama looks for its tokenizer in a folder of another name
    than the wheel has, and then asks the network; named as its cache, the wheel's own is found."""
    import wordllama

    package = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=package, disable_download=True)
