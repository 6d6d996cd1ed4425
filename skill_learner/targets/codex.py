"""Codex CLI: its hook payloads as events, its replies, and how hooks are registered with it.

The hot half is imported by every hook process of Codex, so nothing here is computed at import.
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

NAME = "codex"
TITLE = "Codex"

# Nothing around model requests or before tool calls: those would cost a process each and tell
# nothing that the rollout does not.
EVENTS: tuple[str, ...] = (
    "SessionStart",
    "UserPromptSubmit",
    "PostToolUse",
    "Stop",
    "Interrupt",
    "SubagentStop",
    "PreCompact",
    "SessionEnd",
)
SETTINGS_FILE = {"project": ".codex/hooks.json", "user": "~/.codex/hooks.json"}
SETTINGS_HEAD: "dict[str, Any]" = {}
READS_ABOVE = True
INDEX_FILE = {"project": "AGENTS.md", "user": "~/.codex/AGENTS.md"}
INDEX_IMPORT = ".codex/skill-learner-index.md"
RULES: dict[str, str] = {}
READS_NOTES: tuple[str, ...] = ()
NOTES_LIMIT = 32 * 1024
SKILLS_DIR = {"project": ".agents/skills", "user": "~/.agents/skills"}
READS_SKILLS: tuple[str, ...] = ()
TWINS = True
APPROVAL = (
    "Codex skips every hook that you have not told it to trust, without a word. Start `codex` in "
    "this folder, trust the project if it asks, then open `/hooks` and trust skill-learner's; "
    "`skill-learner status` asks Codex whether that is done."
)
LISTING_ROOM = 20_000
LIMITS = (
    "Codex reads the hooks of a project only when the project is trusted, and runs only hooks that "
    "are trusted themselves; adding a hook before ours in the file takes their trust away.",
    "In a linked worktree Codex runs the main worktree's hooks, and only where the worktree has a "
    "folder .codex of its own: commit .codex/hooks.json, or install with --user.",
    "Hooks are not told exit codes, nor anything of failed patches and MCP calls: those come from "
    "the session's rollout, which `--ephemeral` sessions lack.",
    "A session that ends by SIGTERM or a kill fires no hook; the next session's start, in any "
    "project, has it reviewed.",
    "Codex has no event for a skill: a use is a SKILL.md that was read, or a `$name` that was "
    "typed (counted once the session is reviewed).",
    "AGENTS.md is read up to 32 KiB, all of its levels taken together.",
    "Where CODEX_HOME is not ~/.codex, `--user` writes to a folder that Codex does not read.",
    "On Windows Codex starts no hook whose program's path needs quotes: install Python and "
    "skill-learner below folders without spaces.",
    "After uninstall, Codex keeps the hashes of the hooks it trusted in its config.toml.",
)

_KINDS = {
    "SessionStart": SESSION_START,
    "UserPromptSubmit": PROMPT,
    "PostToolUse": TOOL,
    "Stop": TURN_END,
    "Interrupt": TURN_END,
    "SessionEnd": SESSION_END,
}
_SAMPLE = 100


# -- hot: one hook call ------------------------------------------------------------------------


def read_event(
    name: str, fields: "Mapping[bytes, bytes]", environ: "Mapping[bytes, bytes]"
) -> HookEvent:
    """See `targets.protocol.Target`. Each line is registered for one event: its name is known."""
    event = HookEvent(NAME, name, _KINDS.get(name, OTHER))
    event.session_id = fields.get(b"session_id", b"")
    event.start_dir = fields.get(b"cwd", b"")
    event.client_pid = _client_pid()
    kind = event.kind
    # Subagents fire under the id of their parent's session.
    event.counts = (kind is TOOL or kind is PROMPT) and not fields.get(b"agent_id")
    if kind is SESSION_START:
        event.cause = fields.get(b"source", b"")
    elif kind is SESSION_END:
        event.cause = fields.get(b"reason", b"")
    # The hooks of the user's and of the project's file both run, equal or not.
    if kind is TOOL:
        event.twin_key = fields.get(b"tool_use_id", b"")
    elif kind is not OTHER:
        said = fields.get(b"prompt") or fields.get(b"last_assistant_message", b"")
        event.twin_key = b"%s\n%d\n%s\n%d %s" % (
            name.encode("ascii"),
            event.client_pid,
            fields.get(b"turn_id", b"") + event.cause,
            len(said),
            said[:_SAMPLE],
        )
    if not event.session_id:
        event.twin_key = b""
    return event


def _client_pid() -> int:
    """Codex starts hooks itself, and every shell on the way becomes what it starts."""
    import posix

    parent = posix.getppid()
    return parent if parent > 1 else 0


def start_reply(message: str, reload_skills: bool, index: str = "") -> bytes:
    """News for the user, not the model. A key that Codex does not know would fail the hook; skills
    are read at each start anyway."""
    if not message and not index:
        return b""
    from skill_learner.hook_runtime.json_bytes import ascii_string

    parts = [b'"systemMessage":' + ascii_string(message)] if message else []
    if index:
        context = context_reply("SessionStart", _for_codex(index)).strip()
        parts.append(context[1:-1])
    return b"{" + b",".join(parts) + b"}\n"


def context_reply(event: str, text: str) -> bytes:
    """As Claude Code's; a Stop that says anything of the kind fails."""
    if event not in ("SessionStart", "UserPromptSubmit", "PostToolUse"):
        return b""
    from skill_learner.hook_runtime.json_bytes import ascii_string

    words = text.replace("load it with the Skill tool:", "read the SKILL.md of the listed skill")
    return b'{"hookSpecificOutput":{"hookEventName":"%s","additionalContext":%s}}\n' % (
        event.encode("ascii"),
        ascii_string(words),
    )


