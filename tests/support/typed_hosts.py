"""What a host may bring along, written as a host that checks its types writes it: mypy reads this
file as strictly as the package."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any

from skill_learner import EmbeddingProvider, LLMProvider, SkillEngine, SkillLoop, create_skill_loop
from skill_learner.providers import connect

NOTHING = json.dumps({"outcome": "routine", "skills": [], "nothing_because": "routine"})


@dataclass
class Answer:
    content: str
    tool_calls: list[SimpleNamespace] = field(default_factory=list)


class PlainLLM:
    def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> Answer:
        return Answer(NOTHING)


class AsyncLLM:
    async def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> SimpleNamespace:
        return SimpleNamespace(content=NOTHING, tool_calls=[])


class TextLLM:
    def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> str:
        return NOTHING


class Matrix:
    """As an array of numpy, which not every host has."""

    def __init__(self, rows: list[list[float]]) -> None:
        self._rows = rows

    def tolist(self) -> list[list[float]]:
        return self._rows


def near_or_far(text: str) -> tuple[float, float]:
    return (1.0, 0.0) if "heap" in text or "leak" in text else (0.0, 1.0)


class Lists:
    def embed(self, texts: list[str]) -> list[list[float]]:
        return [list(near_or_far(text)) for text in texts]


class Tuples:
    def embed(self, texts: Sequence[str]) -> list[tuple[float, float]]:
        return [near_or_far(text) for text in texts]


class Arrays:
    def embed(self, texts: list[str]) -> Matrix:
        return Matrix([list(near_or_far(text)) for text in texts])


LLMS: dict[str, LLMProvider] = {"plain": PlainLLM(), "async": AsyncLLM(), "text": TextLLM()}
EMBEDDINGS: dict[str, EmbeddingProvider] = {
    "lists": Lists(),
    "tuples": Tuples(),
    "arrays": Arrays(),
}


def loops_and_engines(skills_dir: str) -> tuple[SkillLoop, SkillEngine]:
    settings = {"skills_dir": skills_dir}
    loop = create_skill_loop(llm=AsyncLLM(), config=settings, embedding_provider=Tuples())
    return loop, SkillEngine(settings, llm=TextLLM(), embedding_provider=Arrays())


def ask_ours() -> str:
    """The answers of `connect` have their type."""
    return connect("anthropic").complete([{"role": "user", "content": "hello"}]).content
