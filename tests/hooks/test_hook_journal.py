"""The real line, run through /bin/sh: what reaches the journal, and that nothing else is said."""

from __future__ import annotations

import contextlib
import json
import os
import re
import signal
import stat
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from skill_learner.targets.claude_code import EVENTS, command_line

pytestmark = pytest.mark.process
SESSION = "11111111-2222-3333-4444-555555555555"


def test_every_recorded_payload_is_kept_whole(hooks: Any, recorded_payloads: Path) -> None:
    kept = 0
    for path in sorted(recorded_payloads.glob("*.json")):
        event = path.name.removesuffix(".json").split("-")[0]
        if event not in EVENTS:
            continue
        expected = json.loads(path.read_bytes())
        assert hooks.run(event, path.read_bytes()) == b""
        record = hooks.records(expected["session_id"])[-1]
        assert record["d"] == expected
        assert (record["v"], record["e"], record["ed"]) == (1, event, "claude-code")
        assert (record["p"], record["k"]) == (str(hooks.project), hooks.key)
        assert record["c"] == os.getpid()
        assert abs(record["t"] - time.time()) < 60
        kept += 1
    assert kept >= 20
    assert hooks.log() == ""


def test_files_are_private_whatever_the_umask(hooks: Any) -> None:
    old = os.umask(0)
    try:
        hooks.run("PostToolUse")
    finally:
        os.umask(old)
    for name in ("journal", "tally"):
        assert stat.S_IMODE((hooks.state / name).stat().st_mode) == 0o700
        for path in (hooks.state / name).iterdir():
            assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_only_main_agents_calls_and_human_turns_count(hooks: Any) -> None:
    hooks.run("PostToolUse")
    hooks.run("PostToolUseFailure")
    hooks.run("UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt="hello"))
    assert hooks.tally() == 3
    notice = "<task-notification>\n<task-id>x</task-id>"
    hooks.run("UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt=notice))
    hooks.run("PostToolUse", hooks.payload("PostToolUse", agent_id="a1", tool_name="Bash"))
    for event in ("SubagentStop", "PreCompact", "UserPromptExpansion", "SessionStart"):
        hooks.run(event)
    assert hooks.tally() == 3
    assert len(hooks.records()) == 9


@pytest.mark.parametrize(
    ("payload", "damaged"),
    [
        (b"", ""),
        (b"no json", "no json"),
        (b'{"session_id":"x"', '{"session_id":"x"'),
        (b"[1,2]", "[1,2]"),
        (b"\xff\xfe\x00", "��\x00"),
    ],
)
def test_damaged_payloads_are_kept_as_text(hooks: Any, payload: bytes, damaged: str) -> None:
    assert hooks.run("Stop", payload) == b""
    (journal,) = (hooks.state / "journal").iterdir()
    assert hooks.records(journal.stem)[0]["d"] == {"damaged": damaged}


@pytest.mark.parametrize(
    "session",
    ["../../../etc/passwd", "..", ".", "", "a/b\\c", "x\ny", "$(touch hacked)", "ü" * 300, "%2e"],
)
def test_hostile_session_ids_never_leave_the_folder(hooks: Any, session: str) -> None:
    payload = json.dumps({"session_id": session, "reason": "other"}).encode()
    environ = hooks.environ()
    del environ["CLAUDE_CODE_SESSION_ID"]
    hooks.run("PostToolUse", payload, environ)
    hooks.run("SessionEnd", payload, environ)
    (journal,) = (hooks.state / "journal").iterdir()
    assert [record["d"]["session_id"] for record in hooks.records(journal.stem)] == [session] * 2
    (request,) = (hooks.state / "requests").iterdir()
    keys = [line.split("=")[0] for line in request.read_text().splitlines()]
    assert keys == ["reason", "session", "project", "key", "editor"]


def test_session_id_falls_back_to_the_environment(hooks: Any) -> None:
    hooks.run("PostToolUse", b'{"tool_name":"Bash"}')
    assert len(hooks.records(SESSION)) == 1
    hooks.run("PostToolUse", b"{}", {"HOME": str(hooks.home), "PATH": os.environ["PATH"]})
    assert len(hooks.records("unknown")) == 1


def test_project_falls_back_to_the_payloads_folder(hooks: Any, tmp_path: Path) -> None:
    environ = hooks.environ()
    del environ["CLAUDE_PROJECT_DIR"]
    folder = tmp_path / 'ä "b"'
    folder.mkdir()
    hooks.run(
        "PostToolUse", json.dumps({"session_id": SESSION, "cwd": str(folder)}).encode(), environ
    )
    assert hooks.records()[0]["p"] == str(folder.resolve())


@pytest.mark.parametrize(
    "name",
    ["with space", 'quote\'d "twice"', "a$HOME & b; c", "pröjéct ☃", "back\\slash `x`", "-n *"],
)
def test_any_path_works(tmp_path: Path, make_hooks: Any, name: str) -> None:
    root = tmp_path / name
    root.mkdir()
    interpreter = root / "python"
    hooks = make_hooks(root, interpreter)
    real = Path(hooks.interpreter)
    real.symlink_to(os.path.realpath(os.sys.executable))  # type: ignore[attr-defined]
    hooks.run("PostToolUse")
    hooks.run("PostToolUse")
    records = hooks.records()
    assert len(records) == 2
    assert records[0]["p"] == str(hooks.project)
    assert hooks.log() == ""


def test_project_path_that_is_not_utf8(hooks: Any, tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/caf\xe9"
    os.mkdir(folder)
    hooks.run("PostToolUse", environ=hooks.environ(CLAUDE_PROJECT_DIR=os.fsdecode(folder)))
    assert os.fsencode(hooks.records()[0]["p"]) == os.path.realpath(folder)


def test_an_event_from_a_folder_that_cannot_be_is_kept(hooks: Any) -> None:
    payload = json.dumps({"session_id": "s", "cwd": "/p\0q", "prompt": "kept"}).encode()
    assert hooks.run("UserPromptSubmit", payload, hooks.environ(CLAUDE_PROJECT_DIR="")) == b""
    assert [record["d"]["prompt"] for record in hooks.records("s")] == ["kept"]


def test_an_event_from_a_folder_that_is_gone_is_kept(hooks: Any, tmp_path: Path) -> None:
    environ = hooks.environ(CLAUDE_PROJECT_DIR="")
    gone = 'mkdir gone; cd gone; rmdir ../gone; exec /bin/sh -c "$1"'
    done = subprocess.run(
        ["/bin/sh", "-c", gone, "sh", command_line("UserPromptSubmit")],
        input=b'{"session_id": "s", "prompt": "kept"}',
        env=environ,
        cwd=tmp_path,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout) == (0, b"")
    (record,) = hooks.records("s")
    assert (record["d"]["prompt"], record["p"]) == ("kept", "/")


@pytest.mark.parametrize("switch", [{"SKILL_LEARNER_REVIEW": "1"}, {"SKILL_LEARNER_OFF": "1"}])
def test_switches_leave_no_trace(hooks: Any, switch: dict[str, str]) -> None:
    assert hooks.run("SessionStart", environ=hooks.environ(**switch)) == b""
    assert not (hooks.state / "journal").exists()


def test_off_file_and_off_setting_stop_everything(hooks: Any) -> None:
    (hooks.project / ".skill-learner-off").touch()
    hooks.run("PostToolUse")
    (hooks.project / ".skill-learner-off").unlink()
    (hooks.state / "hook.conf").write_text("off=1\n")
    hooks.run("PostToolUse")
    assert not (hooks.state / "journal").exists()
    hooks.run("PostToolUse", environ=hooks.environ(SKILL_LEARNER_OFF="0"))
    assert len(hooks.records()) == 1


def test_secrets_of_the_environment_never_reach_the_disk(hooks: Any) -> None:
    payload = hooks.payload("PostToolUse", tool_response={"stdout": "key=sk-ant-0123456789"})
    hooks.run("PostToolUse", payload, hooks.environ(ANTHROPIC_API_KEY="sk-ant-0123456789"))
    assert hooks.records()[0]["d"]["tool_response"]["stdout"] == "key=[redacted]"


def test_cap_comes_from_the_conf_and_the_environment_wins(hooks: Any) -> None:
    payload = hooks.payload("PostToolUse", tool_response={"stdout": "x" * 20_000})
    (hooks.state / "hook.conf").write_text("payload_cap=8192\nunknown=3\nnudge_interval=many\n")
    hooks.run("PostToolUse", payload)
    hooks.run("PostToolUse", payload, hooks.environ(SKILL_LEARNER_PAYLOAD_CAP="1000000"))
    cut, whole = (record["d"] for record in hooks.records())
    assert cut["cut"] == len(payload)
    assert cut["head"].startswith('{"session_id"')
    assert whole == json.loads(payload)


def test_fifty_megabytes(hooks: Any) -> None:
    payload = hooks.payload("PostToolUse", tool_response={"stdout": "line\n" * 9_000_000})
    assert len(payload) > 50_000_000
    hooks.run("PostToolUse", payload)
    (record,) = hooks.records()
    assert record["d"]["cut"] == len(payload)
    assert hooks.tally() == 1


def test_silent_stdin_does_not_hold_the_editor(hooks: Any) -> None:
    process = hooks.popen("PostToolUse")
    process.stdin.write(b'{"session_id":"slow","x":')
    process.stdin.flush()
    began = time.monotonic()
    assert process.wait(timeout=20) == 0
    assert 1 < time.monotonic() - began < 15
    process.stdin.close()
    assert late_record(hooks)["d"] == {"damaged": '{"session_id":"slow","x":'}


def late_record(hooks: Any) -> dict[str, Any]:
    """On a busy machine somebody reads on when the hook has gone, up to the end of its input."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        with contextlib.suppress(OSError, LookupError, ValueError):
            return hooks.records("slow")[0]  # type: ignore[no-any-return]
        time.sleep(0.02)
    raise AssertionError("no record")


def test_on_a_busy_machine_the_rest_is_read_when_the_editor_has_gone_on(
    hooks: Any, tmp_path: Path
) -> None:
    busy = tmp_path / "loadavg"
    busy.write_text("9.0 9.0 9.0 9999/10000 1\n")
    play = (
        "import posix\n"
        "def open(path, *more, open=posix.open):\n"
        f"    return open({str(busy)!r} if path == b'/proc/loadavg' else path, *more)\n"
        "posix.open = open\n"
    )
    hooks.entry.write_text(play + hooks.entry.read_text())
    process = hooks.popen("PostToolUse")
    process.stdin.write(b'{"session_id":"slow","x":')
    process.stdin.flush()
    assert process.wait(timeout=20) == 0
    assert (process.stdout.read(), process.stderr.read()) == (b"", b"")
    process.stdin.write(b'"whole"}')
    process.stdin.close()
    assert late_record(hooks)["d"] == {"session_id": "slow", "x": "whole"}


def test_input_that_never_stops_coming_does_not_hold_the_editor(hooks: Any) -> None:
    """Each chunk is large enough to be more than a drip, and they would take an hour."""
    process = hooks.popen("PostToolUse")
    began = time.monotonic()
    with contextlib.suppress(OSError):
        process.stdin.write(b'{"session_id":"slow","x":"')
        while process.poll() is None and time.monotonic() - began < 30:
            process.stdin.write(b"x" * 5000)
            process.stdin.flush()
            time.sleep(0.05)
    assert process.wait(timeout=20) == 0
    assert time.monotonic() - began < 15
    with contextlib.suppress(OSError):
        process.stdin.close()
    assert late_record(hooks)["d"]["damaged"].startswith('{"session_id":"slow","x":"xxx')


def test_a_pipe_in_the_project_that_nobody_feeds_does_not_hold_the_editor(hooks: Any) -> None:
    pipe = hooks.project / "below" / ".git"
    pipe.parent.mkdir()
    os.mkfifo(pipe)
    hooks.run("PostToolUse", environ=hooks.environ(CLAUDE_PROJECT_DIR=str(pipe.parent)))
    assert hooks.records()[0]["p"] == str(pipe.parent)


def test_what_follows_the_record_ends_with_the_time(hooks: Any) -> None:
    """Nothing is left behind, and what was not asked for the next start finds."""
    source = hooks.entry.read_text()
    slow = (
        "import posix, time\n"
        "def rename(*paths, rename=posix.rename):\n"
        "    b'.request-' in paths[0] and time.sleep(60)\n"
        "    rename(*paths)\n"
        "posix.rename = rename\n"
    )
    hooks.run("PostToolUse")
    hooks.entry.write_text(slow + source)
    began = time.monotonic()
    hooks.run("SessionEnd", hooks.payload("SessionEnd", reason="other"))
    assert time.monotonic() - began < 15
    assert [record["e"] for record in hooks.records()] == ["PostToolUse", "SessionEnd"]
    assert not list(hooks.state.glob(".request-*"))
    assert hooks.requests() == []
    assert "SessionEnd: OutOfTime: not done within" in hooks.log()
    hooks.entry.write_text(source)
    hooks.run("SessionStart", hooks.payload("SessionStart", source="startup", session_id="next"))
    assert [request["session"] for request in hooks.requests()] == [SESSION]


def test_closed_streams(hooks: Any) -> None:
    line = f"({command_line('SessionStart')}) <&- >&- 2>&-"
    done = subprocess.run(["/bin/sh", "-c", line], env=hooks.environ(), check=False)
    assert done.returncode == 0
    assert hooks.records()[0]["d"] == {"damaged": ""}


def test_unwritable_state_is_silence(hooks: Any) -> None:
    (hooks.state / "journal").write_text("in the way")
    assert hooks.run("PostToolUse") == b""
    assert re.fullmatch(r"\d+ claude-code PostToolUse: NotADirectoryError: .*\n", hooks.log())


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can hand a folder to another user")
def test_another_users_state_is_left_alone(hooks: Any) -> None:
    os.chown(hooks.state, 12345, 12345)
    assert hooks.run("SessionStart") == b""
    assert sorted(path.name for path in hooks.state.iterdir()) == ["hook.sh"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_read_only_state_is_silence(hooks: Any) -> None:
    hooks.state.chmod(0o500)
    assert hooks.run("SessionStart") == b""


def test_fault_log_is_capped(hooks: Any) -> None:
    (hooks.state / "journal").write_text("in the way")
    (hooks.state / "hook.log").write_text("old line\n" * 20_000)
    hooks.run("Stop")
    assert len(hooks.log()) < 20_000
    assert hooks.log().startswith("old line\n")
    assert "Stop: NotADirectoryError" in hooks.log().splitlines()[-1]


def test_stopped_lock_holder_does_not_stop_the_editor(hooks: Any) -> None:
    hooks.run("PostToolUse")
    journal = hooks.state / "journal" / f"{SESSION}.jsonl"
    script = "import os, sys, time; d = os.open(sys.argv[1], os.O_RDWR); os.lockf(d, os.F_LOCK, 0)"
    holder = subprocess.Popen(
        [os.sys.executable, "-c", f"{script}; print('held', flush=True); time.sleep(60)", journal],  # type: ignore[attr-defined]
        stdout=subprocess.PIPE,
    )
    try:
        assert holder.stdout is not None
        holder.stdout.readline()
        holder.send_signal(signal.SIGSTOP)
        hooks.run("PostToolUse")
    finally:
        holder.kill()
        holder.wait()
    assert len(hooks.records()) == 2
