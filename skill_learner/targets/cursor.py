"""Cursor: its hook payloads as events, its replies, and how hooks are registered with it.

The hot half is imported by every hook process of Cursor, so nothing here is computed at import.
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

NAME = "cursor"
TITLE = "Cursor"

# Never one that may forbid something (preToolUse, beforeShellExecution, ...): Cursor waits for the
# answer of such a hook before every call. And no more than needed: a Cursor that does not know one
# of the names drops the whole file.
EVENTS: tuple[str, ...] = (
    "sessionStart",
    "beforeSubmitPrompt",
    "postToolUse",
    "postToolUseFailure",
    "stop",
    "sessionEnd",
)
SETTINGS_FILE = {"project": ".cursor/hooks.json", "user": "~/.cursor/hooks.json"}
SETTINGS_HEAD = {"version": 1}
READS_ABOVE = False
INDEX_FILE = {"project": ".cursorrules"}
INDEX_IMPORT = ".cursor/rules/skill-learner.mdc"
RULES = {"cursorrules": "block", "mdc": "file"}
READS_NOTES = ("CLAUDE.md", "AGENTS.md")
NOTES_LIMIT = 0
SKILLS_DIR = {"project": ".cursor/skills", "user": "~/.cursor/skills"}
READS_SKILLS = (".claude/skills", ".agents/skills")
TWINS = True
APPROVAL = ""
LISTING_ROOM = 20_000
LIMITS = (
    "Some versions of Cursor drop what a hook prints at a session's start; the index therefore "
    "stands in a rules file.",
    "Cursor calls .cursorrules deprecated; the rule in .cursor/rules points to it "
    "(`init --rules mdc` does it the other way round).",
    "Cursor's transcripts hold no results of tools; those come from the hooks alone.",
    "`cursor-agent -p` sends no prompts and no end of turn; a review starts at the session's end.",
    "With Claude Code and Codex both installed in one project, Cursor sees skills and index twice: "
    "it reads the files of both.",
)

_NAMES = {
    b"sessionStart": "SessionStart",
    b"beforeSubmitPrompt": "UserPromptSubmit",
    b"postToolUse": "PostToolUse",
    b"postToolUseFailure": "PostToolUseFailure",
    b"stop": "Stop",
    b"sessionEnd": "SessionEnd",
    # Not registered by us; Cursor sends them to hooks that were registered with Claude Code.
    b"subagentStop": "SubagentStop",
    b"preCompact": "PreCompact",
}
_KINDS = {
    "SessionStart": SESSION_START,
    "UserPromptSubmit": PROMPT,
    "PostToolUse": TOOL,
    "PostToolUseFailure": TOOL,
    "Stop": TURN_END,
    "SessionEnd": SESSION_END,
}
_PROMPT_SAMPLE = 100


# -- hot: one hook call ------------------------------------------------------------------------


def read_event(
    name: str, fields: "Mapping[bytes, bytes]", environ: "Mapping[bytes, bytes]"
) -> HookEvent:
    """See `targets.protocol.Target`. A hook of the user starts in ~/.cursor, so that the process's
    own folder says least about the project."""
    native = fields.get(b"hook_event_name") or name.encode("ascii", "replace")
    name = _NAMES.get(native, name)
    event = HookEvent(NAME, name, _KINDS.get(name, OTHER))
    event.session_id = fields.get(b"session_id") or fields.get(b"conversation_id", b"")
    event.start_dir = (
        _first_string(fields.get(b"workspace_roots", b""))
        or environ.get(b"CURSOR_PROJECT_DIR")
        or fields.get(b"cwd", b"")
    )
    kind = event.kind
    event.counts = kind is TOOL or kind is PROMPT
    if kind is SESSION_START:
        event.cause = b"startup"
    elif kind is SESSION_END:
        event.cause = fields.get(b"reason", b"")
    call = fields.get(b"tool_use_id", b"")
    if kind is not OTHER and (call or kind is not TOOL) and event.session_id:
        prompt = fields.get(b"prompt", b"")
        event.twin_key = b"\n".join(
            (
                name.encode("ascii"),
                call or fields.get(b"generation_id", b""),
                fields.get(b"status", b""),
                b"%d %s" % (len(prompt), prompt[:_PROMPT_SAMPLE]),
            )
        )
    return event


def start_reply(message: str, reload_skills: bool, index: str = "") -> bytes:
    """All of it goes to the model; the skills are in a folder that Cursor lists."""
    text = "\n\n".join(part for part in (message, _for_cursor(index) if index else "") if part)
    if not text:
        return b""
    from skill_learner.hook_runtime.json_bytes import ascii_string

    return b'{"additional_context":' + ascii_string(text) + b"}\n"


def context_reply(event: str, text: str) -> bytes:
    """Cursor takes no context from the hooks of a prompt or of a failed call."""
    return b""


def own_index(index: bytes, main: bytes) -> bytes:
    """A rule that points to the main worktree's `.cursorrules` would point to nothing."""
    if b"`.cursorrules`" not in main and main.startswith(_FRONT_MATTER.encode("ascii")):
        return main
    return _FRONT_MATTER.encode("ascii") + _for_cursor(index.decode("utf-8")).encode("utf-8")


