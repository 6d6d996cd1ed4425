"""Finding the answer of an LLM review in a response, before any check of its fields."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from skill_learner.interfaces import LLMResponse
from skill_learner.reviewers.answer_schema import TOOL_NAME

_MAX_STEP_RANGE = 50


class FaultyAnswerError(ValueError):
    """An answer that cannot be used; `faults` say where and why, for whoever wrote it."""

    def __init__(self, faults: Sequence[str]) -> None:
        super().__init__("; ".join(faults))
        self.faults = tuple(faults)


def answer_object(response: LLMResponse) -> dict[str, Any]:
    """The answer as plain JSON, before any check of its fields."""
    calls = [call for call in response.tool_calls or () if call.name == TOOL_NAME]
    if len(calls) > 1:
        raise FaultyAnswerError([f"`{TOOL_NAME}` was called {len(calls)} times; call it once"])
    if calls:
        return _unwrapped(calls[0].arguments)
    return _unwrapped(_object_in(response.content or ""))


def _object_in(text: str) -> dict[str, Any]:
    """The one review object in a text that may have prose or a code fence around it."""
    if not text.strip():
        raise FaultyAnswerError(["the answer is empty; one JSON object is expected"])
    found: list[dict[str, Any]] = []
    problem = "no JSON object in the answer"
    decoder = json.JSONDecoder(strict=False)  # raw newlines within strings are a common slip
    position = text.find("{")
    while position >= 0:
        try:
            value, end = decoder.raw_decode(text, position)
        except json.JSONDecodeError as error:
            if problem.startswith("no JSON"):
                problem = f"not valid JSON: {error.msg} at line {error.lineno}"
            position = text.find("{", position + 1)
            continue
        if isinstance(value, dict) and _looks_like_review(_unwrapped(value)):
            found.append(value)
        position = text.find("{", end)
    if len(found) > 1 and any(other != found[0] for other in found):
        raise FaultyAnswerError([f"{len(found)} different JSON objects; give one answer"])
    if not found:
        keys = "`outcome`, `skills`, `nothing_because`"
        raise FaultyAnswerError([f"{problem}; one object with {keys} is expected"])
    return found[0]


def _looks_like_review(value: Mapping[str, Any]) -> bool:
    return bool(value.keys() & {"skills", "nothing_because"})


def _unwrapped(value: object) -> dict[str, Any]:
    """`{"review": {...}}` and arguments that are JSON in a string, as some servers send them."""
    if isinstance(value, str):
        return _object_in(value)
    if not isinstance(value, dict):
        raise FaultyAnswerError([f"an object is expected, not {kind_of(value)}"])
    if len(value) == 1:
        (inner,) = value.values()
        if isinstance(inner, dict) and _looks_like_review(inner):
            return inner
    return value


def kind_of(value: object) -> str:
    """What a JSON value is, in words for the one who wrote it."""
    names = {dict: "an object", list: "a list", str: "a text", bool: "a boolean"}
    return "nothing" if value is None else names.get(type(value), f"{value!r:.60}")


def step_numbers(item: object) -> list[int] | None:
    """12, "12", "#12", "S12" and "12-15" as numbers; None for anything else."""
    if isinstance(item, int) and not isinstance(item, bool):
        return [item]
    if isinstance(item, float) and item.is_integer():
        return [int(item)]
    if not isinstance(item, str):
        return None
    match = re.fullmatch(r"\s*[#sSL]?(\d{1,6})(?:\s*-\s*[#sSL]?(\d{1,6}))?\s*", item)
    if match is None:
        return None
    first, last = int(match[1]), int(match[2] or match[1])
    return list(range(first, last + 1)) if 0 <= last - first <= _MAX_STEP_RANGE else None


def without_front_matter(body: str) -> str:
    """Name and description come in fields of their own; a copy of them in the body is cut off."""
    match = re.match(r"\s*---\r?\n.*?\r?\n---[ \t]*(\r?\n|$)", body, re.DOTALL)
    return body[match.end() :] if match else body
