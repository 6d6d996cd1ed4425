"""Fakes for tests of code that uses skill-learner: no network, no model, no real home folder.

    llm = ScriptedLLM(tool_answer({"outcome": "done", "skills": [], "nothing_because": "routine"}))
    with temporary_library() as config:
        engine = SkillEngine(config=config, llm=llm)

Each fake keeps what it was asked, so that a test can look at it.
"""

from __future__ import annotations

import contextlib
import hashlib
import math
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from skill_learner.models import Usage

if TYPE_CHECKING:
    from skill_learner.config import SkillLearnerConfig

SUBMIT_REVIEW = "submit_review"
_STILL_REVIEWING = 10.0
"""Seconds that the end of a `temporary_library` waits for whoever still writes there."""


@dataclass(frozen=True)
class ScriptedToolCall:
    """A tool call in a scripted answer."""

    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class ScriptedAnswer:
    """What a `ScriptedLLM` answers: an `LLMResponse`."""

    content: str = ""
    tool_calls: tuple[ScriptedToolCall, ...] = ()
    usage: Usage | None = None


@dataclass(frozen=True)
class ScriptedRequest:
    """What a `ScriptedLLM` was asked."""

    messages: list[dict[str, Any]]
    tools: list[dict[str, Any]] | None
    max_tokens: int


class ScriptExhaustedError(AssertionError):
    """More was asked than the script holds."""


Step = ScriptedAnswer | str | Mapping[str, Any] | BaseException
"""An answer; a text (the content); a mapping (arguments of a `submit_review` call); an exception,
which is raised."""


def tool_answer(arguments: Mapping[str, Any], name: str = SUBMIT_REVIEW) -> ScriptedAnswer:
    """An answer that consists of one tool call."""
    return ScriptedAnswer(tool_calls=(ScriptedToolCall(name, dict(arguments)),))


class ScriptedLLM:
    """An `LLMProvider` that gives the scripted answers in their order and records each request.

    A function in the script is called with the request and returns the answer. Asking more often
    than the script has answers raises ScriptExhaustedError, unless `repeat_last`.
    """

    def __init__(
        self, *script: Step | Callable[[ScriptedRequest], Step], repeat_last: bool = False
    ) -> None:
        self._script = list(script)
        self._repeat_last = repeat_last
        self.requests: list[ScriptedRequest] = []

    def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> ScriptedAnswer:
        request = ScriptedRequest([dict(message) for message in messages], tools, max_tokens)
        self.requests.append(request)
        if not self._script:
            raise ScriptExhaustedError(
                f"request {len(self.requests)} came after the script's last answer"
            )
        last = self._repeat_last and len(self._script) == 1
        step = self._script[0] if last else self._script.pop(0)
        if callable(step):
            step = step(request)
        if isinstance(step, BaseException):
            raise step
        if isinstance(step, str):
            return ScriptedAnswer(content=step)
        if isinstance(step, Mapping):
            return tool_answer(step)
        return step

    @property
    def left(self) -> int:
        """How many answers the script still holds."""
        return len(self._script)


@dataclass
class FixedEmbeddings:
    """An `EmbeddingProvider` with the vectors it was given.

    A text that is not in `vectors` gets a unit vector made from its hash: equal texts are equal,
    different ones are near to orthogonal. `batches` holds the texts of each call.
    """

    vectors: Mapping[str, Sequence[float]] = field(default_factory=dict)
    dimension: int = 16
    batches: list[list[str]] = field(default_factory=list)

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.batches.append(list(texts))
        return [self._vector(text) for text in texts]

    def _vector(self, text: str) -> list[float]:
        if text in self.vectors:
            return [float(number) for number in self.vectors[text]]
        bytes_needed = self.dimension
        digest = hashlib.shake_256(text.encode("utf-8", "replace")).digest(bytes_needed)
        raw = [byte - 127.5 for byte in digest]
        length = math.sqrt(sum(number * number for number in raw))
        return [number / length for number in raw]


@contextlib.contextmanager
def forbid_requests() -> Iterator[None]:
    """While this lasts, here and in processes started meanwhile, our providers raise
    ProviderUnavailableError instead of asking anybody. `ScriptedLLM` works as ever."""
    from skill_learner.providers.base import FORBID_REQUESTS

    before = os.environ.get(FORBID_REQUESTS)
    os.environ[FORBID_REQUESTS] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ[FORBID_REQUESTS]
        else:
            os.environ[FORBID_REQUESTS] = before


@contextlib.contextmanager
def temporary_library(**settings: Any) -> Iterator[SkillLearnerConfig]:
    """Settings whose state and library lie in a temporary folder, which is gone afterwards.

    settings: any key of `SkillLearnerConfig`. Nothing is read from the environment or from files,
    and the provider is the offline one unless given.
    """
    from skill_learner.config import SkillLearnerConfig

    folder = Path(tempfile.mkdtemp(prefix="skill-learner-"))
    values: dict[str, Any] = {"state_dir": folder, "provider": "offline", **settings}
    try:
        yield SkillLearnerConfig.from_dict(values)
    finally:
        _remove(folder)


def _remove(folder: Path) -> None:
    """A review that outlived its engine's `exit_wait` may still write here: it ends by itself."""
    deadline = time.monotonic() + _STILL_REVIEWING
    while True:
        shutil.rmtree(folder, ignore_errors=True)
        if not folder.exists() or time.monotonic() > deadline:
            return
        time.sleep(0.05)
