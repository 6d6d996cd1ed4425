"""The arguments of an agent function: where its messages are, and where the prompt goes.

Nothing of the caller's is changed: what the agent gets are copies, with the prompt in the place
where this call keeps its system text.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from skill_learner.conversation.messages import get, is_system, plain_text, read_message, role_of

_LIST_NAMES = ("messages", "input", "history", "conversation")
_TEXT_NAMES = ("prompt", "message", "query", "question", "text", "user_input", "task")
_SYSTEM_NAMES = ("system", "system_prompt", "instructions")


@dataclass
class AgentCall:
    """One call of an agent function.

    messages: the conversation in it, as the caller gave it. args, kwargs: what the agent is given.
    """

    messages: list[Any]
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    tools: Any = None
    _given: list[Any] | None = None
    _passed: list[Any] | None = None

    @property
    def query(self) -> str:
        """The last words of the human: the task at hand."""
        for message in reversed(self.messages):
            texts = [part.text for part in read_message(message) if part.kind == "human"]
            if texts:
                return "\n".join(texts)
        return ""

    def added_by_agent(self) -> list[Any]:
        """Messages that the agent appended to the list it was given. An agent that keeps its
        history so finds it kept: they are appended to the caller's list as well."""
        if self._given is None or self._passed is None:
            return []
        size = len(self._passed_before)
        added = self._passed[size:]
        if added and self._passed[:size] == self._passed_before:
            self._given.extend(added)
            return added
        return []

    def remember_lists(self, given: list[Any], passed: list[Any]) -> None:
        self._given, self._passed = given, passed
        self._passed_before = list(passed)


def read_call(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: Mapping[str, Any]
) -> AgentCall:
    """The call as it stands, with nothing injected."""
    slot = _message_slot(args, kwargs)
    found = None if slot is None else (args[slot] if isinstance(slot, int) else kwargs[slot])
    return AgentCall(_as_list(found), args, dict(kwargs), tools=kwargs.get("tools"))


def with_prompt(function: Callable[..., Any], call: AgentCall, prompt: str) -> AgentCall:
    """The same call, with the prompt in its place; unchanged where there is no place for it."""
    slot = _message_slot(call.args, call.kwargs)
    found = None if slot is None else _value(call, slot)
    system_name = _system_argument(function, call)
    has_system_message = isinstance(found, Sequence) and any(map(is_system, _as_list(found)))
    if system_name and prompt and not has_system_message:
        kwargs = {**call.kwargs, system_name: _extended(call.kwargs.get(system_name), prompt)}
        call = AgentCall(call.messages, call.args, kwargs, call.tools)
        return _with_copy(call, slot, found)
    if slot is None or not prompt:
        return _with_copy(call, slot, found)
    if isinstance(found, str):
        return _placed(call, slot, f"{prompt}\n\n{found}")
    if isinstance(found, Mapping):
        inner = _prompted(_as_list(found), prompt)
        return _placed(call, slot, {**found, "messages": inner})
    if isinstance(found, Sequence):
        return _with_copy(call, slot, found, prompt)
    return call


def _with_copy(call: AgentCall, slot: int | str | None, found: Any, prompt: str = "") -> AgentCall:
    """The agent gets a list of its own."""
    if slot is None or not isinstance(found, (list, tuple)):
        return call
    passed: Any = _prompted(list(found), prompt) if prompt else list(found)
    placed = _placed(call, slot, passed if isinstance(found, list) else tuple(passed))
    if isinstance(found, list):
        placed.remember_lists(found, passed)
    return placed


def _placed(call: AgentCall, slot: int | str, value: Any) -> AgentCall:
    if isinstance(slot, int):
        args = (*call.args[:slot], value, *call.args[slot + 1 :])
        return AgentCall(call.messages, args, call.kwargs, call.tools)
    return AgentCall(call.messages, call.args, {**call.kwargs, slot: value}, call.tools)


def _value(call: AgentCall, slot: int | str) -> Any:
    return call.args[slot] if isinstance(slot, int) else call.kwargs[slot]


def _message_slot(args: Sequence[Any], kwargs: Mapping[str, Any]) -> int | str | None:
    """Where the conversation is: a list of messages, a state that holds one, or a text."""
    for name in _LIST_NAMES:
        if _is_conversation(kwargs.get(name)):
            return name
    for index, value in enumerate(args):
        if _is_conversation(value):
            return index
    for name, value in kwargs.items():
        if _is_conversation(value):
            return name
    for index, value in enumerate(args):
        if isinstance(value, str):
            return index
    return next((n for n in (*_TEXT_NAMES, "input") if isinstance(kwargs.get(n), str)), None)


def _is_conversation(value: Any) -> bool:
    if isinstance(value, Mapping):
        return isinstance(value.get("messages"), (list, tuple))
    if not isinstance(value, (list, tuple)):
        return False
    return not value or all(role_of(item) or get(item, "content") is not None for item in value)


def _as_list(found: Any) -> list[Any]:
    if found is None:
        return []
    if isinstance(found, Mapping):
        return list(found.get("messages") or ())
    return [{"role": "user", "content": found}] if isinstance(found, str) else list(found)


def _system_argument(function: Callable[..., Any], call: AgentCall) -> str:
    """The argument that carries the system text: one that is given, else one that the function
    names, unless it was already given by position."""
    for name in _SYSTEM_NAMES:
        if name in call.kwargs:
            return name
    try:
        signature = inspect.signature(function)
        bound = signature.bind_partial(*call.args, **call.kwargs)
    except (TypeError, ValueError):
        return ""
    for name in _SYSTEM_NAMES:
        parameter = signature.parameters.get(name)
        by_name = parameter is not None and parameter.kind in (
            inspect.Parameter.KEYWORD_ONLY,
            inspect.Parameter.POSITIONAL_OR_KEYWORD,
        )
        if by_name and name not in bound.arguments:
            return name
    return ""


def _prompted(messages: list[Any], prompt: str) -> list[Any]:
    """A copy with the prompt in its first system message, or in one of its own at the front."""
    for index, message in enumerate(messages):
        if not is_system(message):
            continue
        if isinstance(message, Mapping):
            changed: Any = {**message, "content": _extended(message.get("content"), prompt)}
        else:
            text = "\n\n".join(filter(None, [plain_text(get(message, "content")), prompt]))
            changed = {"role": role_of(message), "content": text}
        return [*messages[:index], changed, *messages[index + 1 :]]
    return [{"role": "system", "content": prompt}, *messages]


def _extended(content: Any, prompt: str) -> Any:
    """A system text, or a list of blocks, with the prompt after it."""
    if not content:
        return prompt
    if isinstance(content, str):
        return f"{content}\n\n{prompt}"
    if isinstance(content, (list, tuple)):
        return [*content, {"type": "text", "text": prompt}]
    return f"{plain_text(content)}\n\n{prompt}"