def own_index(index: bytes, main: bytes) -> bytes:
    return _for_codex(index.decode("utf-8", "replace")).encode("utf-8")


# -- cold: reading journals --------------------------------------------------------------------


def canonical(event: str, payload: "Mapping[str, Any]") -> "tuple[str, dict[str, Any]]":
    """See `targets.protocol.Target`. Of a command that failed only the rollout tells."""
    told = dict(payload)
    if event == "Interrupt":
        return "Stop", {**told, "turn_interrupted": True}
    if payload.get("agent_id") and event != "SubagentStop":
        told.pop("transcript_path", None)  # the subagent's own
    if event == "PostToolUse":
        response = payload.get("tool_response")
        if isinstance(response, dict) and isinstance(response.get("isError"), bool):
            told["is_error"] = response["isError"]
        elif payload.get("tool_name") == "Bash":
            told["is_error"] = None
    return event, told


def event_key(event: str, payload: "Mapping[str, Any]") -> "tuple[str, bool]":
    """See `targets.protocol.Target`. Both the user's file and the project's may register us."""
    call = payload.get("tool_use_id")
    if event == "PostToolUse" and isinstance(call, str) and call:
        return f"{event}\n{call}", True
    turn = payload.get("turn_id")
    if event in ("UserPromptSubmit", "Stop", "Interrupt") and isinstance(turn, str) and turn:
        told = [payload.get(key) for key in ("prompt", "last_assistant_message")]
        return f"{event}\n{turn}\n{told!r}", False
    return "", False


# -- cold: registration ------------------------------------------------------------------------


def command_line(event: str) -> str:
    """The registered line: the same bytes on every machine, for every user and version, since
    Codex trusts exactly these bytes. The user's login shell reads it, so it is one simple command
    that all of them understand."""
    from skill_learner.targets.registered_line import launching

    return f"exec sh -c '{launching(NAME, event)}'"


def settings_entry(event: str) -> "dict[str, Any]":
    return _group(command_line(event), event)


def windows_entry(event: str, launch: "list[str]") -> "dict[str, Any]":
    """Codex gives the line to PowerShell or to cmd, each of which starts no program that stands in
    quotes; so it is words without any, wherever the paths allow."""
    from skill_learner.targets.windows_line import guarded, needs_no_quotes

    words = guarded(launch) or launch
    if all(map(needs_no_quotes, words)):
        return _group(" ".join([*words, NAME, event]), event)
    words = [f'"{word}"' for word in launch]
    return _group(" ".join([*words, NAME, event]), event)


def _group(command: str, event: str) -> "dict[str, Any]":
    """Codex warns at each start of more than three seconds for the last events of a session."""
    seconds = 3 if event in ("SessionEnd", "Interrupt") else 30
    return {"hooks": [{"type": "command", "command": command, "timeout": seconds}]}


def is_our_hook(hook: "Mapping[str, Any]") -> bool:
    """By the command alone: it sources the launcher, or (Windows) calls the entry script for this
    target."""
    from skill_learner.targets.registered_line import is_launching

    command = hook.get("command")
    if not isinstance(command, str):
        return False
    text = command.strip()
    if is_launching(text, NAME, "exec sh -c '", "'"):
        return True
    before, entry, rest = text.replace("\\", "/").rpartition("/hooks/entry.py")
    starts = text.startswith('"') or " /d /c if exist " in before
    return starts and bool(entry) and rest.split()[-2:-1] == [NAME]


