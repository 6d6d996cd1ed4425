"""Claude Code's transcripts, versions 1.0 to 2.1: one JSON object a line, appended for ever.

Only `user`, `assistant`, queue and attachment lines carry the talk. Lines with whole API requests
are most of the bytes of a newer file and are skipped without being decoded.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, cast

from skill_learner.errors import TranscriptError
from skill_learner.models import Session
from skill_learner.transcripts.lines import JsonLines, file_bytes
from skill_learner.transcripts.prompts import skill_of_base_directory
from skill_learner.transcripts.queued_prompts import PromptQueue
from skill_learner.transcripts.results import content_text
from skill_learner.transcripts.steps import Place, SessionBuilder, ToolResult

FORMAT = "claude-code"

_FIRST_TYPE = re.compile(rb'\s*\{\s*"type"\s*:\s*"([^"\\]*)"')
_WANTED_TYPES = frozenset({b"user", b"assistant", b"system", b"attachment", b"queue-operation"})
_KNOWN_LINE = re.compile(
    rb'"type"\s*:\s*"(?:user|assistant|system|summary|progress|attachment|queue-operation'
    rb'|file-history-snapshot|last-prompt|mode|permission-mode|custom-title)"'
)


class ClaudeCodeReader:
    """Reads one transcript file: of a session, or of a subagent (side-chain lines only)."""

    FORMAT = FORMAT

    def detect(self, path: Path, head: bytes) -> bool:
        named = b'"sessionId"' in head or b'"parentUuid"' in head or b'"leafUuid"' in head
        return named and _KNOWN_LINE.search(head) is not None

    def read(self, path: Path) -> Session:
        data = file_bytes(path)
        lines = JsonLines(data, _unwanted)
        records = list(lines)
        if not any(record.get("type") in ("user", "assistant") for _, record in records):
            raise TranscriptError(
                f"{path}: holds no message of a session ({lines.damaged} damaged lines)",
                "Give a file from below ~/.claude/projects.",
            )
        session = _Reading(path, records)
        return session.build(damaged=lines.damaged)


def _unwanted(raw: bytes) -> bool:
    """Whether a line is of no interest: it says so first, is whole and glued to no other."""
    named = _FIRST_TYPE.match(raw)
    if named is None or named[1] in _WANTED_TYPES:
        return False
    return raw.rstrip().endswith(b"}") and b'}{"' not in raw


class _Reading:
    """One pass over the records of a file."""

    def __init__(self, path: Path, records: list[tuple[int, dict[str, Any]]]) -> None:
        self._path = path
        self._records = records
        self._sidechain = all(
            record.get("isSidechain") is True
            for _, record in records
            if record.get("type") in ("user", "assistant")
        )
        self._own_id = self._session_id()
        project = next((r["cwd"] for _, r in records if _text(r, "cwd")), "")
        self._builder = SessionBuilder(path.name, project)
        self._queue = PromptQueue()
        self._seen: set[str] = set()
        self._parent = self._own_id if self._sidechain else ""
        self._inherited_to = 0
        self._last_human: tuple[str, str] = ("", "")

    def _session_id(self) -> str:
        """A file holds copies of other sessions' lines first, its own session's at the end."""
        ids = [r["sessionId"] for _, r in self._records if _text(r, "sessionId")]
        if self._path.stem in ids:
            return self._path.stem
        return cast(str, ids[-1]) if ids else self._path.stem

    def build(self, damaged: int) -> Session:
        for line, record in self._records:
            self._take(record, Place(line, _text(record, "uuid"), _text(record, "timestamp")))
        self._add_undelivered()
        session_id = self._own_id
        if self._sidechain:
            agent = next((r["agentId"] for _, r in self._records if _text(r, "agentId")), "")
            session_id = f"agent-{agent}" if agent else self._path.stem
        before = sum(d.place.line <= self._inherited_to for d in self._builder.drafts)
        return self._builder.build(
            session_id,
            FORMAT,
            parent=self._parent,
            first_new_step=before + 1,
            damaged=damaged,
            source=str(self._path),
        )

    def _add_undelivered(self) -> None:
        builder = self._builder
        turn_end = builder.turn_end
        last_line = max((draft.place.line for draft in builder.drafts), default=0)
        for text, place in self._queue.undelivered():
            builder.add_prompt(text, place)
            if place.line > last_line:
                turn_end = builder.turn_end
        builder.turn_end = turn_end

    def _take(self, record: dict[str, Any], place: Place) -> None:
        kind = record.get("type")
        if kind == "queue-operation":
            self._queue.operate(record, place)
            return
        if record.get("isSidechain") is True and not self._sidechain:
            return
        if place.uuid:
            if place.uuid in self._seen:
                return
            self._seen.add(place.uuid)
        if kind in ("user", "assistant"):
            self._note_parent(record, place)
            message = record.get("message")
            if isinstance(message, Mapping):
                take = self._take_user if kind == "user" else self._take_assistant
                take(record, message, place)
        elif kind == "attachment":
            self._take_attachment(record.get("attachment"), place)
        elif kind == "system" and record.get("subtype") in ("stop_hook_summary", "turn_duration"):
            self._turn_completed()

    def _note_parent(self, record: Mapping[str, Any], place: Place) -> None:
        """Lines copied from the session that this one was forked from name that session."""
        if self._sidechain:
            return
        forked = record.get("forkedFrom")
        origins = (
            _text(forked, "sessionId") if isinstance(forked, Mapping) else "",
            _text(record, "requestSessionId"),
            _text(record, "sessionId"),
        )
        origin = next((o for o in origins if o and o != self._own_id), "")
        if origin:
            self._parent = origin
            self._inherited_to = place.line

    def _turn_completed(self) -> None:
        builder = self._builder
        if builder.turn_end == "open" and builder.drafts and builder.drafts[-1].kind == "assistant":
            builder.turn_end = "complete"

    # -- the model -----------------------------------------------------------------------------

    def _take_assistant(
        self, record: Mapping[str, Any], message: Mapping[str, Any], place: Place
    ) -> None:
        if record.get("isApiErrorMessage"):
            self._builder.turn_end = "api_error"
            return
        if message.get("model") == "<synthetic>":
            return
        for block in _blocks(message.get("content")):
            if block.get("type") == "tool_use":
                call_id, name = _text(block, "id"), _text(block, "name")
                self._builder.add_call(call_id, name, block.get("input"), place)
            elif block.get("type") == "text" and _text(block, "text").strip():
                self._builder.add_answer(block["text"].strip(), place, _text(message, "id"))
                calls_follow = message.get("stop_reason") == "tool_use"
                self._builder.turn_end = "open" if calls_follow else "complete"

    # -- the user's place ----------------------------------------------------------------------

    def _take_user(
        self, record: Mapping[str, Any], message: Mapping[str, Any], place: Place
    ) -> None:
        blocks = _blocks(message.get("content"))
        results = [block for block in blocks if block.get("type") == "tool_result"]
        for block in results:
            error = block.get("is_error")
            result = ToolResult(
                content_text(block.get("content")),
                error if isinstance(error, bool) else None,
                record.get("toolUseResult"),
            )
            self._builder.add_result(_text(block, "tool_use_id"), result)
        texts = [
            content_text([b]) for b in blocks if b.get("type") in ("text", "image", "document")
        ]
        if record.get("isCompactSummary"):
            self._builder.add("summary", "\n".join(texts).strip(), place)
        elif record.get("isMeta") or record.get("repeatsCompactSummary"):
            self._builder.loaded.update(filter(None, map(skill_of_base_directory, texts)))
        elif results or "toolUseResult" not in record:
            self._take_texts(texts, _origin(record), place, "line")

    def _take_texts(self, texts: list[str], origin: str, place: Place, delivery: str) -> None:
        if self._sidechain:
            # The parent's model wrote it, no person.
            if any(text.strip() for text in texts):
                self._builder.add("plan", "\n".join(texts).strip(), place)
                self._builder.turn_end = "open"
            return
        if origin not in ("human", "task-notification"):
            return
        whole = "\n".join(texts)
        self._queue.delivered(whole, place)
        if self._last_human[0] == whole and self._last_human[1] != delivery:
            return
        for text in _joined_pictures(texts):
            prompt = self._builder.add_prompt(text, place)
            if prompt.kind == "human":
                self._last_human = (whole, delivery)

    def _take_attachment(self, attachment: Any, place: Place) -> None:
        if not isinstance(attachment, Mapping) or attachment.get("type") != "queued_command":
            return
        if attachment.get("isMeta"):
            return
        prompt = attachment.get("prompt")
        texts = [content_text([block]) for block in _blocks(prompt)]
        origin = _origin(attachment)
        if attachment.get("commandMode") == "task-notification":
            origin = "task-notification"
        self._take_texts(texts, origin, place, "queued")


def _joined_pictures(texts: list[str]) -> list[str]:
    """Join pictures to the words beside them; words stay apart, for some may be injected."""
    joined: list[str] = []
    for text in texts:
        if joined and (text == "[image]" or joined[-1].endswith("[image]")):
            joined[-1] = f"{joined[-1]}\n{text}"
        else:
            joined.append(text)
    return joined


def _blocks(content: Any) -> list[Mapping[str, Any]]:
    if isinstance(content, str):
        return [{"type": "text", "text": content}]
    if not isinstance(content, list):
        return []
    return [block for block in content if isinstance(block, Mapping)]


def _origin(record: Mapping[str, Any]) -> str:
    origin = record.get("origin")
    kind = origin.get("kind") if isinstance(origin, Mapping) else origin
    return kind if isinstance(kind, str) and kind else "human"


def _text(record: Any, key: str) -> str:
    value = record.get(key) if isinstance(record, Mapping) else None
    return value if isinstance(value, str) else ""


READER = ClaudeCodeReader()
