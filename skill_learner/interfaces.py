"""The seams of the house: one Protocol for each thing that has several implementations."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol, SupportsFloat, runtime_checkable

from skill_learner.models import CallResult, Digest, Episode, Review, Session, Skill, Usage
from skill_learner.ranking.plan import Plan
from skill_learner.ranking.score import Candidate


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
    tool definitions {"name", "description", "input_schema"}. The answer has `content` and
    `tool_calls` (`LLMResponse`); one of an SDK, a dict or a text is taken too, and each also from a
    coroutine. May raise anything: callers translate to ProviderError."""

    def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> Any: ...


class PlainLLMProvider(LLMProvider, Protocol):
    """One whose answers are `LLMResponse` objects, as are those of `connect`."""

    def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> LLMResponse: ...


class Array(Protocol):
    """An array of numpy, torch and their like."""

    def tolist(self) -> Any: ...


Vectors = Sequence[Iterable[SupportsFloat]] | Array
"""One vector for each text: rows of numbers, or an array of two dimensions."""


@runtime_checkable
class EmbeddingProvider(Protocol):
    def embed(self, texts: list[str]) -> Vectors: ...


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
    """score: higher is better, in 0..1, comparable within one query only. strength: comparable
    between queries (see `ranking.strength`). signals: what made the score, by name."""

    skill: Skill
    score: float
    matched: Mapping[str, tuple[str, ...]]
    strength: float = 0.0
    signals: Mapping[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class IndexDocument:
    """A skill as an index sees it.

    key: its place in the library. stamp: see `SkillLibrary.stamps`. content_hash: equal for equal
    content, state and scope. The texts are ready for indexing: `parts` the words inside code words,
    `bigrams` pairs of characters of scripts that write no spaces. head: lines of stems, see
    `ranking.score.HEAD_LINES`. summary: the beginning of the description.
    """

    key: str
    stamp: str
    content_hash: str
    state: str
    scope: str
    name: str
    description: str
    triggers: str = ""
    asks: str = ""
    prose: str = ""
    code: str = ""
    parts: str = ""
    bigrams: str = ""
    head: str = ""
    summary: str = ""


class SkillIndex(Protocol):
    """A derived index over the library: it may be thrown away and made again at any time.

    Raises IndexUnusableError when it cannot work at all (no disk, no FTS5)."""

    def holds(self, mark: str) -> bool:
        """Whether `seal` was told this mark, and nothing was written since."""

    def seal(self, mark: str) -> None:
        """All of the library in the state with this mark has been looked at, and is here if it can
        be used. Left undone when another process has written since this one asked for `stamps`."""

    def stamps(self) -> dict[str, tuple[str, str]]:
        """For each key, stamp and content hash as last told; empty after a rebuild."""

    def update(self, changed: Sequence[IndexDocument], removed: Sequence[str]) -> None:
        """Replace and remove documents, in one step."""

    def finish(self) -> None:
        """Many documents were taken in: a time to put in order what that left in pieces."""

    def restamp(self, stamps: Mapping[str, str]) -> None:
        """Give documents whose content is unchanged a new stamp."""

    def size(self) -> int:
        """How many documents there are."""

    def frequencies(self, words: Sequence[str]) -> dict[str, int]:
        """In about how many documents each of `words` occurs, for those that occur at all."""

    def name_words(self, beginning: str) -> list[str]:
        """Words of names that begin so; those of removed documents may be among them."""

    def match(
        self, plan: Plan, states: Collection[str], scopes: Collection[str] | None, limit: int
    ) -> list[Candidate]:
        """The best documents of these states and scopes (None: of all) that hold any of the plan's
        words, with what the index says of each in the signals WHOLE and PHRASE."""

    def holding(self, key: str, words: Sequence[str]) -> set[str]:
        """Those of `words` that occur anywhere in a document."""

    def clear(self) -> None: ...

    def close(self) -> None: ...
