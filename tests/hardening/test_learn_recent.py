"""Learning from a project's past sessions: found, priced, asked, then done."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox

from skill_learner.transcripts.past import recent_transcripts

Run = Callable[..., Any]
ERROR = "FAILED tests/test_cart.py - ValueError: currency code missing in settings.toml"


def line(cwd: Path, number: int, role: str, content: Any, **more: Any) -> str:
    base = {
        "type": role, "uuid": f"u{number}", "sessionId": "s1", "cwd": str(cwd),
        "timestamp": f"2026-05-04T10:00:{number:02d}.000Z", "version": "2.1.332",
        "message": {"role": role, "content": content},
    }  # fmt: skip
    return json.dumps(base | more)


def transcript(home: Path, cwd: Path, session: str) -> Path:
    """A test fails, a file is changed, the test passes."""
    lines = [line(cwd, 1, "user", "make the checkout tests pass")]
    edit = {"file_path": str(cwd / "s.toml"), "old_string": "a", "new_string": "b"}
    calls = [
        ("Bash", {"command": "pytest tests/test_cart.py"}, f"Exit code 1\n{ERROR}", True),
        ("Edit", edit, "The file has been updated.", False),
        ("Bash", {"command": "pytest tests/test_cart.py"}, "1 passed in 0.02s", False),
    ]
    for number, (name, given, result, failed) in enumerate(calls, 2):
        call = f"toolu_{session}_{number}"
        use = {"type": "tool_use", "id": call, "name": name, "input": given}
        answer = {"type": "tool_result", "tool_use_id": call, "content": result, "is_error": failed}
        lines.append(line(cwd, number * 2, "assistant", [use]))
        lines.append(line(cwd, number * 2 + 1, "user", [answer]))
    slug = "".join(c if c.isascii() and c.isalnum() else "-" for c in str(cwd))
    folder = home / ".claude" / "projects" / slug
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{session}.jsonl"
    path.write_text("\n".join(lines).replace('"s1"', f'"{session}"') + "\n")
    return path


def test_the_newest_sessions_of_this_project_are_found_and_no_others(
    hooks: HookSandbox, tmp_path: Path
) -> None:
    import os

    project = hooks.project
    mine = [transcript(hooks.home, project, f"s{number}") for number in range(3)]
    below = transcript(hooks.home, project / "src", "below")
    twin = project.with_name("project-src")  # the same folder name by another path
    transcript(hooks.home, twin, "twin")
    cursor = hooks.home / ".cursor/projects" / str(project).lstrip("/").replace("/", "-")
    cursor = cursor.with_name(cursor.name.replace(".", "-")) / "agent-transcripts/c1/c1.jsonl"
    cursor.parent.mkdir(parents=True)
    cursor.write_text("{}\n")
    for age, path in enumerate((cursor, below, *mine)):
        os.utime(path, (1_000_000 + age, 1_000_000 + age))
    assert recent_transcripts(project, 9) == [cursor, below, *mine]
    assert recent_transcripts(project, 2) == mine[1:]


def test_learn_recent_asks_and_a_no_leaves_everything(hooks: HookSandbox, run: Run) -> None:
    transcript(hooks.home, hooks.project, "s1")
    told = run("learn", "--recent", "5", stdin="n\n", code=1).output
    assert "1 past sessions, 1 with something to learn from" in told
    assert "Nothing leaves this machine" in told
    assert run("list", "--all").output.count("test") == 0
    told = run("learn", "--recent", "5", "--yes").output
    assert "created" in told


def test_an_estimate_for_a_model_names_tokens_cost_and_ceilings(
    hooks: HookSandbox, run: Run, settings: Callable[[str], None]
) -> None:
    transcript(hooks.home, hooks.project, "s1")
    settings("provider: command\ncommand: /bin/false\ndaily_reviews: 0\n")
    told = run("learn", "--recent", "1", stdin="n\n", code=1).output
    assert "Reviewer: command. About 4," in told.replace("5,", "4,")
    assert "not known yet" in told
    assert "ceilings leave 0 reviews" in told
    ledger = [
        {"kind": "begin", "call": "a", "t": 1, "job": "j", "provider": "command",
         "model": "m", "tokens": 10},
        {"kind": "end", "call": "a", "t": 2, "result": "ok", "model": "m", "in": 900,
         "out": 100, "cost_usd": 1.0},
    ]  # fmt: skip
    hooks.state.mkdir(exist_ok=True)
    (hooks.state / "ledger.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ledger))
    assert (
        "USD by what calls have cost" in run("learn", "--recent", "1", stdin="n\n", code=1).output
    )


def test_without_past_sessions_it_says_where_it_looked(hooks: HookSandbox, run: Run) -> None:
    told = run("learn", "--recent", "3", "--yes", code=6).output
    assert "no past session" in told
    for place in ("~/.claude/projects", "~/.cursor/projects", "~/.codex/sessions"):
        assert place in told
    run("learn", code=2)


@pytest.mark.parametrize("text", ["", "not json", '{"cwd": 5}\n', '["cwd"]\n', '{"cwd": "/x"}\n'])
def test_a_file_that_tells_no_folder_is_nobodys(hooks: HookSandbox, text: str) -> None:
    path = transcript(hooks.home, hooks.project, "s1")
    path.write_text(text)
    assert recent_transcripts(hooks.project, 5) == []
