"""A host program's own LLM object, as our reviewer sees it: bounded in time, its answers plain."""

from __future__ import annotations

import asyncio
import contextvars
import inspect
import json
import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skill_learner.errors import ProviderAnswerError, ProviderError, ProviderTimeoutError
from skill_learner.models import Usage

_ADDRESSES = ("base_url", "api_base", "azure_endpoint", "endpoint_url")


@dataclass(frozen=True)
class PlainToolCall:
    name: str
    arguments: dict[str, Any]


@dataclass(frozen=True)
class PlainAnswer:
    """An `LLMResponse`."""

    content: str
    tool_calls: tuple[PlainToolCall, ...]
    usage: Usage | None = None
    cut: bool = False


class HostLLM:
    """An `LLMProvider` over any object with `complete`, also an async one.

    Answers as objects, dicts or strings are taken; None counts as empty. Raises ProviderError
    subclasses only: ProviderTimeoutError when nothing came within `timeout` seconds (the call is
    then left to itself in a thread that does not keep the process alive).
    """

    def __init__(self, llm: Any, timeout: float) -> None:
        self.name = provider_identity(llm)
        self._llm = llm
        self._timeout = timeout

    def complete(
        self,
        messages: list[dict[str, Any]],
        tools: list[dict[str, Any]] | None = None,
        max_tokens: int = 2048,
    ) -> PlainAnswer:
        def ask() -> Any:
            answer = self._llm.complete(messages, tools=tools, max_tokens=max_tokens)
            return asyncio.run(_awaited(answer)) if inspect.isawaitable(answer) else answer

        try:
            answer = bounded(ask, self._timeout)
        except ProviderError:
            raise
        except TimeoutError as error:
            raise ProviderTimeoutError(
                f"{self.name}: no answer within {self._timeout:g} s (provider_timeout)"
            ) from error
        except Exception as error:
            raise ProviderError(f"{self.name}: {type(error).__name__}: {error}") from error
        return plain_answer(answer)


def provider_identity(llm: Any) -> str:
    """A name that is equal for the same way to the same provider in another process.

    `provider_id` of the object where it has one; else its class, with the addresses that it, or
    what it holds (an SDK's client), talks to.
    """
    own = getattr(llm, "provider_id", None)
    if isinstance(own, str) and own:
        return own
    kind = llm if inspect.isfunction(llm) or inspect.isclass(llm) else type(llm)
    name = f"{kind.__module__}.{kind.__qualname__}"
    held = getattr(llm, "__dict__", {})
    addresses = [_address(holder) for holder in (llm, *(held[key] for key in sorted(held)))]
    told = " and ".join(dict.fromkeys(filter(None, addresses)))
    return f"{name} at {told}" if told else name


def _address(holder: Any) -> str:
    for name in _ADDRESSES:
        try:
            address = getattr(holder, name, None)
        except Exception:  # a property of the host's own
            continue
        if isinstance(address, str) or isinstance(getattr(address, "host", None), str):
            return str(address)
    return ""


def bounded(work: Callable[[], Any], timeout: float) -> Any:
    """What `work` returns or raises; TimeoutError when it takes longer than `timeout` seconds.

    What would end a program or a task (SystemExit, CancelledError) ends only the call that it was
    raised in: it becomes a ProviderError.
    """
    outcome: list[tuple[bool, Any]] = []

    def run() -> None:
        try:
            outcome.append((True, work()))
        except BaseException as error:
            outcome.append((False, error))

    context = contextvars.copy_context()
    thread = threading.Thread(target=context.run, args=(run,), name="skill-learner call")
    thread.daemon = True
    try:
        thread.start()
    except RuntimeError:  # the interpreter is ending and starts no more threads
        return work()
    thread.join(timeout)
    if not outcome:
        raise TimeoutError(f"nothing came within {timeout:g} s")
    succeeded, value = outcome[0]
    if succeeded:
        return value
    if isinstance(value, Exception):
        raise value
    raise ProviderError(f"{type(value).__name__}: {value}") from value


def plain_answer(answer: Any) -> PlainAnswer:
    """The answer of a `complete`, whatever shape it has."""
    if answer is None or isinstance(answer, str):
        return PlainAnswer(answer or "", ())
    content = _get(answer, "content")
    calls = _get(answer, "tool_calls") or ()
    if content is not None and not isinstance(content, str):
        from skill_learner.conversation.messages import plain_text

        content = plain_text(content)
    if not isinstance(calls, Sequence):
        raise ProviderAnswerError(f"tool_calls is a {type(calls).__name__}, not a list")
    usage = _get(answer, "usage")
    return PlainAnswer(
        content=content or "",
        tool_calls=tuple(_plain_call(call) for call in calls),
        usage=usage if isinstance(usage, Usage) else None,
        cut=_get(answer, "cut") is True,
    )


def _plain_call(call: Any) -> PlainToolCall:
    function = _get(call, "function")
    source = call if function is None else function
    arguments = _get(source, "arguments")
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments)
        except ValueError as error:
            raise ProviderAnswerError(f"a tool call's arguments are no JSON: {error}") from error
    if not isinstance(arguments, Mapping):
        raise ProviderAnswerError(
            f"a tool call's arguments are a {type(arguments).__name__}, not an object"
        )
    return PlainToolCall(str(_get(source, "name") or ""), dict(arguments))


def _get(item: Any, key: str) -> Any:
    return item.get(key) if isinstance(item, Mapping) else getattr(item, key, None)


async def _awaited(awaitable: Any) -> Any:
    return await awaitable