def settings_faults(settings: "Any") -> "list[str]":
    """Codex leaves out an event that it does not know, and no more."""
    return []


def hooks_not_run(settings: str, folder: str) -> "list[str]":
    """See `targets.protocol.Target`. Codex's own list of hooks tells which it trusts."""
    import os
    import shutil

    program = shutil.which("codex")
    listed = _listed_hooks(program, folder) if program else None
    if listed is None:
        return []
    place = os.path.realpath(settings)
    ours = [
        hook
        for hook in listed
        if os.path.realpath(str(hook.get("sourcePath"))) == place and is_our_hook(hook)
    ]
    if not ours:
        return [
            f"Codex does not read {settings}: it does not trust the project (start `codex` in "
            f"{folder} and trust it), or CODEX_HOME is another folder"
        ]
    states = {"untrusted": "not trusted yet", "modified": "changed since they were trusted"}
    found = []
    for state, words in states.items():
        count = sum(hook.get("trustStatus") == state for hook in ours)
        if count:
            found.append(f"{count} of {len(ours)} hooks are {words}, so Codex skips them silently")
    disabled = sum(hook.get("enabled") is False for hook in ours)
    if disabled:
        found.append(f"{disabled} of {len(ours)} hooks are switched off in Codex")
    return found


_ANSWERS: "dict[tuple[str, str], list[Any] | None]" = {}
_PATIENCE = 15.0  # seconds


def _listed_hooks(program: str, folder: str) -> "list[Any] | None":
    """What Codex lists for a session in this folder (asked once a process); None when it does not
    answer, as versions without hooks do."""
    if (program, folder) not in _ANSWERS:
        answer = _ask(program, "hooks/list", {"cwds": [folder]})
        data = answer.get("data") if isinstance(answer, dict) else None
        entries = data if isinstance(data, list) else []
        lists = [e.get("hooks") for e in entries if isinstance(e, dict)]
        hooks = [h for found in lists if isinstance(found, list) for h in found]
        listed = [hook for hook in hooks if isinstance(hook, dict)]
        _ANSWERS[program, folder] = listed if lists else None
    return _ANSWERS[program, folder]


def _ask(program: str, method: str, parameters: "dict[str, Any]") -> "Any":
    """One request to the app server that Codex's program becomes; None without an answer."""
    import json
    import os
    import subprocess
    import threading

    name = {"clientInfo": {"name": "skill-learner", "version": "1"}}
    messages = (
        {"id": 1, "method": "initialize", "params": name},
        {"method": "initialized"},
        {"id": 2, "method": method, "params": parameters},
    )
    environ = {**os.environ, "SKILL_LEARNER_REVIEW": "1"}
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.DEVNULL}
    try:
        server = subprocess.Popen([program, "app-server"], env=environ, text=True, **pipes)  # type: ignore[call-overload]
    except OSError:
        return None
    timer = threading.Timer(_PATIENCE, server.kill)
    timer.start()
    try:
        for message in messages:
            server.stdin.write(json.dumps(message) + "\n")
        server.stdin.flush()
        for line in server.stdout:
            reply = json.loads(line)
            if isinstance(reply, dict) and reply.get("id") == 2:
                return reply.get("result")
    except (OSError, ValueError):
        return None
    finally:
        _end(server)
        timer.cancel()
    return None


def _end(server: "Any") -> None:
    """It ends by itself when nobody can ask any more; the timer kills one that does not."""
    try:
        server.communicate()
    except OSError:
        server.kill()
        server.wait()


# -- cold: index -------------------------------------------------------------------------------


def index_texts(index: str, layout: str) -> "tuple[str, str | None]":
    """See `targets.protocol.Target`. Codex imports nothing; it reads a file when told to."""
    if layout == "block":
        return _for_codex(index), None
    line = f"Skills learned from earlier sessions are listed in `{INDEX_IMPORT}`; read it first.\n"
    return line, _for_codex(index)


def is_own_index(data: bytes, index: bytes) -> bool:
    return data == own_index(index, b"")


def _for_codex(index: str) -> str:
    """Codex has no tool for skills: the agent reads the file."""
    return index.replace("with the Skill tool", "by reading its SKILL.md")
