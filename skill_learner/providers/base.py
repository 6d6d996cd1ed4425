"""What all providers share: the answer's shape, and one guard for retries, time and errors.

A provider module implements `Backend.send` (one request, one answer, no retry of its own) and
raises ProviderError subclasses; `GuardedProvider` makes an `LLMProvider` of it.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from skill_learner.errors import ProviderError, ProviderTimeoutError, ProviderUnavailableError
from skill_learner.models import Usage

FORBID_REQUESTS = "SKILL_LEARNER_FORBID_REQUESTS"
"""While this variable is set no provider of ours asks anybody (see `testing.forbid_requests`)."""

RETRYABLE_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 529})
UNAVAILABLE_STATUS = frozenset({401, 403})


@dataclass(frozen=True)
class ToolCallAnswer:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class Completion:
    """An `LLMResponse`. cut: the answer was ended by the token limit."""

    content: str
    tool_calls: tuple[ToolCallAnswer, ...] = ()
    usage: Usage | None = None
    cut: bool = False


@dataclass(frozen=True)
class ChatRequest:
    """One request as `LLMProvider.complete` got it; `system` is the text of its system messages."""

    messages: Sequence[Mapping[str, Any]]
    tools: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    max_tokens: int = 2048

    @property
    def system(self) -> str:
        texts = [str(item.get("content", "")) for item in self.messages if _is_system(item)]
        return "\n\n".join(texts)

    @property
    def conversation(self) -> list[dict[str, Any]]:
        """The messages without those of the system."""
        return [dict(item) for item in self.messages if not _is_system(item)]


class Backend(Protocol):
    """One way to ask a model. `send` may take at most `timeout` seconds."""

    @property
    def name(self) -> str: ...

    def send(self, request: ChatRequest, timeout: float) -> Completion: ...


class TransientProviderError(ProviderError):
    """Worth asking again (overload, rate limit, lost connection)."""

    def __init__(self, message: str, hint: str = "", retry_after: float | None = None) -> None:
        super().__init__(message, hint)
        self.retry_after = retry_after


class GuardedProvider:
    """An `LLMProvider` over a backend: at most `attempts` tries and `timeout` seconds in all.

    Raises ProviderError subclasses only; their words never hold one of `secrets`. provider_id says
    whom it asks: the backend's name, and the backend's `address` where that is not the vendor's.
    """

    def __init__(
        self,
        backend: Backend,
        *,
        timeout: float = 180.0,
        attempts: int = 3,
        secrets: Sequence[str] = (),
        sleep: Callable[[float], None] = time.sleep,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = backend.name
        address = getattr(backend, "address", "")
        self.provider_id = f"{backend.name} at {address}" if address else backend.name
        self._backend = backend
        self._timeout = timeout
        self._attempts = attempts
        self._secrets = [secret for secret in secrets if secret]
        self._sleep = sleep
        self._clock = clock

    def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> Completion:
        if os.environ.get(FORBID_REQUESTS):
            raise ProviderUnavailableError(
                f"{self.name}: requests are forbidden here",
                f"unset {FORBID_REQUESTS}, or use skill_learner.testing.ScriptedLLM",
            )
        request = ChatRequest(tuple(messages), tuple(tools or ()), max_tokens)
        deadline = self._clock() + self._timeout
        for attempt in range(1, self._attempts + 1):
            try:
                return self._backend.send(request, max(0.1, deadline - self._clock()))
            except TransientProviderError as error:
                pause = error.retry_after if error.retry_after is not None else 2.0 ** (attempt - 1)
                if attempt == self._attempts or self._clock() + pause >= deadline:
                    raise self._without_secrets(error) from None
                self._sleep(pause)
            except ProviderError as error:
                raise self._without_secrets(error) from None
            except TimeoutError as error:
                raise ProviderTimeoutError(f"{self.name}: {error}") from error
            except Exception as error:
                text = self._scrub(f"{self.name}: {type(error).__name__}: {error}")
                raise ProviderError(text) from None
        raise ProviderError(f"{self.name}: no attempt was allowed")

    def _without_secrets(self, error: ProviderError) -> ProviderError:
        error.message = self._scrub(error.message)
        error.args = (error.message,)
        return error

    def _scrub(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[key]")
        return text


def find_key(env: Mapping[str, str], names: Sequence[str]) -> str:
    """The first of the named variables that holds something, else ""."""
    return next((env[name].strip() for name in names if env.get(name, "").strip()), "")


def _is_system(message: Mapping[str, Any]) -> bool:
    return message.get("role") == "system"
