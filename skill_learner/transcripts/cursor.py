"""Cursor's agent transcripts: JSON lines, and the plain text of older versions.

They hold neither results nor ids of tool calls, nor times: what came of a call is known from the
journal only (see `session_by_order`). A pending call here means just that.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from skill_learner.errors import TranscriptError
from skill_learner.models import Session
from skill_learner.transcripts.lines import JsonLines, file_bytes
from skill_learner.transcripts.steps import UNNAMED_CALL, Place, SessionBuilder, ToolResult

FORMAT = "cursor"

_ROLE_LINE = re.compile(
    rb'^\s*(?:\xef\xbb\xbf)?\{\s*"(?:role"\s*:\s*"(?:user|assistant)"|message"\s*:)'
)
_OTHER_EDITORS = (b'"sessionId"', b'"parentUuid"', b'"uuid"')
_TEXT_HEAD = re.compile(r"(?:user|assistant):[ \t]*\r?\n")
_TEXT_SIGNS = ("<user_query>", "[Tool call]", "[Thinking]")
_QUERY = re.compile(r"<user_query>(.*?)(?:</user_query>|\Z)", re.DOTALL)
_INJECTED = re.compile(
    r"<(timestamp|external_links|attached_files|open_and_recently_viewed_files|user_info|rules"
    r"|git_status|project_layout|system_reminder|additional_data|cursor_commands|agent_skills"
    r"|manually_attached_skills|image_files|linter_errors)\b[^>]*>.*?</\1>",
    re.DOTALL,
)
_THOUGHT = re.compile(r"^\s*(?:\[REDACTED\]|\*\*[^*\n]{1,120}\*\*)\s*$", re.MULTILINE)


class CursorReader:
    """Reads one transcript file: of a session, or of a subagent (below a folder `subagents`)."""

    FORMAT = FORMAT

    def detect(self, path: Path, head: bytes) -> bool:
        if any(sign in head.split(b"\n", 1)[0] for sign in _OTHER_EDITORS):
            return False
        if _ROLE_LINE.match(head):
            return b'"content"' in head
        text = head.decode("utf-8", "replace").lstrip("\ufeff \r\n")
        return _TEXT_HEAD.match(text) is not None and any(sign in text for sign in _TEXT_SIGNS)

    def read(self, path: Path) -> Session:
        data = file_bytes(path)
        reading = _Reading(path)
        if data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"{"):
            reading.take_lines(data)
        else:
            reading.take_text(data.decode("utf-8", "replace"))
        return reading.session()


class _Reading:
    """One pass over a file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._builder = SessionBuilder(path.name)
        self._parent = path.parent.parent.name if path.parent.name == "subagents" else ""
        self._damaged = 0
        self._calls = 0

    def session(self) -> Session:
        if not self._builder.drafts:
            raise TranscriptError(
                f"{self._path}: holds no message of a session ({self._damaged} damaged lines)",
                "Give a file from an agent-transcripts folder below ~/.cursor/projects.",
            )
        return self._builder.build(
            self._path.stem,
            FORMAT,
            parent=self._parent,
            damaged=self._damaged,
            source=str(self._path),
        )

    # -- JSON lines ----------------------------------------------------------------------------

    def take_lines(self, data: bytes) -> None:
        lines = JsonLines(data)
        for line, record in lines:
            if record.get("type") == "turn_ended":
                self._end_turn(record.get("status"))
            elif isinstance(record.get("message"), Mapping):
                blocks = _blocks(record["message"].get("content"))
                if record.get("role") == "user":
                    self._take_user(blocks, Place(line))
                elif record.get("role") == "assistant":
                    self._take_assistant(blocks, Place(line))
        self._damaged = lines.damaged

    def _end_turn(self, status: Any) -> None:
        if status == "aborted":
            self._builder.interrupt()
        else:
            self._builder.turn_end = "api_error" if status == "error" else "complete"

    def _take_user(self, blocks: list[Mapping[str, Any]], place: Place) -> None:
        texts = [block["text"] for block in blocks if isinstance(block.get("text"), str)]
        words = human_words("\n".join(texts))
        if not words:
            return
        if self._parent:  # the parent's model wrote it, no person
            self._builder.add("plan", words, place)
            self._builder.turn_end = "open"
        else:
            self._builder.add_prompt(words, place)

    def _take_assistant(self, blocks: list[Mapping[str, Any]], place: Place) -> None:
        for block in blocks:
            if block.get("type") == "tool_use" and isinstance(block.get("name"), str):
                self._add_call(block["name"], block.get("input"), place)
            elif isinstance(block.get("text"), str):
                self._add_answer(block["text"], place)

    def _add_call(self, name: str, tool_input: Any, place: Place) -> str:
        self._calls += 1
        call_id = f"{UNNAMED_CALL}{self._calls}"
        self._builder.add_call(call_id, name, tool_input, place)
        return call_id

    def _add_answer(self, text: str, place: Place) -> None:
        words = _THOUGHT.sub("", text).strip()
        if words:
            self._builder.add_answer(words, place, f"line:{place.line}")
            self._builder.turn_end = "complete"

    # -- plain text ----------------------------------------------------------------------------

    def take_text(self, text: str) -> None:
        for role, place, body in _text_blocks(text):
            if role == "user":
                self._take_user([{"text": body}], place)
            elif role == "assistant":
                self._add_answer(body, place)
            elif role == "Tool call":
                name, arguments = _text_call(body)
                self._last_call = self._add_call(name, arguments, place)
            elif role == "Tool result":
                result = body.partition("\n")[2].strip()
                if result and self._calls:
                    self._builder.add_result(self._last_call, ToolResult(result, None))

    _last_call = ""


