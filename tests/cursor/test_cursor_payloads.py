"""Every payload and variant through the written command, in each way that Cursor may start it."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from cursor_sandbox import SHARED, CursorSandbox

from skill_learner.targets import cursor as target

pytestmark = pytest.mark.process

FOLDER = SHARED / "cursor" / "payloads"
FILES = [
    path.relative_to(FOLDER).as_posix()
    for path in sorted((*FOLDER.glob("*.json"), *FOLDER.glob("variants/*")))
] or ["(no payloads)"]
DAMAGED = {"variants/empty.bin", "variants/two_objects.bin"}
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh") if shutil.which(shell)]
WAYS = ["stdin", "stdin, in ~/.cursor", *(f"here-document, {shell}" for shell in SHELLS)]
CLAUDE_NAMES = {
    "sessionStart": "SessionStart",
    "beforeSubmitPrompt": "UserPromptSubmit",
    "postToolUse": "PostToolUse",
    "postToolUseFailure": "PostToolUseFailure",
    "stop": "Stop",
    "sessionEnd": "SessionEnd",
    "subagentStop": "SubagentStop",
    "preCompact": "PreCompact",
}
LONGEST_ARGUMENT = 128 * 1024  # of one argument, on Linux


def start(sandbox: CursorSandbox, way: str, line: str, payload: bytes) -> tuple[int, bytes, bytes]:
    if way.startswith("stdin"):
        folder = sandbox.home / ".cursor" if "~" in way else sandbox.project
        folder.mkdir(exist_ok=True)
        done = sandbox.start(["/bin/sh", "-c", line], payload, cwd=folder)
    else:
        shell = way.rpartition(" ")[2]
        text = os.fsencode(line) + b" <<'CURSOR_PAYLOAD'\n" + payload + b"\nCURSOR_PAYLOAD\n"
        if len(text) < LONGEST_ARGUMENT:
            done = sandbox.start([shell, "-c", text])
        else:
            script = sandbox.root / "script"
            script.write_bytes(text)
            done = sandbox.start([shell, os.fsencode(script)])
    return done.returncode, done.stdout, done.stderr


def line_for(sandbox: CursorSandbox, native: str, kind: str) -> str:
    if kind == "cursor":
        return sandbox.line(native if native in target.EVENTS else "postToolUse")
    return sandbox.line(CLAUDE_NAMES.get(native, "PostToolUse"), ".claude/settings.json")


def whole(raw: bytes) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(raw.decode("utf-8", "replace").lstrip("\ufeff"))
    value.pop("user_email", None)
    return value


def journalled(sandbox: CursorSandbox) -> list[dict[str, Any]]:
    """The raw records; a line that is none is left out."""
    found = []
    for path in sandbox.state.journal_dir.glob("*.jsonl"):
        for line in path.read_bytes().split(b"\n"):
            try:
                found.append(json.loads(line.decode("utf-8", "replace")))
            except ValueError:
                continue
    return found


@pytest.mark.parametrize("kind", ["cursor", "claude-code"])
@pytest.mark.parametrize("way", WAYS)
def test_every_payload(cursor: CursorSandbox, payloads: Path, way: str, kind: str) -> None:
    cursor.install(kind)
    for name in FILES:
        payload = (payloads / name).read_bytes()
        native = Path(name).name.partition(".")[0]
        shutil.rmtree(cursor.state.journal_dir, ignore_errors=True)
        line = line_for(cursor, native, kind)
        code, printed, complaints = start(cursor, way, line, payload)
        assert (code, complaints) == (0, b""), name
        check_printed(printed, name)
        readings = cursor.readings()
        assert sum(len(reading.records) + reading.damaged for reading in readings) >= 1, name
        if name in DAMAGED:
            assert sum(reading.damaged for reading in readings) == 1, name
        else:
            check_record(cursor, payload, name)
    assert not cursor.state.hook_log.exists(), cursor.state.hook_log.read_text()
    for path in cursor.state.root.rglob("*"):
        assert not path.is_file() or b"dev@example.com" not in path.read_bytes(), path


def check_printed(printed: bytes, name: str) -> None:
    if printed:
        reply = json.loads(printed.decode("ascii"))
        assert set(reply) == {"additional_context"}, name


def check_record(cursor: CursorSandbox, payload: bytes, name: str) -> None:
    (raw,) = journalled(cursor)
    wanted = whole(payload)
    kept = raw["d"]
    kept.pop("user_email", None)
    assert kept == wanted, name
    (record,) = [record for reading in cursor.readings() for record in reading.records]
    assert record.editor == "cursor", name
    assert record.text("session_id") == wanted.get("conversation_id", ""), name
    roots = wanted.get("workspace_roots", [])
    assert record.project == (roots[0] if roots else str(cursor.project)), name


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["cursor", "claude-code"])
def test_a_vanished_tool_is_silent(cursor: CursorSandbox, kind: str, way: str) -> None:
    cursor.install(kind)
    line = line_for(cursor, "sessionStart", kind)
    script = cursor.launcher.read_bytes()
    cursor.launcher.write_bytes(script.replace(b"i='", b"i='/nowhere"))
    assert start(cursor, way, line, b"{}") == (0, b"", b"")
    cursor.launcher.unlink()
    assert start(cursor, way, line, b"{}") == (0, b"", b"")


def test_secrets_of_the_environment_are_blanked(cursor: CursorSandbox) -> None:
    cursor.install("cursor")
    secret = "correct-horse-battery"
    payload = json.dumps({"conversation_id": "s", "cursor_version": "1", "prompt": secret}).encode()
    line = f"API_TOKEN={secret} {cursor.line('beforeSubmitPrompt')}"
    assert start(cursor, "stdin", line, payload) == (0, b"", b"")
    assert secret.encode() not in (cursor.state.journal_dir / "s.jsonl").read_bytes()
