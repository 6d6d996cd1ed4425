"""Cursor's events as the rest of the house sees them: counted once, ended once, learned from."""

from __future__ import annotations

import json
import os
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from cursor_sandbox import SESSION, CursorSandbox

from skill_learner.journal import JournalReading, read_journal
from skill_learner.journal_session import session_from_journal
from skill_learner.paths import StatePaths
from skill_learner.targets import cursor as target
from skill_learner.usage import UsageStore

CLAUDE = ".claude/settings.json"
PAIRS = 50


def shell_call(call: str, command: str, output: str, code: int) -> dict[str, Any]:
    return {
        "tool_name": "Shell",
        "tool_input": {"command": command, "cwd": "", "timeout": 30000},
        "tool_output": json.dumps({"output": output, "exitCode": code}),
        "tool_use_id": call,
    }


# -- twins --------------------------------------------------------------------------------------


@pytest.mark.process
def test_fifty_pairs_of_both_editors_hooks_count_once(cursor: CursorSandbox) -> None:
    cursor.install("cursor", "claude-code")
    lines = [cursor.line("postToolUse"), cursor.line("PostToolUse", CLAUDE)]
    for number in range(PAIRS):
        fields = {
            "conversation_id": SESSION,
            "session_id": SESSION,
            **shell_call(f"tool_{number}", "make", "ok", 0),
            "hook_event_name": "postToolUse",
            "cursor_version": "3.20.17",
            "workspace_roots": [str(cursor.project)],
        }
        payload = json.dumps(fields).encode()
        running = [
            subprocess.Popen(
                ["/bin/sh", "-c", line],
                stdin=subprocess.PIPE,
                env=cursor.environ,
                cwd=cursor.project,
            )
            for line in (lines if number % 2 else reversed(lines))
        ]
        for process in running:
            assert process.stdin is not None
            process.stdin.write(payload)
            process.stdin.close()
        assert [process.wait(30) for process in running] == [0, 0]
    reading = cursor.journal()
    assert [record.text("tool_use_id") for record in reading.records] == [
        f"tool_{number}" for number in range(PAIRS)
    ]
    assert {record.editor for record in reading.records} == {"cursor"}
    assert len(cursor.raw_records()) == PAIRS
    assert cursor.tally() == PAIRS
    assert not cursor.state.hook_log.exists()


@pytest.mark.process
def test_a_whole_turn_through_both_is_seen_once(cursor: CursorSandbox) -> None:
    cursor.install("claude-code", "cursor")
    turn: list[tuple[str, str, dict[str, Any]]] = [
        ("sessionStart", "SessionStart", {"generation_id": ""}),
        ("beforeSubmitPrompt", "UserPromptSubmit", {"prompt": "Fix it"}),
        ("postToolUse", "PostToolUse", shell_call("t1", "make", "ok", 0)),
        ("stop", "Stop", {"status": "completed", "loop_count": 0}),
        ("sessionEnd", "SessionEnd", {"reason": "completed"}),
    ]
    for native, claude, fields in turn:
        cursor.fire(native, dict(fields))
        cursor.fire(claude, {**fields, "native": native}, CLAUDE)
    assert [record.event for record in cursor.journal().records] == [name for _, name, _ in turn]
    assert len(cursor.raw_records()) == len(turn)
    assert cursor.tally() == 2
    assert len(cursor.requests()) == 1


@pytest.mark.process
def test_with_only_claude_codes_hooks_a_session_is_cursors(cursor: CursorSandbox) -> None:
    cursor.install("claude-code")
    fields = shell_call("t1", "make", "broken", 2)
    cursor.fire("PostToolUse", {**fields, "native": "postToolUse"}, CLAUDE)
    (record,) = cursor.journal().records
    assert (record.editor, record.event) == ("cursor", "PostToolUseFailure")
    assert cursor.tally() == 1


