"""Codex's recorded payloads through the registered line, and what must come of each."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox

from skill_learner.journal import read_journal
from skill_learner.targets import codex as target

pytestmark = pytest.mark.process

KEYS_THAT_CODEX_KNOWS = {"systemMessage", "hookSpecificOutput"}
SHELLS = [shell for shell in ("sh", "bash", "dash", "zsh", "fish") if shutil.which(shell)]
SESSION = "01a22c85-0000-7000-8000-000000000001"


@pytest.fixture
def box(tmp_path: Path) -> HookSandbox:
    return HookSandbox(tmp_path)


def fire(
    box: HookSandbox, event: str, payload: bytes, shell: str = "sh", **environ: str
) -> dict[str, Any] | None:
    """The registered line as Codex starts it: in a session of its own, stdin not ended by a
    newline. Exit 0, nothing on stderr, and at most one object with keys that Codex knows."""
    done = subprocess.run(
        [shell, "-c", target.command_line(event)],
        input=payload, capture_output=True, timeout=60, check=False, start_new_session=True,
        cwd=box.project, env={"HOME": str(box.home), "PATH": os.environ["PATH"], **environ},
    )  # fmt: skip
    assert (done.returncode, done.stderr) == (0, b""), event
    if not done.stdout:
        return None
    reply: dict[str, Any] = json.loads(done.stdout.decode("ascii"))
    assert set(reply) <= KEYS_THAT_CODEX_KNOWS
    return reply


def payload(event: str, **fields: Any) -> bytes:
    common = {"session_id": SESSION, "turn_id": "t-1", "transcript_path": None, "cwd": "/"}
    return json.dumps({**common, "hook_event_name": event, **fields}).encode()


def tool(call: str, **fields: Any) -> bytes:
    told = {"tool_name": "Bash", "tool_input": {"command": "ls"}, "tool_response": "a\n"}
    return payload("PostToolUse", **{**told, "tool_use_id": call, **fields})


@pytest.mark.parametrize("shell", SHELLS)
def test_every_recorded_payload(box: HookSandbox, codex_payloads: Path, shell: str) -> None:
    files = sorted(codex_payloads.glob("*.json"))
    assert len(files) >= 35
    for path in files:
        event = path.name.removesuffix(".json").partition("-")[0]
        data = path.read_bytes()
        told = json.loads(data)
        registered = event if event in target.EVENTS else "PostToolUse"
        shutil.rmtree(box.state / "journal", ignore_errors=True)
        assert fire(box, registered, data.rstrip(b"\n"), shell) is None, path.name
        record = box.records(told["session_id"])[-1]
        assert record["d"] == told, path.name
        assert (record["ed"], record["e"]) == ("codex", registered), path.name
    assert box.log() == ""


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe{}", b"null", b'{"session_id": 7}'])
def test_no_payload_disturbs_codex(box: HookSandbox, data: bytes) -> None:
    for event in target.EVENTS:
        assert fire(box, event, data) is None


def test_a_stop_never_answers_with_more_than_nothing(box: HookSandbox) -> None:
    """A key too many fails a Stop, and one that blocks would go on for ever."""
    (box.state / "hook.conf").write_text("nudge_interval=1\n")
    for n in range(3):
        assert fire(box, "PostToolUse", tool(f"c{n}")) is None
        assert fire(box, "Stop", payload("Stop", stop_hook_active=bool(n))) is None
    assert [request["reason"] for request in box.requests()] == ["nudge"]


def test_subagents_do_not_count(box: HookSandbox) -> None:
    fire(box, "UserPromptSubmit", payload("UserPromptSubmit", prompt="do", cwd=str(box.project)))
    fire(box, "PostToolUse", tool("c1", cwd=str(box.project)))
    fire(box, "PostToolUse", tool("c2", cwd=str(box.project), agent_id="a"))
    prompt = payload("UserPromptSubmit", prompt="sub", cwd=str(box.project), agent_id="a")
    fire(box, "UserPromptSubmit", prompt)
    assert box.tally() == 2
    reading = read_journal(box.state / "journal" / f"{SESSION}.jsonl")
    assert [record.counts for record in reading.records] == [True, True, False, False]


def test_both_registrations_of_an_event_are_one(box: HookSandbox) -> None:
    """The user's file and the project's run at once, from the same client."""
    events = [
        ("SessionStart", payload("SessionStart", source="startup")),
        ("UserPromptSubmit", payload("UserPromptSubmit", prompt="go")),
        *(("PostToolUse", tool(f"c{n}")) for n in range(20)),
        ("Stop", payload("Stop", last_assistant_message="done")),
        ("SessionEnd", payload("SessionEnd", reason="other")),
    ]
    environ = {"HOME": str(box.home), "PATH": os.environ["PATH"]}
    for event, data in events:
        line = ["sh", "-c", target.command_line(event)]
        twins = [
            subprocess.Popen(line, stdin=subprocess.PIPE, env=environ, cwd=box.project)
            for _ in range(2)
        ]
        for twin in twins:
            assert twin.stdin
            twin.stdin.write(data)
            twin.stdin.close()
        assert [twin.wait(timeout=30) for twin in twins] == [0, 0]
    assert [record["e"] for record in box.records(SESSION)] == [event for event, _ in events]


def test_a_client_that_was_killed_but_not_waited_for_is_gone(box: HookSandbox) -> None:
    child = os.fork()
    if not child:
        os._exit(0)
    try:
        wait_for_zombie(child)
        journal = box.state / "journal"
        journal.mkdir()
        record = '\n{"v":1,"t":1,"e":"PostToolUse","ed":"codex","k":"k","p":"/p","c":%d,"d":{}}'
        (journal / "lost.jsonl").write_text(record % child)
        fire(box, "SessionStart", payload("SessionStart", source="startup"))
        assert [(r["reason"], r["session"]) for r in box.requests()] == [("recover", "lost")]
    finally:
        os.waitpid(child, 0)


def wait_for_zombie(child: int) -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("only Linux tells")
    os.waitid(os.P_PID, child, os.WEXITED | os.WNOWAIT)


def test_news_are_told_to_the_user(box: HookSandbox) -> None:
    start = payload("SessionStart", source="startup", cwd=str(box.project))
    (box.state / "news").mkdir()
    (box.state / "news" / box.key).write_text('learned "ünï" x')
    assert fire(box, "SessionStart", start) == {"systemMessage": 'learned "ünï" x'}
    assert fire(box, "SessionStart", start) is None