def _first_string(array: bytes) -> bytes:
    """The first element of a JSON array of strings."""
    from skill_learner.hook_runtime.payload import string_end

    start = array.find(b'"') + 1
    if not start:
        return b""
    text = array[start : string_end(array, start)]
    if b"\\" in text:
        from skill_learner.hook_runtime.json_bytes import unquoted

        return unquoted(text)
    return text


# -- cold: reading journals --------------------------------------------------------------------


def canonical(event: str, payload: "Mapping[str, Any]") -> "tuple[str, dict[str, Any]]":
    """See `targets.protocol.Target`. A shell command that failed comes as an ordinary result with
    the exit code inside; it becomes the failure that it is."""
    told = {key: value for key, value in payload.items() if key != "user_email"}
    told["session_id"] = payload.get("session_id") or payload.get("conversation_id") or ""
    roots = payload.get("workspace_roots")
    if isinstance(roots, list) and roots and isinstance(roots[0], str):
        told["cwd"] = roots[0]
    if event == "PostToolUse":
        return _result(told)
    if event == "PostToolUseFailure":
        told["error"] = payload.get("error_message") or ""
        refused = payload.get("failure_type") == "permission_denied"
        told["is_interrupt"] = refused or payload.get("is_interrupt") is True
    elif event == "Stop":
        if payload.get("status") == "error":
            return "StopFailure", told
        told["turn_interrupted"] = payload.get("status") == "aborted"
    return event, told


def _result(told: "dict[str, Any]") -> "tuple[str, dict[str, Any]]":
    output = told.pop("tool_output", None)
    decoded = _decoded(output)
    if not isinstance(decoded, dict):
        if output is not None:
            told["tool_response"] = output
        return "PostToolUse", told
    streams = [decoded.get(key) for key in ("output", "stdout", "stderr")]
    texts = [text for text in streams if isinstance(text, str)]
    text = "\n".join(filter(None, texts))
    code = decoded.get("exitCode")
    if isinstance(code, int) and not isinstance(code, bool) and code:
        told["error"] = f"Exit code {code}\n{text}"
        return "PostToolUseFailure", told
    if texts:
        told["tool_response"] = {"stdout": text, "stderr": "", "interrupted": False}
    else:
        told["tool_response"] = decoded
    return "PostToolUse", told


def _decoded(output: "Any") -> "Any":
    import json

    if not isinstance(output, str):
        return output
    try:
        return json.loads(output, strict=False)
    except (ValueError, RecursionError):
        return None


def event_key(event: str, payload: "Mapping[str, Any]") -> "tuple[str, bool]":
    """See `targets.protocol.Target`. Cursor runs every hook of every file it knows, Claude Code's
    included, so one event may be journalled several times, by commands that run at once. Ids of
    tool calls are unique; a generation's id is not (in the CLI all turns bear the same)."""
    import json

    call = payload.get("tool_use_id")
    if isinstance(call, str) and call:
        return f"{event}\n{call}", True
    telling = (
        "generation_id",
        "prompt",
        "status",
        "loop_count",
        "reason",
        "subagent_id",
        "tool_input",
    )
    told = [payload.get(field) for field in telling]
    return f"{event}\n{json.dumps(told, default=str)}", False


# -- cold: registration ------------------------------------------------------------------------


def command_line(event: str) -> str:
    """The registered line: the same bytes on every machine, for every user and version.

    Cursor may append a here-document with the payload to it: then its last simple command is what
    reads the payload, and a comment at its end would let the shell run the payload. So it is one
    simple command, with everything else inside.
    """
    from skill_learner.targets.registered_line import launching

    return f"sh -c '{launching(NAME, event)}'"


def settings_entry(event: str) -> "dict[str, Any]":
    return {"command": command_line(event), "timeout": 30}


