"""What an agent gave back, as messages: whole answers of any shape, and streams of pieces."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from skill_learner.conversation.messages import get, role_of

_DEEPEST = 3
_ECHOES = ("content.", "refusal.", "tool_calls.", "logprobs.")
"""Kinds of events that OpenAI's helper makes of chunks."""
_TEXT_ATTRIBUTES = ("output_text", "final_output", "text", "answer", "response", "output", "result")


def answer_messages(answer: Any, depth: int = 0) -> list[Any]:
    """The messages in a whole answer: a string, a message, a list of them, a state that holds
    them, or an SDK's response object."""
    if answer is None:
        return []
    if isinstance(answer, str):
        return [_spoken(answer)]
    if isinstance(answer, (list, tuple)):
        return [_spoken(item) if isinstance(item, str) else item for item in answer]
    held = _held_messages(answer, depth)
    if held:
        return held
    if get(answer, "content") is not None or get(answer, "tool_calls"):
        return [_with_role(answer)]
    texts = (get(answer, key) for key in _TEXT_ATTRIBUTES)
    return [_spoken(text) for text in texts if isinstance(text, str)][:1]


def _held_messages(answer: Any, depth: int) -> list[Any]:
    """The messages that a response or a state holds: OpenAI's choices, a history, an output."""
    choices = get(answer, "choices")
    if isinstance(choices, Sequence) and choices:
        message = get(choices[0], "message")
        return [] if message is None else [_with_role(message)]
    for key in ("messages", "output"):
        inner = get(answer, key)
        if isinstance(inner, Sequence) and not isinstance(inner, str) and inner:
            return list(inner)
    message = get(answer, "message")
    if message is None or isinstance(message, str) or depth >= _DEEPEST:
        return []
    return answer_messages(message, depth + 1)


def _spoken(text: str) -> dict[str, Any]:
    return {"role": "assistant", "content": text}


class StreamedAnswer:
    """Gathers the pieces of a stream: texts, OpenAI's chunks, Anthropic's events, messages.

    The SDKs' own streams tell some things twice, in raw events and in events that they make of
    them; the latter count only where the caller passed on nothing else. What they say is the whole
    answer counts more than any pieces.
    """

    def __init__(self) -> None:
        self._settled: list[Any] = []
        self._texts: list[str] = []
        self._echoes: list[str] = []
        self._whole: list[Any] = []
        self._calls: dict[str, dict[str, Any]] = {}

    def add(self, piece: Any) -> None:
        if isinstance(piece, str):
            self._texts.append(piece)
            return
        choices = get(piece, "choices")
        if isinstance(choices, Sequence) and choices:
            delta = get(choices[0], "delta")
            if delta is not None:
                self._add_delta(delta)
                return
        kind = str(get(piece, "type") or "")
        if kind == "chunk":  # OpenAI's helper: the raw chunk, and what all of them make
            self.add(get(piece, "chunk"))
            return
        is_anthropic_echo = isinstance(get(piece, "snapshot"), str) or kind == "input_json"
        if is_anthropic_echo or kind.startswith(_ECHOES):
            texts = (get(piece, key) for key in ("delta", "text"))
            self._echoes += [text for text in texts if isinstance(text, str)][:1]
            return
        if kind.startswith(("content_block", "message_", "response.")) or kind == "ping":
            self._add_event(piece, kind)
            return
        for key in ("delta", "text", "token"):
            text = get(piece, key)
            if isinstance(text, str):
                self._texts.append(text)
                return
        content = get(piece, "content")
        if isinstance(content, str) and role_of(piece) in ("", "assistant", "aimessagechunk"):
            self._texts.append(content)
        else:
            self._whole.extend(answer_messages(piece))

    def settle(self, answer: Any) -> None:
        """The whole answer, as the stream itself tells it."""
        self._settled = answer_messages(answer) or self._settled

    def messages(self) -> list[Any]:
        if self._settled:
            return self._settled
        blocks: list[dict[str, Any]] = []
        text = "".join(self._texts or self._echoes)
        if text:
            blocks.append({"type": "text", "text": text})
        blocks += [_call_block(call) for call in self._calls.values()]
        own = [{"role": "assistant", "content": blocks}] if blocks else []
        return [*self._whole, *own]

    def _add_delta(self, delta: Any) -> None:
        text = get(delta, "content")
        if isinstance(text, str):
            self._texts.append(text)
        for call in get(delta, "tool_calls") or ():
            function = get(call, "function")
            self._add_call(
                f"openai {get(call, 'index', 0)}",
                get(call, "id"),
                get(function, "name"),
                get(function, "arguments"),
            )

    def _add_event(self, event: Any, kind: str) -> None:
        where = f"anthropic {get(event, 'index', 0)}"
        if kind == "content_block_start":
            block = get(event, "content_block")
            if str(get(block, "type")).endswith("tool_use"):
                self._add_call(where, get(block, "id"), get(block, "name"), None)
        elif kind == "content_block_delta":
            delta = get(event, "delta")
            text, part = get(delta, "text"), get(delta, "partial_json")
            if isinstance(text, str):
                self._texts.append(text)
            elif isinstance(part, str):
                self._add_call(where, None, None, part)
        elif kind == "message_stop":  # Anthropic's helper puts the message into it
            self.settle(get(event, "message"))
        else:
            self._add_response_event(event, kind)

    def _add_response_event(self, event: Any, kind: str) -> None:
        """Events of OpenAI's Responses API."""
        if kind == "response.output_text.delta" and isinstance(get(event, "delta"), str):
            self._texts.append(get(event, "delta"))
        elif kind == "response.output_item.done":
            item = get(event, "item")
            if str(get(item, "type")).endswith("_call"):
                self._whole.append(item)
        elif kind in ("response.completed", "response.incomplete"):
            self.settle(get(event, "response"))

    def _add_call(self, where: str, call_id: Any, name: Any, arguments: Any) -> None:
        call = self._calls.setdefault(where, {"id": "", "name": "", "arguments": ""})
        call["id"] = call["id"] or (call_id if isinstance(call_id, str) else "")
        call["name"] = call["name"] or (name if isinstance(name, str) else "")
        call["arguments"] += arguments if isinstance(arguments, str) else ""


def _call_block(call: Mapping[str, Any]) -> dict[str, Any]:
    try:
        arguments = json.loads(call["arguments"] or "{}")
    except ValueError:
        arguments = {"text": call["arguments"]}
    return {"type": "tool_use", "id": call["id"], "name": call["name"], "input": arguments}


def _with_role(message: Any) -> Any:
    """An answer without a role is the assistant's."""
    if isinstance(message, Mapping) and not role_of(message):
        return {"role": "assistant", **message}
    return message
