"""The whole way in Cursor: two sessions that fix the same thing, and a skill before the third."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest
from cursor_sandbox import CHECKOUT, CursorSandbox

pytestmark = pytest.mark.process

ERROR = """\
Traceback (most recent call last):
  File "tools/build.py", line 14, in <module>
    manifest = load_manifest("site/manifest.txt")
ValueError: manifest is stale: run `python tools/manifest.py --write` first
"""


def session(cursor: CursorSandbox, number: int) -> None:
    """One fails to build, finds the remedy, and builds."""
    common: dict[str, Any] = {"conversation_id": f"session-{number}"}
    calls = [
        ("python tools/build.py", ERROR, 1),
        ("python tools/manifest.py --write", "wrote site/manifest.txt\n", 0),
        ("python tools/build.py", "built 4 pages\n", 0),
    ]
    cursor.fire("sessionStart", {**common})
    cursor.fire("beforeSubmitPrompt", {**common, "prompt": "Build the site, please"})
    for at, (command, output, code) in enumerate(calls):
        call = {
            "tool_name": "Shell",
            "tool_input": {"command": command, "cwd": ""},
            "tool_output": json.dumps({"output": output, "exitCode": code}),
            "tool_use_id": f"tool-{number}-{at}",
        }
        cursor.fire("postToolUse", {**common, **call})
    cursor.fire("stop", {**common, "status": "completed", "loop_count": 0})
    cursor.fire("sessionEnd", {**common, "reason": "completed"})


def review(cursor: CursorSandbox) -> str:
    command: list[str | bytes] = [sys.executable, "-m", "skill_learner", "review"]
    cursor.root.joinpath("cwd").mkdir(exist_ok=True)
    environ = {**os.environ, **cursor.environ, "PYTHONPATH": str(CHECKOUT)}
    done = cursor.start(command, environ=environ)
    assert done.returncode == 0, done.stderr
    return done.stdout.decode()


def test_a_cursor_user_gets_the_same_loop(cursor: CursorSandbox) -> None:
    cursor.install("cursor")
    for number in (1, 2):
        session(cursor, number)
        review(cursor)
    skills = [p for p in (cursor.project / ".cursor/skills").iterdir() if p.is_symlink()]
    (skill,) = skills
    body = (skill / "SKILL.md").read_text()
    assert "python tools/manifest.py --write" in body
    rules = (cursor.project / ".cursorrules").read_text()
    assert f"- {skill.name}: " in rules
    assert "Skill tool" not in rules
    assert skill.name not in (cursor.project / ".cursor/rules/skill-learner.mdc").read_text()
    printed = cursor.fire("sessionStart", {"conversation_id": "session-3"})
    assert skill.name in json.loads(printed)["additional_context"]
    cursor.install("claude-code")
    assert (cursor.project / ".claude/skills" / skill.name / "SKILL.md").is_file()
    assert not (cursor.project / ".cursor/skills").exists()
    assert f"- {skill.name}: " in (cursor.project / "CLAUDE.md").read_text()
    assert skill.name not in (cursor.project / ".cursorrules").read_text()
