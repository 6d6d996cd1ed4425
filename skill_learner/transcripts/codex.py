"""Codex's rollouts: one `{timestamp, type, payload}` a line, appended to by every resume.

`response_item` lines are what the model saw, `event_msg` lines what the client did. Of a command
only the latter tell the exit code, sometimes after the model was told that it still runs, so the
outcomes are gathered first.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_learner.errors import TranscriptError
from skill_learner.models import Session, ToolCall
from skill_learner.transcripts.codex_outcomes import CallOutcomes, command_text, is_killed
from skill_learner.transcripts.lines import JsonLines, file_bytes
from skill_learner.transcripts.results import content_text, result_status
from skill_learner.transcripts.steps import Place, SessionBuilder, ToolResult

FORMAT = "codex"

_HEAD = re.compile(rb'"type"\s*:\s*"session_meta"\s*,\s*"payload"\s*:\s*\{')
_HEAD_BYTES = 4096
_UNWANTED = re.compile(rb'"type"\s*:\s*"(?:world_state|token_usage_record|turn_context)"')
_SKILL = re.compile(r"\s*<skill>\s*<name>([^<\n]+)</name>")
_INJECTED = re.compile(
    r"\s*(?:<(?:environment_context|user_instructions|turn_aborted|hook_prompt|skill|permissions"
    r"|subagent_notification|user_shell_command)\b|# AGENTS\.md instructions\b)"
)


class CodexReader:
    """Reads one rollout: of a session, or of a subagent."""

    FORMAT = FORMAT

    def detect(self, path: Path, head: bytes) -> bool:
        return _HEAD.search(head[:_HEAD_BYTES]) is not None

    def read(self, path: Path) -> Session:
        data = file_bytes(path)
        lines = JsonLines(data, lambda raw: _UNWANTED.search(raw[:200]) is not None)
        records = [(number, r) for number, r in lines if isinstance(r.get("payload"), Mapping)]
        reading = _Reading(path.name, CallOutcomes(record for _, record in records))
        for number, record in records:
            at = record.get("timestamp")
            place = Place(number, "", at if isinstance(at, str) else "")
            reading.take(str(record.get("type")), record["payload"], place)
        if not reading.builder.drafts:
            raise TranscriptError(
                f"{path}: holds no message of a session ({lines.damaged} damaged lines)",
                "Give a rollout file from below ~/.codex/sessions.",
            )
        return reading.builder.build(
            reading.session_id or path.stem,
            FORMAT,
            parent=reading.parent,
            damaged=lines.damaged,
            source=str(path),
        )


class _Reading:
    """One pass over a rollout."""

    def __init__(self, name: str, outcomes: CallOutcomes) -> None:
        self.builder = SessionBuilder(name)
        self.session_id = ""
        self.parent = ""
        self._outcomes = outcomes
        self._of_subagent = False

    def take(self, kind: str, payload: Mapping[str, Any], place: Place) -> None:
        if kind == "session_meta":
            self._take_origin(payload)
        elif kind == "response_item":
            self._take_item(payload, place)
        elif kind == "event_msg":
            self._take_event(payload, place)
        elif kind == "compacted" and _text(payload, "message").strip():
            self.builder.add("summary", payload["message"], place)

    def _take_origin(self, meta: Mapping[str, Any]) -> None:
        """The first is the session's own; a fork carries those of its origin behind it."""
        if self.session_id:
            return
        own, session = _text(meta, "id"), _text(meta, "session_id")
        self.session_id = own or session
        self._of_subagent = _text(meta, "thread_source") == "subagent" or session not in ("", own)
        origin = _text(meta, "forked_from_id") or _text(meta, "parent_thread_id")
        self.parent = origin or (session if self._of_subagent else "")
        self.builder.project = _text(meta, "cwd")

    # -- what the model saw --------------------------------------------------------------------

    def _take_item(self, item: Mapping[str, Any], place: Place) -> None:
        kind = item.get("type")
        if kind == "message" and item.get("role") == "user":
            self._take_user(item, place)
        elif kind == "message" and item.get("role") == "assistant":
            text = content_text(_as_text_blocks(item.get("content"))).strip()
            if text:
                self.builder.add_answer(text, place, _text(item, "id"))
        elif kind in ("function_call", "custom_tool_call", "local_shell_call"):
            self._take_call(item, place)

    def _take_user(self, message: Mapping[str, Any], place: Place) -> None:
        content = message.get("content")
        kinds = _content_kinds(message)
        for number, block in enumerate(content if isinstance(content, list) else []):
            text = block.get("text") if isinstance(block, Mapping) else None
            if not isinstance(text, str):
                continue
            skill = _SKILL.match(text)
            kind = kinds[number] if number < len(kinds) else ""
            if skill and not kind.startswith("user."):
                self._take_skill(skill[1].strip(), text, Place(place.line, _text(message, "id")))
            elif kind.startswith("user.") or (not kind and not _INJECTED.match(text)):
                self._take_words(text, place)

    def _take_words(self, text: str, place: Place) -> None:
        if self._of_subagent:  # the parent's model wrote it, no person
            self.builder.add("plan", text, place)
            self.builder.turn_end = "open"
        else:
            self.builder.add_prompt(text, place)

    def _take_skill(self, name: str, text: str, place: Place) -> None:
        """The human typed `$name`, and the client sent the skill along: as a load by a tool."""
        call_id = place.uuid or f"skill:{place.line}"
        self.builder.add_call(call_id, "Skill", {"skill": name}, place)
        self.builder.add_result(call_id, ToolResult(text, False))

    def _take_call(self, item: Mapping[str, Any], place: Place) -> None:
        call_id = _text(item, "call_id")
        outcome = self._outcomes.get(call_id)
        name, arguments = _call(item)
        is_script = name == "exec" and "input" in arguments
        if is_script and (outcome is None or not outcome.is_error):
            return  # the calls that it makes stand behind it as items of their own
        self.builder.add_call(call_id, name, arguments, place)
        if outcome is not None:
            self.builder.add_result(call_id, outcome)

    # -- what the client did -------------------------------------------------------------------

    def _take_event(self, event: Mapping[str, Any], place: Place) -> None:
        kind = event.get("type")
        if kind == "item_completed" and isinstance(event.get("item"), Mapping):
            self._take_done(event["item"], place)
        elif kind == "turn_aborted":
            self.builder.interrupt()
        elif kind == "task_complete":
            self.builder.turn_end = "api_error" if event.get("error") else "complete"

    def _take_done(self, item: Mapping[str, Any], place: Place) -> None:
        """A call that no item for the model names: one of a script's, or the human's own."""
        call_id = _text(item, "id")
        outcome = self._outcomes.get(call_id)
        if outcome is None or self._outcomes.is_named(call_id):
            return
        if item.get("type") == "CommandExecution":
            command = command_text(item.get("command"))
            if item.get("source") == "user_shell":
                self._take_human_command(command, outcome, place)
                return
            if is_killed(item) and not command:
                return
            self.builder.add_call(call_id, "Bash", {"command": command}, place)
        elif item.get("type") == "FileChange":
            self.builder.add_call(call_id, *_change_call(item.get("changes")), place)
        else:
            name = f"mcp__{_text(item, 'server')}__{_text(item, 'tool')}"
            self.builder.add_call(call_id, name, item.get("arguments") or {}, place)
        self.builder.add_result(call_id, outcome)

    def _take_human_command(self, command: str, outcome: ToolResult, place: Place) -> None:
        arguments = {"command": command}
        status = result_status("Bash", arguments, outcome.text, outcome.is_error, outcome.extra)
        draft = self.builder.add("human_shell", command, place)
        draft.call = ToolCall("", "Bash", arguments, outcome.text, status)