@pytest.mark.process
def test_a_session_of_claude_code_started_from_cursor_is_claude_codes(
    cursor: CursorSandbox,
) -> None:
    cursor.install("cursor", "claude-code")
    payload = {"session_id": "s-2", "hook_event_name": "Stop", "cwd": str(cursor.project)}
    done = cursor.start(
        ["/bin/sh", "-c", cursor.line("Stop", CLAUDE)], json.dumps(payload).encode()
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    (record,) = cursor.journal("s-2").records
    assert record.editor == "claude-code"


def journal_of(path: Path, *events: tuple[float, str, dict[str, Any]]) -> JournalReading:
    """A journal as hooks that could not see each other have left it."""
    lines = [
        json.dumps(
            {"v": 1, "t": at, "e": event, "ed": "cursor", "k": "k", "p": "/p", "c": 0, "d": d}
        )
        for at, event, d in events
    ]
    path.write_text("".join(f"\n{line}" for line in lines))
    return read_journal(path)


def test_the_reader_joins_twins_that_both_were_written(tmp_path: Path) -> None:
    prompt = {"session_id": "s", "generation_id": "g", "prompt": "go on"}
    call = {"session_id": "s", **shell_call("t1", "ls", "a", 0)}
    reading = journal_of(
        tmp_path / "s.jsonl",
        (100, "UserPromptSubmit", prompt),
        (100, "UserPromptSubmit", prompt),
        (101, "PostToolUse", call),
        (140, "PostToolUse", {**call, "duration": 3}),
        (200, "UserPromptSubmit", prompt),
        (201, "Stop", {"session_id": "s", "generation_id": "g", "status": "completed"}),
        (201, "Stop", {"session_id": "s", "generation_id": "g", "status": "completed"}),
    )
    assert [record.at for record in reading.records] == [100, 101, 200, 201]


# -- words --------------------------------------------------------------------------------------


def steps_of(tmp_path: Path, *events: tuple[str, dict[str, Any]]) -> Any:
    path = tmp_path / "s.jsonl"
    reading = journal_of(path, *((number * 60.0, e, d) for number, (e, d) in enumerate(events, 1)))
    told = session_from_journal(reading, path)
    assert told is not None
    return told.session


def test_a_turn_as_steps(tmp_path: Path) -> None:
    roots = {"workspace_roots": ["/p"], "conversation_id": "s"}
    session = steps_of(
        tmp_path,
        ("UserPromptSubmit", {"prompt": "Fix the test", **roots}),
        ("PostToolUse", shell_call("t1", "pytest -q", "1 failed\n", 1)),
        (
            "PostToolUse",
            {
                "tool_name": "StrReplace",
                "tool_input": {"path": "/p/app.py", "old_string": "a", "new_string": "b"},
                "tool_output": '{"success": true}',
                "tool_use_id": "t2",
            },
        ),
        ("PostToolUse", shell_call("t3", "pytest -q", "4 passed\n", 0)),
        (
            "PostToolUseFailure",
            {
                "tool_name": "Shell",
                "tool_input": {"command": "npm test"},
                "error_message": "Command timed out after 30s",
                "failure_type": "timeout",
                "tool_use_id": "t4",
            },
        ),
        (
            "PostToolUseFailure",
            {
                "tool_name": "Shell",
                "tool_input": {"command": "rm -r x"},
                "error_message": "denied",
                "failure_type": "permission_denied",
                "tool_use_id": "t5",
            },
        ),
        ("Stop", {"status": "completed"}),
    )
    assert (session.id, session.editor, session.project) == ("s", "cursor", "/p")
    assert session.turn_end == "complete"
    assert session.steps[0].text == "Fix the test"
    calls = [step.call for step in session.steps if step.call]
    assert [(c.name, c.status) for c in calls] == [
        ("Bash", "failed"),
        ("Edit", "ok"),
        ("Bash", "ok"),
        ("Bash", "failed"),
        ("Bash", "interrupted"),
    ]
    assert calls[0].result == "Exit code 1\n1 failed\n"
    assert calls[1].changed_files == ("app.py",)
    assert calls[2].result == "4 passed\n"


@pytest.mark.parametrize(
    ("status", "turn_end"),
    [("completed", "complete"), ("aborted", "interrupted"), ("error", "api_error")],
)
def test_how_a_turn_ended(tmp_path: Path, status: str, turn_end: str) -> None:
    session = steps_of(
        tmp_path, ("UserPromptSubmit", {"prompt": "Hi"}), ("Stop", {"status": status})
    )
    assert session.turn_end == turn_end


@pytest.mark.parametrize(
    ("output", "text"),
    [
        ('{"exitCode": 0, "stdout": "out", "stderr": "err"}', "out\nerr"),
        ('{"pattern": "x", "success": true}', '{"pattern": "x", "success": true}'),
        ("plain words", "plain words"),
        ('{"output": "cut', '{"output": "cut'),
    ],
)
def test_results_of_any_shape_are_text(tmp_path: Path, output: str, text: str) -> None:
    call = {"tool_name": "Grep", "tool_input": {}, "tool_output": output, "tool_use_id": "t"}
    (step,) = steps_of(tmp_path, ("PostToolUse", call)).steps
    assert step.call.result == text
    assert step.call.status == "ok"


def test_the_address_of_the_user_is_dropped() -> None:
    _, told = target.canonical("Stop", {"user_email": "dev@example.com", "status": "completed"})
    assert "user_email" not in told


def test_a_skill_that_was_read_counts_as_used(tmp_path: Path) -> None:
    skill = "/p/.cursor/skills/fix-build/SKILL.md"
    call = {"tool_name": "Read", "tool_input": {"path": skill}, "tool_use_id": "t1"}
    state = StatePaths(tmp_path)
    state.journal_dir.mkdir()
    journal_of(state.journal_dir / "s.jsonl", (1, "PostToolUse", call), (2, "PostToolUse", call))
    assert UsageStore(state.usage_db).harvest_all(state, {"fix-build"}) == 1


# -- ends ---------------------------------------------------------------------------------------


@pytest.mark.process
def test_ends_ask_for_one_review_in_any_order(cursor: CursorSandbox) -> None:
    cursor.install("cursor")
    cursor.fire("beforeSubmitPrompt", {"prompt": "Hi"})
    cursor.fire("stop", {"status": "completed", "loop_count": 0})
    assert cursor.requests() == []  # far below the interval
    for reason in ("completed", "window_close"):
        cursor.fire("sessionEnd", {"reason": reason})
    (request,) = cursor.requests()
    assert f"session={SESSION}" in request
    assert "editor=cursor" in request
    cursor.fire("stop", {"status": "completed", "loop_count": 1})
    assert len(cursor.requests()) == 1


@pytest.mark.process
def test_a_stop_without_any_work_asks_for_nothing(cursor: CursorSandbox) -> None:
    cursor.install("cursor")
    cursor.fire("stop", {"status": "completed", "loop_count": 0})
    cursor.fire("sessionEnd", {"reason": "completed"})
    assert cursor.requests() == []
    assert not cursor.started.exists()


@pytest.mark.process
def test_the_interval_starts_a_review_at_a_turns_end(cursor: CursorSandbox) -> None:
    cursor.install("cursor")
    (cursor.state.root / "hook.conf").write_text("nudge_interval=2\n")
    cursor.fire("beforeSubmitPrompt", {"prompt": "Hi"})
    cursor.fire("postToolUse", shell_call("t1", "make", "ok", 0))
    cursor.fire("stop", {"status": "completed", "loop_count": 0})
    (request,) = cursor.requests()
    assert "reason=nudge" in request
    deadline = time.monotonic() + 10
    while not cursor.started.exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    assert cursor.started.read_text() == "review\n"


@pytest.mark.process
def test_a_session_without_any_end_is_swept_by_the_next_start(cursor: CursorSandbox) -> None:
    cursor.install("cursor")
    cursor.fire("postToolUse", shell_call("t1", "make", "ok", 0))
    cursor.fire("sessionStart", {"conversation_id": "other"})
    assert cursor.requests() == []  # it may be going on
    long_ago = time.time() - 2 * 3600
    os.utime(cursor.state.journal_dir / f"{SESSION}.jsonl", (long_ago, long_ago))
    for number in range(2):
        cursor.fire("sessionStart", {"conversation_id": f"later-{number}"})
    (request,) = cursor.requests()
    assert "reason=recover" in request
    assert f"session={SESSION}" in request


# -- start --------------------------------------------------------------------------------------


@pytest.mark.process
def test_news_are_told_once_in_cursors_shape(cursor: CursorSandbox) -> None:
    cursor.install("cursor", "claude-code")
    cursor.state.news_dir.mkdir()
    (cursor.state.news_dir / cursor.key).write_text("learned „x“ \U0001f41b")
    printed = [
        cursor.fire("sessionStart", {}),
        cursor.fire("SessionStart", {"native": "sessionStart"}, CLAUDE),
    ]
    assert json.loads(printed[0].decode("ascii")) == {
        "additional_context": "learned „x“ \U0001f41b"
    }
    assert printed[1] == b""


@pytest.mark.process
@pytest.mark.parametrize("both", [False, True])
def test_a_fresh_worktree_gets_skills_and_index(cursor: CursorSandbox, *, both: bool) -> None:
    git = ["git", "-C", str(cursor.project)]
    subprocess.run([*git, "init", "-q"], check=True)
    (cursor.project / "README").write_text("x")
    subprocess.run([*git, "add", "README"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    cursor.install(*(["cursor", "claude-code"] if both else ["cursor"]))
    folder = ".claude/skills" if both else ".cursor/skills"
    skill = cursor.state.root / "skills" / "a-skill"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("x")
    (cursor.project / folder / "a-skill").symlink_to(skill)
    cursor.state.published_dir.mkdir()
    (cursor.state.published_dir / cursor.key).write_text(f"a-skill\t{skill}\n")
    index = "## Learned skills\n\nwith the Skill tool\n"
    (cursor.state.published_dir / f"{cursor.key}.index.md").write_text(index)
    worktree = cursor.project.parent / "tree"
    subprocess.run([*git, "worktree", "add", "-q", str(worktree), "-b", "t"], check=True)
    payload = {
        "conversation_id": "w",
        "cursor_version": "3",
        "hook_event_name": "sessionStart",
        "workspace_roots": [str(worktree)],
    }
    line = cursor.line("sessionStart")
    done = cursor.start(["/bin/sh", "-c", line], json.dumps(payload).encode(), cwd=worktree)
    assert (done.returncode, done.stderr) == (0, b"")
    told = "## Learned skills\n\nby reading its SKILL.md\n"
    assert json.loads(done.stdout) == {"additional_context": told}
    assert (worktree / folder / "a-skill").is_symlink()
    rule = (worktree / ".cursor/rules/skill-learner.mdc").read_text()
    assert "alwaysApply: true\n---\n" in rule
    assert ("## Learned skills" in rule) != both
    assert "Skill tool" not in rule