def human_words(text: str) -> str:
    """What a person typed, out of what the editor wrapped around it."""
    queries = _QUERY.findall(text)
    if queries:
        return "\n".join(query.strip() for query in queries).strip()
    return _INJECTED.sub("", text).strip()


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, Mapping)]


_SPEAKER = re.compile(r"^(user|assistant|A):[ \t]*$")
_MARK = re.compile(r"^\[(Thinking|Tool call|Tool result)\][ \t]?(.*)$")
_ARGUMENT = re.compile(r"^  ([A-Za-z_]\w*): ?(.*)$")


def _text_blocks(text: str) -> Iterator[tuple[str, Place, str]]:
    """(speaker or kind of mark, where it begins, its text) of the older format."""
    role, start, lines = "", 1, list[str]()
    in_query = False
    for number, line in enumerate(text.lstrip("\ufeff").splitlines(), 1):
        speaker = None if in_query else _SPEAKER.match(line)
        mark = None if in_query or role in ("", "user") else _MARK.match(line)
        if speaker or mark:
            yield role, Place(start), "\n".join(lines)
            found = speaker or mark
            assert found is not None
            role = {"A": "assistant"}.get(found[1], found[1])
            start, lines = number, [mark[2]] if mark else []
            continue
        in_query = (in_query or "<user_query>" in line) and "</user_query>" not in line
        lines.append(line)
    yield role, Place(start), "\n".join(lines)


def _text_call(body: str) -> tuple[str, dict[str, Any]]:
    """`Name`, then indented `key: value` lines; a value may go on over several lines."""
    name, _, rest = body.partition("\n")
    arguments: dict[str, Any] = {}
    key = ""
    for line in rest.splitlines():
        found = _ARGUMENT.match(line)
        if found:
            key = found[1]
            arguments[key] = found[2]
        elif key and line.strip():
            arguments[key] += f"\n{line}"
    return name.strip(), {key: _value(text) for key, text in arguments.items()}


def _value(text: str) -> Any:
    if text[:1] in "[{" and text:
        try:
            return json.loads(text)
        except ValueError:
            return text
    return text


READER = CursorReader()