def _call(item: Mapping[str, Any]) -> tuple[str, dict[str, Any]]:
    """Name and arguments in canonical words, but for patches (see `tool_names`)."""
    name = _text(item, "name")
    if item.get("type") == "local_shell_call":
        action = item.get("action")
        return "Bash", {"command": command_text(action.get("command") if action else None)}
    if item.get("type") == "custom_tool_call":
        return name, {"input": _text(item, "input")}
    arguments = _decoded(item.get("arguments"))
    if name == "exec_command" and isinstance(arguments.get("cmd"), str):
        rest = {key: value for key, value in arguments.items() if key != "cmd"}
        return "Bash", {"command": arguments["cmd"], **rest}
    if name in ("shell", "shell_command", "container.exec") and "command" in arguments:
        return "Bash", {**arguments, "command": command_text(arguments["command"])}
    space = _text(item, "namespace")
    return (f"{space}__{name}" if space.startswith("mcp__") else name), arguments


def _change_call(changes: Any) -> tuple[str, dict[str, Any]]:
    """A patch's files with their new text or their diff."""
    edits = []
    for path, change in changes.items() if isinstance(changes, Mapping) else ():
        if not isinstance(change, Mapping):
            continue
        if isinstance(change.get("content"), str) and change.get("type") == "add":
            edits.append({"file_path": path, "content": change["content"]})
        else:
            lines = _text(change, "unified_diff").splitlines()
            old = [line[1:] for line in lines if line[:1] in ("-", " ")]
            new = [line[1:] for line in lines if line[:1] in ("+", " ")]
            texts = {"old_string": "\n".join(old), "new_string": "\n".join(new)}
            edits.append({"file_path": path, **texts})
    if len(edits) == 1:
        return ("Write" if "content" in edits[0] else "Edit"), dict(edits[0])
    first = edits[0]["file_path"] if edits else ""
    return "MultiEdit", {"file_path": first, "edits": edits}


def _decoded(arguments: Any) -> dict[str, Any]:
    if isinstance(arguments, str):
        try:
            arguments = json.loads(arguments, strict=False)
        except (ValueError, RecursionError):
            return {"input": arguments}
    return dict(arguments) if isinstance(arguments, Mapping) else {"input": arguments}


def _content_kinds(message: Mapping[str, Any]) -> list[str]:
    """What each block of a message is, where the client notes it; [] in older rollouts."""
    noted = message.get("internal_chat_message_metadata_passthrough")
    kinds = noted.get("content_item_kinds") if isinstance(noted, Mapping) else None
    return [str(kind) for kind in kinds] if isinstance(kinds, list) else []


def _as_text_blocks(content: Any) -> Any:
    if not isinstance(content, list):
        return content
    return [
        {"type": "text", "text": block.get("text")} if isinstance(block, Mapping) else block
        for block in content
    ]


def _text(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return value if isinstance(value, str) else ""


READER = CodexReader()
