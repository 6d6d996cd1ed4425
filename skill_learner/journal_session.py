"""A `Session` from the journal alone: what the hooks' payloads tell of the talk."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path

from skill_learner.journal import JournalReading, JournalRecord
from skill_learner.models import Session, Step
from skill_learner.transcripts.results import response_text
from skill_learner.transcripts.steps import Place, SessionBuilder, ToolResult

UNKNOWN_PARENT = "unknown"
"""`Session.parent` of a fork whose origin only the transcript would name."""

_CUT_RESULT = "[result too large for the journal]"


@dataclass(frozen=True)
class JournalSession:
    """project: the main worktree as the hooks found it; the session's own is where it started.
    transcript: path of the editor's transcript as the payloads name it, "" when they do not."""

    session: Session
    project: str
    transcript: str
    ends: dict[int, int]

    def end_of(self, step: Step) -> int:
        """The journal offset behind the record that a step came from."""
        return self.ends[int(step.source.rpartition(":")[2])]


def session_from_journal(reading: JournalReading, journal: Path) -> JournalSession | None:
    """The session that a journal, read from its start, tells of; None when it holds no event."""
    records = reading.records
    if not records:
        return None
    project = next((r.project for r in records if r.project), "")
    started_in = next((r.text("cwd") for r in records if r.text("cwd")), "")
    listener = _Listener(SessionBuilder("journal", started_in or project))
    for record in records:
        listener.hear(record)
    session = listener.builder.build(
        next((r.text("session_id") for r in records if r.text("session_id")), journal.stem),
        next((r.editor for r in records if r.editor), "claude-code"),
        parent=listener.parent,
        damaged=reading.damaged,
        source=str(journal),
    )
    paths = [r.text("transcript_path") for r in records if r.text("transcript_path")]
    transcript = paths[-1] if paths else ""
    return JournalSession(session, project, transcript, {r.line: r.end for r in records})


class _Listener:
    """Turns hook events into steps, one after another."""

    def __init__(self, builder: SessionBuilder) -> None:
        self.builder = builder
        self.parent = ""
        self._events: dict[str, Callable[[JournalRecord, Place], None]] = {
            "SessionStart": self._session_start,
            "UserPromptSubmit": self._prompt,
            "UserPromptExpansion": self._slash_command,
            "PostToolUse": self._tool,
            "PostToolUseFailure": self._tool_failure,
            "Stop": self._stop,
            "StopFailure": self._stop_failure,
            "SessionEnd": self._session_end,
        }

    def hear(self, record: JournalRecord) -> None:
        handle = self._events.get(record.event)
        if handle is None or record.payload is None or record.of_subagent:
            return
        at = datetime.fromtimestamp(record.at, timezone.utc).isoformat() if record.at > 0 else ""
        handle(record, Place(record.line, "", at))

    def _session_start(self, record: JournalRecord, place: Place) -> None:
        if record.text("source") == "fork":
            self.parent = UNKNOWN_PARENT

    def _prompt(self, record: JournalRecord, place: Place) -> None:
        self.builder.add_prompt(record.text("prompt"), place)

    def _slash_command(self, record: JournalRecord, place: Place) -> None:
        name = record.text("command_name").lstrip("/")
        if not name:
            return
        self.builder.loaded.add(name)
        drafts = self.builder.drafts
        typed = f"/{name} {record.text('command_args')}".strip()
        if not drafts or drafts[-1].kind != "human" or not drafts[-1].text.startswith(f"/{name}"):
            self.builder.add("human", typed, place)
            self.builder.turn_end = "open"

    def _tool(self, record: JournalRecord, place: Place) -> None:
        response = (record.payload or {}).get("tool_response")
        text = _CUT_RESULT if record.cut and response is None else response_text(response)
        told = (record.payload or {}).get("is_error", False)
        is_error = told if told is None or isinstance(told, bool) else False
        self._finished_call(record, place, ToolResult(text, is_error, response))

    def _tool_failure(self, record: JournalRecord, place: Place) -> None:
        payload = record.payload or {}
        extra = {"interrupted": payload.get("is_interrupt") is True}
        self._finished_call(record, place, ToolResult(record.text("error"), True, extra))

    def _finished_call(self, record: JournalRecord, place: Place, result: ToolResult) -> None:
        call_id = record.text("tool_use_id") or f"journal:{record.line}"
        tool_input = (record.payload or {}).get("tool_input")
        self.builder.add_call(call_id, record.text("tool_name"), tool_input or {}, place)
        self.builder.add_result(call_id, result)

    def _stop(self, record: JournalRecord, place: Place) -> None:
        answer = record.text("last_assistant_message").strip()
        if answer:
            self.builder.add_answer(answer, place, "")
        self.builder.turn_end = "complete"
        if (record.payload or {}).get("turn_interrupted") is True:
            self.builder.interrupt()

    def _stop_failure(self, record: JournalRecord, place: Place) -> None:
        self.builder.turn_end = "api_error"

    def _session_end(self, record: JournalRecord, place: Place) -> None:
        if self.builder.turn_end == "open":
            # Neither Stop nor StopFailure came: the client was stopped, or an API error ended it.
            self.builder.turn_end = "interrupted"
