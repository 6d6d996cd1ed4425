"""Reads the journals that the hooks append to; ARCHITECTURE.md has the record's shape.

Every editor's events are read in the same words (see `targets.protocol.Target.canonical`), and an
event that several hooks have journalled is read once. A journal is read as it was left: torn lines
are skipped and counted, and of a payload that was cut or did not parse, what its head still tells
is kept.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_learner.paths import StatePaths, safe_file_name
from skill_learner.targets import TARGETS, get_target

_HEAD_TEXT = re.compile(
    r'"(session_id|conversation_id|generation_id|transcript_path|cwd|prompt_id|hook_event_name|tool_name|tool_use_id|agent_id'
    r'|source|reason|prompt|error|last_assistant_message)"\s*:\s*("(?:[^"\\]|\\.)*")'
)
_HEAD_INPUT = re.compile(
    r'"(command|file_path|notebook_path|skill|args|description)"\s*:\s*("(?:[^"\\]|\\.)*")'
)
_UNCLOSED_TEXT = re.compile(
    r'"(prompt|last_assistant_message)"\s*:\s*"((?:[^"\\]|\\.)*)\\?$', re.DOTALL
)
_HALF_ESCAPE = re.compile(
    r"((?<!\\)(?:\\\\)*)(?:\\u[dD][89abAB][0-9a-fA-F]{2})?(?:\\u[0-9a-fA-F]{0,3})?\Z"
)
"""The end of a cut text: an escape (a pair of them for one letter) of which a part is missing."""
_INPUT_OPENS = re.compile(r'"tool_input"\s*:\s*\{')
_RESPONSE_OPENS = re.compile(r'"tool_(?:response|output)"\s*:')
_TWINS_APART = 10.0
"""Seconds between records of one event; only ids of tool calls are unique for longer."""
_TAIL_CALL_ID = re.compile(r'"tool_use_id"\s*:\s*"([^"\\]*)"')


@dataclass(frozen=True)
class JournalRecord:
    """One event.

    at: unix seconds, 0 when unknown. client_pid: 0 when unknown.
    event, payload: what the editor sent, in canonical words; with `cut`, only what its head and
    tail tell; payload None when nothing could be read of it.
    key, unique: see `targets.protocol.Target.event_key`. damaged: what the editor sent was no JSON
    object; the payload holds what could be made out.
    end: offset in the file behind this record, for marks. line: its line, counted from 1 where
    the reading began at the file's start.
    """

    at: float
    event: str
    editor: str
    project_key: str
    project: str
    client_pid: int
    payload: dict[str, Any] | None
    cut: bool
    end: int
    line: int = 0
    key: str = ""
    unique: bool = False
    damaged: bool = False

    def text(self, key: str) -> str:
        """A string of the payload, "" when it is absent or something else."""
        value = (self.payload or {}).get(key)
        return value if isinstance(value, str) else ""

    @property
    def of_subagent(self) -> bool:
        return bool(self.text("agent_id"))

    @property
    def counts(self) -> bool:
        """Whether it is one tool call or human turn of the main agent: what `nudge_interval`
        counts."""
        if self.event in ("PostToolUse", "PostToolUseFailure"):
            return not self.of_subagent
        prompt = self.event == "UserPromptSubmit" and not self.of_subagent
        return prompt and not is_machine_prompt(self.text("prompt"))


@dataclass(frozen=True)
class JournalReading:
    """damaged: lines that are no record, and records that are damaged.
    end: offset behind the last whole line; a torn last line may still be growing and is left for
    the next reading."""

    records: tuple[JournalRecord, ...]
    damaged: int
    end: int


def is_machine_prompt(prompt: str) -> bool:
    """Whether a submitted prompt is the end of background work, not a person's."""
    return prompt.lstrip().startswith("<task-notification>")


def read_journal(path: Path, start: int = 0) -> JournalReading:
    """The records from offset `start` on. A missing journal is empty; so is one that is now shorter
    than `start`."""
    try:
        with path.open("rb") as handle:
            handle.seek(start)
            data = handle.read()
    except OSError:
        return JournalReading((), 0, start)
    records: list[JournalRecord] = []
    seen: dict[str, float] = {}
    damaged, position, end = 0, start, start
    lines = data.split(b"\n")
    for number, raw in enumerate(lines, 1):
        stop = position + len(raw)
        if raw.strip():
            record = _readable_record(raw, stop, number)
            if record is not None:
                damaged += record.damaged
                if not _is_twin(record, seen):
                    records.append(record)
                end = stop
            else:
                damaged += 1
                if number < len(lines):
                    end = stop
        position = stop + 1
    return JournalReading(tuple(records), damaged, end)


