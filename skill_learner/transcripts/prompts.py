"""What a text in the user's place is: typed words, a command of theirs, or something injected.

Editors put much into the user's mouth: results of slash commands, notices of background work,
reminders, skill bodies. Only what a person typed may count as their word.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Literal

PromptKind = Literal[
    "human",
    "human_shell",
    "shell_output",
    "notice",
    "plan",
    "summary",
    "interrupted",
    "skill",
    "injected",
]


@dataclass(frozen=True)
class Prompt:
    """text: the words, the command, its output, the notice, or the skill's name.
    task_call: for a notice the id of the tool call that started the work.
    failed: for a notice, whether its status or exit code says that the work failed; None when it
    was stopped from outside.
    """

    kind: PromptKind
    text: str = ""
    task_call: str = ""
    failed: bool | None = False


INJECTED = Prompt("injected")

_REMINDER = re.compile(r"\s*<system-reminder>.*?</system-reminder>", re.DOTALL)
_INJECTED_SPAN = re.compile(
    r"<(ide_[a-z_]+|[a-z-]+-hook|local-command-[a-z]+|new-diagnostics)>.*?</\1>", re.DOTALL
)
_INJECTED_START = (
    "<teammate-message",
    "<ci-monitor-event",
    "<local-command-",
    "<system-reminder",
    "Caveat: The messages below",
)
_COMMAND = re.compile(r"<command-name>\s*/?(.*?)\s*</command-name>", re.DOTALL)
_COMMAND_ARGS = re.compile(r"<command-args>(.*?)</command-args>", re.DOTALL)
_SHELL_INPUT = re.compile(r"<bash-input>(.*?)</bash-input>", re.DOTALL)
_SHELL_OUTPUT = re.compile(r"<bash-(?:stdout|stderr)>(.*?)</bash-(?:stdout|stderr)>", re.DOTALL)
_MEMORY_INPUT = re.compile(r"<user-memory-input>(.*?)</user-memory-input>", re.DOTALL)
_SKILL_FOLDER = re.compile(r"Base directory for this skill:[ \t]*([^\r\n]+)")
_TASK_FIELD = re.compile(
    r"<(status|summary|result|event|exit-code|tool-use-id)>(.*?)</\1>", re.DOTALL
)
_EXIT_CODE = re.compile(r"\bexit code:? (-?\d+)")
_TAG = re.compile(r"</?[a-z-]+>")
_PLAN_START = "Implement the following plan:"
_SUMMARY_START = "This session is being continued from a previous conversation"

_EDITOR_COMMAND_NAMES = """
add-dir agents bashes bug clear compact config context copy cost diff doctor effort exit export
extra-usage fast feedback fork help hooks ide init insights install-github-app keybindings login
logout mcp memory mobile model output-style permissions plan plugin plugins privacy-settings
quit rate-limit-options release-notes reload-plugins remote-control rename resume rewind sandbox
skills stats status statusline stickers tasks terminal-setup theme todos upgrade usage vim voice
"""
EDITOR_COMMANDS = frozenset(_EDITOR_COMMAND_NAMES.split())
"""Slash commands that steer the editor itself: neither they nor their arguments are the work."""


def without_reminders(text: str) -> str:
    """`text` without the editor's `<system-reminder>` spans."""
    return _REMINDER.sub("", text) if "<system-reminder>" in text else text


def classify_prompt(raw: str) -> Prompt:
    """Tell what `raw`, a text in the user's place, is."""
    text = without_reminders(raw)
    if "<" in text:
        text = _INJECTED_SPAN.sub("", text)
    text = text.strip()
    if not text or text.startswith(_INJECTED_START):
        return INJECTED
    if text[0] == "<":
        tagged = _classify_tagged(text)
        if tagged is not None:
            return tagged
    if text.startswith("[Request interrupted by user"):
        return Prompt("interrupted")
    if text.startswith(_PLAN_START):
        return Prompt("plan", text)
    if text.startswith(_SUMMARY_START):
        return Prompt("summary", text)
    folder = skill_of_base_directory(text)
    return Prompt("skill", folder) if folder else Prompt("human", text)


def skill_of_base_directory(text: str) -> str:
    """The folder name of a skill whose body the editor inserted, else ""."""
    match = _SKILL_FOLDER.match(text.lstrip())
    if match is None:
        return ""
    return re.split(r"[\\/]", match[1].strip().rstrip("\\/"))[-1]


def _classify_tagged(text: str) -> Prompt | None:
    if text.startswith(("<command-name>", "<command-message>")):
        return _slash_command(text)
    if text.startswith("<bash-input>"):
        return Prompt("human_shell", _first(_SHELL_INPUT, text))
    if text.startswith(("<bash-stdout>", "<bash-stderr>")):
        parts = [part.strip("\n") for part in _SHELL_OUTPUT.findall(text)]
        return Prompt("shell_output", "\n".join(part for part in parts if part))
    if text.startswith("<user-memory-input>"):
        return Prompt("human", "# " + _first(_MEMORY_INPUT, text))
    if text.startswith("<task-notification>"):
        return _task_notification(text)
    return None


def _slash_command(text: str) -> Prompt:
    name = _first(_COMMAND, text)
    if not name or name in EDITOR_COMMANDS:
        return INJECTED
    return Prompt("human", f"/{name} {_first(_COMMAND_ARGS, text)}".strip())


def _task_notification(text: str) -> Prompt:
    fields = {name: value.strip() for name, value in _TASK_FIELD.findall(text)}
    status, summary = fields.get("status", ""), fields.get("summary", "")
    if not status and not summary:
        body = _TAG.sub("", fields.get("event", "")).strip()
        return Prompt("notice", body, fields.get("tool-use-id", "")) if body else INJECTED
    exit_code = fields.get("exit-code", "")
    if not exit_code:
        named = _EXIT_CODE.search(summary)
        exit_code = named[1] if named else ""
    elif "exit code" not in summary:
        summary = f"{summary} (exit code {exit_code})".strip()
    lines = [f"[{status}] {summary}" if status else summary, fields.get("result", "")]
    failed: bool | None = status in ("failed", "error") or exit_code not in ("", "0")
    if status in ("killed", "stopped", "cancelled"):
        failed = None
    return Prompt("notice", "\n".join(filter(None, lines)), fields.get("tool-use-id", ""), failed)


def _first(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.search(text)
    return match[1].strip() if match else ""
