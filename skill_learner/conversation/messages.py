"""One message of a conversation, in whatever shape, as plain parts.

Read are dicts and SDK objects: Anthropic's content blocks, OpenAI's chat messages and response
items, Gemini's parts, LangChain's messages. What is not known is taken for prose of the model or
left out; nothing here raises on any input.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

PartKind = Literal["human", "assistant", "call", "result"]

LONGEST_TEXT = 200_000
"""Characters of one text; of a longer one the middle is left out."""

_HUMAN = frozenset({"user", "human"})
_SYSTEM = frozenset({"system", "developer"})
_RESULT = frozenset({"tool", "function", "ipython", "observation"})
_CALL_BLOCKS = frozenset(
    {"tool_use", "server_tool_use", "mcp_tool_use", "tool_call", "function_call", "functioncall"}
)
_SILENT_BLOCKS = frozenset({"thinking", "redacted_thinking", "reasoning"})
_TEXT_KEYS = ("text", "input_text", "output_text", "refusal")
_DEPTH = 6


@dataclass(frozen=True)
class Part:
    """A text of human or assistant, a tool call, or what a call gave.

    name and input belong to calls; call_id links a result to its call ("" when there is none);
    failed: the result is marked as an error.
    """

    kind: PartKind
    text: str = ""
    name: str = ""
    call_id: str = ""
    input: Mapping[str, Any] = field(default_factory=dict)
    failed: bool = False


def read_message(message: Any) -> tuple[Part, ...]:
    """The parts of a message, in order; a string is the human's. System texts have no parts."""
    try:
        if isinstance(message, str):
            return _texts("human", message)
        return tuple(_parts(message))
    except Exception:  # an object whose attributes raise must not reach the agent
        return ()


def role_of(message: Any) -> str:
    """The role a message names, lower-case; of LangChain's and of untyped ones what stands for it;
    "" when nothing does."""
    for key in ("role", "type"):
        value = get(message, key)
        if isinstance(value, str) and value:
            return value.lower()
    return ""


def is_system(message: Any) -> bool:
    return role_of(message) in _SYSTEM


def get(item: Any, key: str, default: Any = None) -> Any:
    """`key` of a mapping, or the attribute of an object."""
    if isinstance(item, Mapping):
        return item.get(key, default)
    try:
        return getattr(item, key, default)
    except Exception:
        return default


def plain_text(content: Any, depth: int = 0) -> str:
    """What a content says as text: a string, blocks, or anything nested; images by a mark."""
    if content is None or depth > _DEPTH:
        return ""
    if isinstance(content, str):
        return content
    if isinstance(content, bytes):
        return "[bytes]"
    if isinstance(content, Sequence):
        return "\n".join(text for item in content if (text := plain_text(item, depth + 1)))
    text = _block_text(content, depth)
    return text if text or not isinstance(content, Mapping) else _as_json(content)


def capped(text: str) -> str:
    if len(text) <= LONGEST_TEXT:
        return text
    half = LONGEST_TEXT // 2
    return (
        f"{text[:half]}\n[... {len(text) - LONGEST_TEXT} characters left out ...]\n{text[-half:]}"
    )


def _parts(message: Any) -> Iterator[Part]:
    role = role_of(message)
    if role in _SYSTEM:
        return
    if role in {"function_call", "custom_tool_call"}:  # an item of OpenAI's responses
        yield _call(message)
        return
    if role in {"function_call_output", "custom_tool_call_output"} or role in _RESULT:
        yield _result(message)
        return
    content = get(message, "content", get(message, "parts"))
    yield from _content("human" if role in _HUMAN else "assistant", content)
    calls = get(message, "tool_calls")
    for call in calls if isinstance(calls, Sequence) and not isinstance(calls, str) else ():
        yield _call(call)
    single = get(message, "function_call")
    if single is not None and get(single, "name"):
        yield _call(single)


def _content(speaker: PartKind, content: Any) -> Iterator[Part]:
    if content is None:
        return
    if isinstance(content, str) or not isinstance(content, Sequence):
        yield from _texts(speaker, plain_text(content))
        return
    words: list[str] = []
    for block in content:
        kind = str(get(block, "type", "") or "").lower()
        part = _block_part(block, kind)
        if part is None:
            words.append("" if kind in _SILENT_BLOCKS else plain_text(block))
            continue
        yield from _texts(speaker, "\n".join(filter(None, words)))
        words = []
        yield part
    yield from _texts(speaker, "\n".join(filter(None, words)))


def _block_part(block: Any, kind: str) -> Part | None:
    """The call or result that a content block is, if it is one."""
    if isinstance(block, str):
        return None
    if kind in _CALL_BLOCKS:
        return _call(block)
    if kind.endswith("tool_result") or kind == "function_call_output":
        return _result(block)
    gemini_call, gemini_result = get(block, "function_call"), get(block, "function_response")
    if gemini_call is not None and get(gemini_call, "name"):
        return _call(gemini_call)
    if gemini_result is not None and get(gemini_result, "name"):
        text = plain_text(get(gemini_result, "response"))
        return Part("result", capped(text), name=str(get(gemini_result, "name")))
    return None


def _call(call: Any) -> Part:
    inner = get(call, "function")
    source = inner if inner is not None and get(inner, "name") else call
    call_id = get(call, "id") if get(call, "call_id") is None else get(call, "call_id")
    given: Any = next(
        (
            value
            for key in ("input", "arguments", "args")
            if (value := get(source, key)) is not None and not callable(value)
        ),
        {},
    )
    return Part(
        "call",
        name=str(get(source, "name") or "tool"),
        call_id=str(call_id or ""),
        input=_arguments(given),
    )


def _result(item: Any) -> Part:
    call_id = next(
        (
            value
            for key in ("tool_use_id", "tool_call_id", "call_id")
            if isinstance(value := get(item, key), str)
        ),
        "",
    )
    content = get(item, "content")
    text = plain_text(get(item, "output") if content is None else content)
    failed = get(item, "is_error") is True or get(item, "status") == "error"
    name = get(item, "name")
    return Part(
        "result",
        capped(text),
        name=name if isinstance(name, str) else "",
        call_id=call_id,
        failed=failed,
    )


def _arguments(given: Any) -> dict[str, Any]:
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            return {"text": capped(given)}
    if isinstance(given, Mapping):
        return {str(key): value for key, value in given.items()}
    return {} if given is None else {"text": capped(plain_text(given))}


def _texts(speaker: PartKind, text: str) -> tuple[Part, ...]:
    return (Part(speaker, capped(text)),) if text.strip() else ()


def _block_text(block: Any, depth: int) -> str:
    for key in _TEXT_KEYS:
        value = get(block, key)
        if isinstance(value, str):
            return value
    kind = str(get(block, "type", "") or "").lower()
    if kind in _SILENT_BLOCKS:
        return ""
    for word in ("image", "audio", "video", "document", "file"):
        if word in kind or get(block, f"{word}_url") is not None:
            return f"[{word}]"
    if get(block, "inline_data") is not None:
        return "[image]"
    nested = get(block, "content")
    if nested is not None:
        return plain_text(nested, depth + 1)
    return f"[{kind}]" if kind else ""


def _as_json(value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, ensure_ascii=False, default=str)
    except (TypeError, ValueError, RecursionError):
        return ""