def windows_entry(event: str, launch: "list[str]") -> "dict[str, Any]":
    """For PowerShell, which runs hooks on Windows. What comes of the call does not count: it fails
    where interpreter or package are gone. Nothing stands before it, for that might read the
    payload."""
    words = " ".join(_powershell_quoted(word) for word in (*launch, NAME, event))
    return {"command": f"& {words}; exit 0", "timeout": 30}


def _powershell_quoted(word: str) -> str:
    """In single quotes nothing is expanded; PowerShell takes the curly ones for quotes as well."""
    for quote in "'\u2018\u2019\u201a\u201b":
        word = word.replace(quote, quote * 2)
    return f"'{word}'"


def is_our_hook(hook: "Mapping[str, Any]") -> bool:
    """By the command alone: it sources the launcher, or (Windows) calls the entry script for this
    target."""
    from skill_learner.targets.registered_line import is_launching

    command = hook.get("command")
    if not isinstance(command, str):
        return False
    text = command.strip()
    if is_launching(text, NAME, "sh -c '", "'"):
        return True
    words = text.replace("\\", "/")
    return words.startswith("& '") and "/hooks/entry.py' " in words and f" '{NAME}' '" in words


_KNOWN_EVENTS = """
sessionStart sessionEnd preToolUse postToolUse postToolUseFailure subagentStart subagentStop
beforeShellExecution afterShellExecution beforeMCPExecution afterMCPExecution beforeReadFile
afterFileEdit beforeTabFileRead afterTabFileEdit beforeSubmitPrompt preCompact stop
afterAgentResponse afterAgentThought workspaceOpen
"""


def settings_faults(settings: "Any") -> "list[str]":
    """See `targets.protocol.Target`. One bad entry is enough for Cursor to drop the whole file."""
    if not isinstance(settings, dict):
        return ["it is not a JSON object"]
    faults = []
    version = settings.get("version", 1)
    if str(version) != "1" or isinstance(version, (bool, float)):
        faults.append(f"`version` is {version!r} instead of 1")
    hooks = settings.get("hooks", {})
    if not isinstance(hooks, dict):
        return [*faults, "`hooks` is not an object"]
    for event, entries in hooks.items():
        if event not in _KNOWN_EVENTS.split():
            faults.append(f"`hooks.{event}`: Cursor has no such event (as far as known here)")
        if not isinstance(entries, list):
            faults.append(f"`hooks.{event}` is not a list")
            continue
        for number, entry in enumerate(entries, 1):
            fault = _entry_fault(entry)
            if fault:
                faults.append(f"`hooks.{event}`, entry {number}: {fault}")
    return faults


def _entry_fault(entry: "Any") -> str:
    if not isinstance(entry, dict):
        return "is not an object"
    if isinstance(entry.get("hooks"), list):
        return "is nested as in Claude Code's settings; Cursor wants the hook itself"
    wanted = "prompt" if entry.get("type") == "prompt" else "command"
    if entry.get("type", "command") not in ("command", "prompt"):
        return f"has the unknown type {entry['type']!r}"
    if not isinstance(entry.get(wanted), str) or not entry[wanted].strip():
        return f"has no `{wanted}`"
    return ""


def hooks_not_run(settings: str, folder: str) -> "list[str]":
    return []


# -- cold: index -------------------------------------------------------------------------------

# Without a real boolean, or without front matter at all, Cursor silently leaves the rule out.
_FRONT_MATTER = """\
---
description: Skills that skill-learner learned from earlier sessions
alwaysApply: true
---
"""


def index_texts(index: str, layout: str) -> "tuple[str, str | None]":
    """See `targets.protocol.Target`. However many of the files a Cursor reads, it sees the index
    once: the others hold one line that says where it stands."""
    if layout == "block":
        return _for_cursor(index), _FRONT_MATTER + _pointer(INDEX_FILE["project"])
    if layout == "file":
        return _pointer(INDEX_IMPORT), _FRONT_MATTER + _for_cursor(index)
    return _pointer(layout), _FRONT_MATTER + _pointer(layout)


def is_own_index(data: bytes, index: bytes) -> bool:
    return data.startswith(_FRONT_MATTER.encode("ascii"))


def _pointer(file: str) -> str:
    return (
        f"Skills learned from earlier sessions are listed in `{file}`; read it if you have not.\n"
    )


def _for_cursor(index: str) -> str:
    """Cursor has no tool for skills: the agent reads the file."""
    return index.replace("with the Skill tool", "by reading its SKILL.md")
