"""One step of a session as parts of text for a digest, before redaction and cutting."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal

from skill_learner.models import Step, ToolCall

Sort = Literal["human", "plan", "prose", "call", "result", "error", "reading", "new", "old"]

CEILINGS: dict[Sort, int] = {
    "plan": 4_000,
    "prose": 1_800,
    "call": 1_900,
    "result": 4_000,
    "error": 12_000,
    "reading": 1_400,
    "new": 1_900,
    "old": 640,
}
"""Most characters that a part shows before anything is scaled; the human's words have none."""

_READING_TOOLS = frozenset(
    "Read Grep Glob LS NotebookRead read_file list_dir grep_search codebase_search"
    " file_search".split()
)
_EDITING_TOOLS = frozenset(
    "Edit MultiEdit Write NotebookEdit Update edit_file search_replace".split()
)
_STATUS = {
    "ok": "ok",
    "suspect": "ok?",
    "failed": "ERROR",
    "rejected": "REJECTED BY HUMAN",
    "interrupted": "INTERRUPTED",
    "pending": "no result seen",
}


@dataclass(frozen=True)
class Part:
    """A piece of a step. lead is ours and never cut; text is the session's and is data."""

    number: int
    sort: Sort
    lead: str
    text: str


def parts_of(step: Step, started: Mapping[str, int]) -> list[Part]:
    """The step as parts, in order. started: call id -> number of the step that launched it."""
    return list(_parts(step, started))


def _parts(step: Step, started: Mapping[str, int]) -> Iterator[Part]:
    head = f"[{step.number}] "
    if step.kind == "human":
        yield Part(step.number, "human", head + "HUMAN: ", step.text)
    elif step.kind == "human_shell":
        yield Part(step.number, "human", head + "HUMAN: (ran in the shell) ", step.text)
        if step.call is not None:
            yield _result(step, step.call)
    elif step.kind == "plan":
        yield Part(step.number, "plan", head + "PLAN: ", step.text)
    elif step.kind == "notice":
        launcher = started.get(step.call.call_id) if step.call else None
        of_step = f"of step {launcher}: " if launcher else ""
        yield Part(step.number, "prose", f"{head}NOTICE: background work {of_step}", step.text)
    elif step.kind == "tool" and step.call is not None:
        yield from _call(step, step.call)
        yield _result(step, step.call)
    else:
        label = "SUMMARY" if step.kind == "summary" else "ASSISTANT"
        yield Part(step.number, "prose", f"{head}{label}: ", step.text)


# -- calls ---------------------------------------------------------------------------------------


def _call(step: Step, call: ToolCall) -> Iterator[Part]:
    number, data = step.number, call.input
    lead = f"[{number}] T:{_one_word(call.name)} "
    if isinstance(data.get("command"), str):
        yield Part(number, "call", lead, data["command"])
    elif isinstance(data.get("plan"), str):
        yield Part(number, "plan", lead, data["plan"])
    elif edits := _edits(data):
        yield Part(number, "call", lead, _path(data))
        for old, new in edits:
            if old:
                yield Part(number, "old", "   - ", old)
            yield Part(number, "new", "   + ", new)
    elif isinstance(data.get("prompt"), str):
        words = f"{data.get('description', '')}: {data['prompt']}"
        yield Part(number, "call", lead, words)
    elif set(data) == {"file_path"}:
        yield Part(number, "call", lead, _path(data))
    else:
        yield Part(number, "call", lead, json.dumps(dict(data), ensure_ascii=False, default=str))


def _edits(data: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Old and new text of each replacement; a written file has no old text."""
    several = data.get("edits")
    if isinstance(several, list):
        return [pair for edit in several if isinstance(edit, dict) for pair in _edits(edit)]
    for key in ("new_string", "new_source", "content", "new_str", "file_text", "contents"):
        if isinstance(data.get(key), str):
            old = data.get("old_string", data.get("old_str", ""))
            return [(old if isinstance(old, str) else "", data[key])]
    return []


def _path(data: Mapping[str, Any]) -> str:
    for key in ("file_path", "notebook_path", "path", "target_file"):
        if isinstance(data.get(key), str):
            return str(data[key])
    return ""


def _one_word(name: str) -> str:
    return re.sub(r"[^\w.:-]+", "_", name)[:120]


# -- results -------------------------------------------------------------------------------------

_ECHO_LINE = re.compile(r"^\s*\d+(?:→|\t).*$\n?", re.MULTILINE)
_NUMBER_PADDING = re.compile(r"^ +(?=\d+(?:→|\t))", re.MULTILINE)
_ECHO_HEAD = re.compile(
    r"^(?:The file .*|File created successfully at: .*|Here's the result of running `cat -n`.*"
    r"|Updated cell .*|Applied \d+ edits? to .*)$\n?",
    re.MULTILINE,
)
_REJECTION = re.compile(
    r"^The user doesn't want to proceed with this tool use\..*?(?:the user said:|\Z)\s*", re.DOTALL
)


def _result(step: Step, call: ToolCall) -> Part:
    text, status = call.result or "", call.status
    word = _STATUS[status]
    sort: Sort = "result"
    if status == "rejected":
        text = step.text or _REJECTION.sub("", text)
        return Part(step.number, "human", f"  -> {word}: " if text else f"  -> {word}", text)
    if status == "failed":
        sort = "error"
    elif call.name in _READING_TOOLS:
        sort = "reading"
        text = _NUMBER_PADDING.sub("", text)
    if call.background and step.kind == "tool":
        word = "started in the background"
    if status == "ok" and call.name in _EDITING_TOOLS:
        text = _ECHO_HEAD.sub("", _ECHO_LINE.sub("", text)).strip()
    return Part(step.number, sort, f"  -> {word}: " if text.strip() else f"  -> {word}", text)
