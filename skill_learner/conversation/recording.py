"""A running conversation: messages as they are seen, turned once into numbered steps.

Callers hand over their whole history at every turn, or only what is new, or a window of the last
messages. What overlaps with the messages already seen is not taken twice.
"""

from __future__ import annotations

import hashlib
import json
import threading
import time
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from skill_learner.conversation.messages import Part, read_message
from skill_learner.models import Session, Step, ToolCall, ToolStatus

EDITOR = "library"


class Conversation:
    """One session of a host program. Every method may be called from any thread."""

    def __init__(self, session_id: str) -> None:
        self.id = session_id
        self.turns = 0
        self.loaded_skills: set[str] = set()
        self._steps: list[Step] = []
        self._seen: list[bytes] = []
        self._waiting: dict[str, Part] = {}
        self._calls_in_messages = 0
        self._calls_told = 0
        self._told: Counter[bytes] = Counter()
        self._lock = threading.RLock()

    @property
    def tool_calls(self) -> int:
        """Calls counted once, whether the host told of them or the messages show them."""
        return max(self._calls_told, self._calls_in_messages)

    @property
    def activity(self) -> int:
        return self.turns + self.tool_calls

    def steps(self) -> tuple[Step, ...]:
        with self._lock:
            return tuple(self._steps)

    def take(self, messages: Iterable[Any]) -> None:
        """Record what is new in a list of messages."""
        read = [
            (fingerprint(parts), parts) for message in messages if (parts := read_message(message))
        ]
        with self._lock:
            marks = [mark for mark, _ in read]
            start = _overlap(self._seen, marks)
            for mark, parts in read[start:]:
                self._seen.append(mark)
                for part in parts:
                    self._take_part(part)

    def tool_call(
        self, name: str, arguments: Mapping[str, Any] | None, result: str | None, *, failed: bool
    ) -> None:
        """Count a call that the host tells of; with a result it also becomes a step."""
        with self._lock:
            self._calls_told += 1
            if result is None:
                return
            part = Part("call", name=name, input=dict(arguments or {}))
            self._told[_call_mark(part, result)] += 1
            self._add_call(part, result, failed)

    def flush(self) -> None:
        """Write down calls whose results were never seen: the conversation is over."""
        with self._lock:
            for part in self._waiting.values():
                self._add("tool", call=_tool_call(part, None, "pending"))
            self._waiting.clear()

    def _take_part(self, part: Part) -> None:
        if part.kind == "call":
            self._calls_in_messages += 1
            self._waiting[part.call_id or f"#{self._calls_in_messages}"] = part
        elif part.kind == "result":
            call = self._waiting.pop(self._call_of(part), None) or Part("call", name=part.name)
            if self._told[_call_mark(call, part.text)] > 0:
                self._told[_call_mark(call, part.text)] -= 1
                return
            self._add_call(call, part.text, part.failed)
        else:
            self._add("human" if part.kind == "human" else "assistant", part.text)

    def _call_of(self, result: Part) -> str:
        """The waiting call that a result belongs to: by id, else by name, else the oldest."""
        if result.call_id in self._waiting:
            return result.call_id
        named = (key for key, call in self._waiting.items() if call.name == result.name)
        if result.call_id or not self._waiting:
            return result.call_id
        return next(named, next(iter(self._waiting)))

    def _add_call(self, part: Part, result: str, failed: bool) -> None:
        from skill_learner.learning.results import shows_failure  # patterns take time to compile

        status: ToolStatus = "failed" if failed else "suspect" if shows_failure(result) else "ok"
        self._add("tool", call=_tool_call(part, result, status))

    def _add(self, kind: Any, text: str = "", call: ToolCall | None = None) -> None:
        number = len(self._steps) + 1
        at = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime())
        self._steps.append(
            Step(number, kind, text, call=call, source=f"conversation:{number}", at=at)
        )


def session_of(
    session_id: str,
    steps: Sequence[Step],
    *,
    reviewed: int = 0,
    loaded_skills: Iterable[str] = (),
) -> Session:
    """The steps as a session for a review. Where no tool ever answered, the model's answers are
    taken as evidence, and what rests on them is unverified."""
    has_results = any(step.call is not None and step.call.result is not None for step in steps)
    return Session(
        id=session_id,
        editor=EDITOR,
        project="",
        steps=tuple(replace(step, number=index) for index, step in enumerate(steps, start=1)),
        first_new_step=reviewed + 1,
        loaded_skills=frozenset(loaded_skills),
        answers_count=not has_results,
        source="conversation",
    )


def fingerprint(parts: Sequence[Part]) -> bytes:
    """Equal for the same message in different shapes (dict, SDK object, blocks)."""
    digest = hashlib.blake2b(digest_size=12)
    for part in parts:
        told = (part.kind, part.text.strip(), part.name, part.call_id, _json(part.input))
        digest.update("\0".join(told).encode("utf-8", "replace"))
    return digest.digest()


def _overlap(seen: Sequence[bytes], given: Sequence[bytes]) -> int:
    """How many of the given messages, from the first, are the last ones seen.

    A history from the beginning is looked for first, since the commonest caller has one.
    """
    if not seen or not given:
        return 0
    common = 0
    for old, new in zip(seen, given, strict=False):
        if old != new:
            break
        common += 1
    if common == min(len(seen), len(given)):
        return common
    for size in range(min(len(seen), len(given)), 0, -1):
        if seen[-size] == given[0] and list(seen[-size:]) == list(given[:size]):
            return size
    return common  # the same beginning, then another turn: a branch


def _tool_call(part: Part, result: str | None, status: ToolStatus) -> ToolCall:
    return ToolCall(part.call_id, part.name, dict(part.input), result, status)


def _call_mark(part: Part, result: str) -> bytes:
    told = f"{part.name}\0{_json(part.input)}\0{result.strip()}"
    return hashlib.blake2b(told.encode("utf-8", "replace"), digest_size=12).digest()


def _json(value: Mapping[str, Any]) -> str:
    try:
        return json.dumps(value, sort_keys=True, default=str)
    except (TypeError, ValueError, RecursionError):
        return repr(sorted(map(str, value)))