def journal_files(paths: StatePaths) -> list[Path]:
    """All journals, the one that was written to last at the end."""
    found = []
    for path in paths.journal_dir.glob("*.jsonl"):
        try:
            found.append((path.stat().st_mtime, path))
        except OSError:  # pruned by another process
            continue
    return [path for _, path in sorted(found)]


def journal_path(paths: StatePaths, session_id: str) -> Path:
    return paths.journal_dir / f"{safe_file_name(session_id)}.jsonl"


def _readable_record(raw: bytes, end: int, line: int) -> JournalRecord | None:
    try:
        return _record(raw, end, line)
    except Exception:  # one record of a shape that nobody foresaw must not hide all the others
        return None


def _record(raw: bytes, end: int, line: int) -> JournalRecord | None:
    text = raw.decode("utf-8", "replace")
    try:
        envelope = json.loads(text)
    except (ValueError, RecursionError):
        envelope = _broken_inside(text)
    if not isinstance(envelope, dict) or not isinstance(envelope.get("e"), str):
        return None
    payload, cut = _payload(envelope.get("d"))
    event, editor, key, unique = envelope["e"], _string(envelope.get("ed")), "", False
    if payload is not None and editor in TARGETS:
        target = get_target(editor)
        key, unique = target.event_key(event, payload)
        event, payload = target.canonical(event, payload)
    at, pid = envelope.get("t"), envelope.get("c")
    return JournalRecord(
        at=float(at) if isinstance(at, (int, float)) and abs(at) < 1e12 else 0.0,
        event=event,
        editor=editor,
        project_key=_string(envelope.get("k")),
        project=_string(envelope.get("p")),
        client_pid=pid if isinstance(pid, int) and pid > 0 else 0,
        payload=payload,
        cut=cut,
        end=end,
        line=line,
        key=key,
        unique=unique,
        damaged=payload is None or _is_damaged(envelope["d"]),
    )


def _broken_inside(text: str) -> Any:
    """The record of a whole line whose payload the editor sent as no proper JSON, though it began
    and ended as an object: hooks keep such bytes as they are."""
    head, found, payload = text.rstrip().partition(',"d":')
    if not found or not payload.endswith("}"):
        return None
    try:
        envelope = json.loads(f"{head}}}")
    except (ValueError, RecursionError):
        return None
    return {**envelope, "d": {"damaged": payload[:-1]}} if isinstance(envelope, dict) else None


def _is_twin(record: JournalRecord, seen: dict[str, float]) -> bool:
    """Whether the same event came before; notes it in `seen`."""
    if not record.key:
        return False
    before = seen.get(record.key)
    if before is not None and (record.unique or abs(record.at - before) <= _TWINS_APART):
        return True
    seen[record.key] = record.at
    return False


def _is_damaged(data: dict[str, Any]) -> bool:
    return isinstance(data.get("damaged"), str) and len(data) == 1


def _payload(data: Any) -> tuple[dict[str, Any] | None, bool]:
    if not isinstance(data, dict):
        return None, False
    if "session_id" not in data and "hook_event_name" not in data:
        if isinstance(data.get("head"), str) and "cut" in data:
            tail = data.get("tail")
            return _salvaged(data["head"], tail if isinstance(tail, str) else ""), True
        if _is_damaged(data):
            return _salvaged(data["damaged"], "") or None, False
    return data, False


def _salvaged(head: str, tail: str) -> dict[str, Any]:
    """What the two ends of a payload tell. Only keys before the tool's input are read as the
    payload's own, since text behind it may hold anything."""
    opens = _INPUT_OPENS.search(head)
    own = head[: opens.start()] if opens else head
    found: dict[str, Any] = _strings(_HEAD_TEXT, own)
    unclosed = _UNCLOSED_TEXT.search(own)
    if unclosed:
        found.setdefault(unclosed[1], _decoded(_HALF_ESCAPE.sub(r"\1", unclosed[2])))
    if opens:
        rest = head[opens.end() :]
        response = _RESPONSE_OPENS.search(rest)
        call_input = rest[: response.start()] if response else rest
        found["tool_input"] = _strings(_HEAD_INPUT, call_input)
        ids = _TAIL_CALL_ID.findall(tail)
        if ids:
            found["tool_use_id"] = ids[-1]
    return found


def _strings(pattern: re.Pattern[str], text: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, quoted in pattern.findall(text):
        found.setdefault(key, _decoded(quoted[1:-1]))
    return found


def _decoded(inside: str) -> str:
    """What stands between the quotes of a JSON string; as it stands where an escape is none."""
    try:
        text: str = json.loads(f'"{inside}"', strict=False)
    except ValueError:
        return inside
    return text


def _string(value: Any) -> str:
    return value if isinstance(value, str) else ""
