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


class StaticEmbeddings:
    """Averaged word vectors of 256 dimensions, loaded at the first use. Raises
    ProviderUnavailableError where the extra `semantic` is not installed."""

    model_name = MODEL
    provider_id = "skill_learner.StaticEmbeddings"
    blend_weight = 0.3
    """Alone it finds less than words do (hit@1 .31 against .58 among 10,000 skills); added to their
    score it finds a little more (.61)."""

    def __init__(self) -> None:
        self._model: Any = None
        self._lock = threading.Lock()
        if importlib.util.find_spec("wordllama") is None:
            raise ProviderUnavailableError(
                "wordllama is not installed", "pip install 'skill-learner[semantic]'"
            )

    def embed(self, texts: list[str]) -> list[list[float]]:
        with self._lock:
            if self._model is None:
                self._model = _load()
            rows: list[list[float]] = self._model.embed(texts, norm=True).tolist()
        return rows


def _load() -> Any:
    """The model from the wheel alone. wordllama looks for its tokenizer in a folder of another name
    than the wheel has, and then asks the network; named as its cache, the wheel's own is found."""
    import wordllama

    package = Path(wordllama.__file__).parent
    return wordllama.WordLlama.load(cache_dir=package, disable_download=True)
