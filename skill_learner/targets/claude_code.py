"""Claude Code: its hook payloads as events, its replies, and how hooks are registered with it.

The hot half is imported by every hook process, so nothing here is computed at import time.
"""

from skill_learner.events import (
    OTHER,
    PROMPT,
    SESSION_END,
    SESSION_START,
    TOOL,
    TURN_END,
    HookEvent,
)

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

NAME = "claude-code"
TITLE = "Claude Code"

EVENTS: tuple[str, ...] = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "PostToolUseFailure",
    "Stop",
    "StopFailure",
    "SubagentStop",
    "PreCompact",
    "UserPromptExpansion",
    "SessionEnd",
)
SETTINGS_FILE = {
    "project": ".claude/settings.json",
    "local": ".claude/settings.local.json",
    "user": "~/.claude/settings.json",
}
SETTINGS_HEAD: "dict[str, Any]" = {}
READS_ABOVE = False
INDEX_FILE = {"project": "CLAUDE.md", "local": "CLAUDE.md", "user": "~/.claude/CLAUDE.md"}
SKILLS_DIR = {"project": ".claude/skills", "user": "~/.claude/skills"}
INDEX_IMPORT = ".claude/skill-learner-index.md"
RULES: dict[str, str] = {}
READS_NOTES: tuple[str, ...] = ()
NOTES_LIMIT = 0
READS_SKILLS: tuple[str, ...] = ()
TWINS = False
APPROVAL = ""
LISTING_ROOM = 1_000
LIMITS: tuple[str, ...] = ()

_KINDS = {
    "SessionStart": SESSION_START,
    "UserPromptSubmit": PROMPT,
    "PostToolUse": TOOL,
    "PostToolUseFailure": TOOL,
    "Stop": TURN_END,
    "StopFailure": TURN_END,
    "SessionEnd": SESSION_END,
}


# -- hot: one hook call ------------------------------------------------------------------------


def read_event(
    name: str, fields: "Mapping[bytes, bytes]", environ: "Mapping[bytes, bytes]"
) -> HookEvent:
    """The event behind a payload's top-level `fields` (see hook_runtime.payload)."""
    event = HookEvent(NAME, name, _KINDS.get(name, OTHER))
    event.session_id = fields.get(b"session_id") or environ.get(b"CLAUDE_CODE_SESSION_ID", b"")
    event.start_dir = environ.get(b"CLAUDE_PROJECT_DIR") or fields.get(b"cwd", b"")
    pid = environ.get(b"CLAUDE_PID", b"")
    if pid.isdigit():
        event.client_pid = int(pid)
    kind = event.kind
    # A subagent's events carry agent_id; the end of background work comes as a prompt of its own.
    if kind is TOOL:
        event.counts = not fields.get(b"agent_id")
    elif kind is PROMPT:
        event.counts = not fields.get(b"prompt", b"").startswith(b"<task-notification>")
    elif kind is SESSION_START:
        event.cause = fields.get(b"source", b"")
    elif kind is SESSION_END:
        event.cause = fields.get(b"reason", b"")
    return event


def start_reply(message: str, reload_skills: bool, index: str = "") -> bytes:
    """What SessionStart prints: a line for the user (never the model), whether skills were written
    that the editor should read now, and what the model is told. b"" when there is nothing to say.
    """
    parts = []
    if message or index:
        from skill_learner.hook_runtime.json_bytes import ascii_string
    if message:
        parts.append(b'"systemMessage":' + ascii_string(message))
    if reload_skills or index:
        told = b',"reloadSkills":true' if reload_skills else b""
        told += b',"additionalContext":' + ascii_string(index) if index else b""
        parts.append(b'"hookSpecificOutput":{"hookEventName":"SessionStart"' + told + b"}")
    return b"{" + b",".join(parts) + b"}\n" if parts else b""


def context_reply(event: str, text: str) -> bytes:
    """What a hook prints so that the model sees `text` beside a prompt or a tool's result."""
    from skill_learner.hook_runtime.json_bytes import ascii_string

    return b'{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":%s}}\n' % (
        event.encode("ascii"),
        ascii_string(text),
    )


def own_index(index: bytes, main: bytes) -> bytes:
    return index


# -- cold: reading journals --------------------------------------------------------------------


def canonical(event: str, payload: "Mapping[str, Any]") -> "tuple[str, dict[str, Any]]":
    """The canonical words are Claude Code's own."""
    return event, dict(payload)


def event_key(event: str, payload: "Mapping[str, Any]") -> tuple[str, bool]:
    """Claude Code runs equal commands once, so every record is an event."""
    return "", False


# -- cold: registration ------------------------------------------------------------------------


def command_line(event: str) -> str:
    """The registered POSIX sh line: the same bytes on every machine, for every user and version."""
    from skill_learner.targets.registered_line import launching

    return launching(NAME, event)


def exec_form(event: str, launch: "list[str]") -> "dict[str, Any]":
    """The hook entry for Windows, which has no sh: program and arguments, no shell of the editor's.

    launch: interpreter, options, entry script, package root, state folder (see
    hook_runtime.launcher.launch_arguments). Not path-free, so it belongs in settings.local.json.
    """
    from skill_learner.targets.windows_line import guarded

    words = [*(guarded(launch) or launch), NAME, event]
    return {"type": "command", "command": words[0], "args": words[1:]}


def settings_entry(event: str) -> "dict[str, Any]":
    """The group that init appends under `hooks.<event>`. No matcher: every tool, every source."""
    return {"hooks": [{"type": "command", "command": command_line(event)}]}


def windows_entry(event: str, launch: "list[str]") -> "dict[str, Any]":
    return {"hooks": [exec_form(event, launch)]}


def settings_faults(settings: "Any") -> "list[str]":
    """Claude Code leaves out an entry that it does not understand, and no more."""
    return []


def hooks_not_run(settings: str, folder: str) -> "list[str]":
    return []


def index_texts(index: str, layout: str) -> "tuple[str, str | None]":
    """See `targets.protocol.Target`. Notes may import a file, at any layout but "block"."""
    return (index, None) if layout == "block" else (f"@{INDEX_IMPORT}", index)


def is_own_index(data: bytes, index: bytes) -> bool:
    return data == index


def is_our_command(command: str) -> bool:
    """Whether a registered command is ours, of this or any other version."""
    from skill_learner.targets.registered_line import is_launching

    return is_launching(command, NAME)


def is_our_hook(hook: "Mapping[str, Any]") -> bool:
    """Whether one entry of a `hooks` list is ours, in the sh form or the exec form."""
    command, arguments = hook.get("command"), hook.get("args")
    if isinstance(command, str) and is_our_command(command):
        return True
    if not isinstance(arguments, list) or NAME not in arguments:
        return False
    scripts = (str(argument).replace("\\", "/") for argument in arguments)
    return any(script.endswith("hooks/entry.py") for script in scripts)
