"""The seams of the house: one Protocol for each thing that has several implementations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol, runtime_checkable

from skill_learner.models import CallResult, Digest, Episode, Review, Session, Skill, Usage


class LLMToolCall(Protocol):
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> dict[str, Any]: ...


class LLMResponse(Protocol):
    """An answer. `usage`, where an implementation has it, is read with getattr."""

    @property
    def content(self) -> str: ...
    @property
    def tool_calls(self) -> Sequence[LLMToolCall]: ...


@runtime_checkable
class LLMProvider(Protocol):
    """Anything that completes a chat. messages are {"role", "content"} dicts; tools are JSON-schema
    tool definitions {"name", "description", "input_schema"}. May raise anything: callers translate
    to ProviderError."""

    def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> LLMResponse: ...


@runtime_checkable
class EmbeddingProvider(Protocol):
    def embed(self, texts: list[str]) -> list[list[float]]: ...


@dataclass(frozen=True)
class ReviewRequest:
    """Everything a reviewer may see. neighbours: the nearest existing skills, at most five."""

    session: Session
    digest: Digest
    episodes: tuple[Episode, ...]
    neighbours: tuple[Skill, ...]


class Reviewer(Protocol):
    """Turns a session into proposals. name is stored with each job ("offline", "llm:claude-cli").
    Raises ProviderError when the LLM behind it failed for good."""

    @property
    def name(self) -> str: ...

    def review(self, request: ReviewRequest) -> Review: ...


class CallMeter(Protocol):
    """Watches what the LLM calls of one review cost.

    begin: before a call, with an estimate of its tokens; raises CeilingReachedError when a daily
    ceiling forbids it. end: after it, with what it cost (None when unknown) and how it went:
    "ok", "faulty", "error", "timeout" or "unavailable".
    """

    def begin(self, tokens: int) -> None: ...

    def end(self, usage: Usage | None, result: CallResult) -> None: ...


@runtime_checkable
class MeteredReviewer(Protocol):
    """A reviewer whose work costs something: it tells `meter`, when set, of each LLM call."""

    provider_name: str
    model: str
    meter: CallMeter | None

    @property
    def name(self) -> str: ...

    def review(self, request: ReviewRequest) -> Review: ...


class TranscriptReader(Protocol):
    """Reads one transcript format. `detect` looks at the first kilobytes and the path only."""

    FORMAT: str

    def detect(self, path: Path, head: bytes) -> bool: ...

    def read(self, path: Path) -> Session: ...


@dataclass(frozen=True)
class SearchHit:
    """score: higher is better, comparable within one query only."""

    skill: Skill
    score: float
    matched: Mapping[str, tuple[str, ...]]
