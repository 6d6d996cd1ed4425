"""Reviews as the processes that they are: killed, doubled, hanging, and asked to recurse."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skill_learner.jobs import Job, JobStore
from skill_learner.paths import StatePaths

pytestmark = pytest.mark.process

ROOT = Path(__file__).resolve().parents[2]
Journal = Any

NOTHING = {"outcome": "done", "skills": [], "nothing_because": "known already"}


def wait_for(what: Callable[[], object], seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not what():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.02)


class Reviews:
    """Starts `review --detached` processes of one state folder, and ends them all."""

    def __init__(self, paths: StatePaths) -> None:
        self._paths = paths
        self._processes: list[subprocess.Popen[bytes]] = []

    def start(self, **settings: object) -> subprocess.Popen[bytes]:
        env = dict(os.environ)
        env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *env.get("PYTHONPATH", "").split(":")])
        env["SKILL_LEARNER_STATE_DIR"] = str(self._paths.root)
        env |= {f"SKILL_LEARNER_{key.upper()}": str(value) for key, value in settings.items()}
        process = subprocess.Popen(
            [sys.executable, "-m", "skill_learner", "review", "--detached"],
            env=env,
            cwd=self._paths.root,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._processes.append(process)
        return process

    def end_all(self) -> None:
        for process in self._processes:
            if process.poll() is None:
                os.killpg(process.pid, signal.SIGKILL)
            process.wait(10)


@pytest.fixture
def reviews(paths: StatePaths) -> Iterator[Reviews]:
    started = Reviews(paths)
    yield started
    started.end_all()


@pytest.fixture
def model(tmp_path: Path) -> Callable[[str], str]:
    """Writes a program for the `command` provider; returns the command. Each of its runs adds a
    line to `calls`; it ends by itself when nobody waits for it any more."""

    def write(before_answering: str = "") -> str:
        program = tmp_path / "model.py"
        program.write_text(
            "import json, os, sys, time\n"
            "sys.stdin.read()\n"
            f"with open({str(tmp_path / 'calls')!r}, 'a') as calls:\n"
            "    calls.write(f'{os.getpid()}\\n')\n"
            "parent = os.getppid()\n"
            "def pause(seconds):\n"
            "    end = time.monotonic() + seconds\n"
            "    while time.monotonic() < end and os.getppid() == parent:\n"
            "        time.sleep(0.02)\n"
            f"{before_answering}\n"
            f"print({json.dumps(json.dumps(NOTHING))})\n"
        )
        return f"'{sys.executable}' '{program}'"

    return write


@pytest.fixture
def calls(tmp_path: Path) -> Callable[[], list[int]]:
    """Process ids of the model's runs so far."""
    file = tmp_path / "calls"
    return lambda: [int(line) for line in file.read_text().split()] if file.exists() else []


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def jobs_of(paths: StatePaths) -> list[Job]:
    return JobStore(paths).all()


def test_a_review_that_was_killed_runs_again(
    paths: StatePaths,
    journal: Journal,
    reviews: Reviews,
    model: Callable[[str], str],
    calls: Callable[[], list[int]],
) -> None:
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    first = reviews.start(provider="command", command=model("pause(60)"))
    wait_for(calls)

    first.kill()
    first.wait(10)
    assert [job.status for job in jobs_of(paths)] == ["running"]  # nobody was there to say more
    assert JobStore(paths).pending_marker.exists()  # so the next session's start will see to it
    again = reviews.start(provider="command", command=model(""))
    assert again.wait(60) == 0

    (job,) = jobs_of(paths)
    assert (job.status, job.attempts) == ("done", 2)
    assert len(calls()) == 2


def test_a_polite_kill_ends_the_model_too_and_costs_no_attempt(
    paths: StatePaths,
    journal: Journal,
    reviews: Reviews,
    model: Callable[[str], str],
    calls: Callable[[], list[int]],
) -> None:
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    process = reviews.start(provider="command", command=model("time.sleep(60)"))
    wait_for(calls)

    process.terminate()
    process.wait(20)

    (job,) = jobs_of(paths)
    assert (job.status, job.attempts) == ("queued", 0)
    assert JobStore(paths).pending_marker.exists()
    assert not alive(calls()[0])


def test_two_processes_at_once_review_each_session_once(
    paths: StatePaths,
    journal: Journal,
    reviews: Reviews,
    model: Callable[[str], str],
    calls: Callable[[], list[int]],
    tmp_path: Path,
) -> None:
    go = tmp_path / "go"
    command = model(f"while not os.path.exists({str(go)!r}): pause(0.02)")
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    first = reviews.start(provider="command", command=command)
    wait_for(calls)
    journal.fixed_failure("s2")
    journal.request("session_end", "s2")
    second = reviews.start(provider="command", command=command)

    assert second.wait(60) == 0
    assert len(calls()) == 1  # it went away and left its wish to the first
    go.touch()
    assert first.wait(60) == 0

    assert [(job.session, job.status) for job in jobs_of(paths)] == [("s1", "done"), ("s2", "done")]
    assert len(calls()) == 2


def test_a_review_that_hangs_is_ended_with_all_it_started(
    paths: StatePaths,
    journal: Journal,
    reviews: Reviews,
    model: Callable[[str], str],
    calls: Callable[[], list[int]],
) -> None:
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    process = reviews.start(
        provider="command", command=model("time.sleep(60)"), review_process_timeout=15
    )

    assert process.wait(40) != 0

    (job,) = jobs_of(paths)
    assert (job.status, job.detail) == (
        "failed",
        "stopped after 15 s (review_process_timeout)",
    )
    wait_for(lambda: not any(alive(pid) for pid in calls()), 5)
    assert "review_process_timeout" in paths.review_log.read_text()


FAKE_CLAUDE = """#!{python}
import json, os, subprocess, sys
sys.stdin.read()
with open({log!r}, "a") as log:
    log.write("call\\n")
for event, more in (("SessionStart", {{"source": "startup"}}),
                    ("UserPromptSubmit", {{"prompt": "review"}}),
                    ("PostToolUse", {{"tool_name": "StructuredOutput", "tool_input": {{}}}}),
                    ("Stop", {{}}), ("SessionEnd", {{"reason": "other"}})):
    payload = {{"session_id": "inner", "hook_event_name": event, "cwd": os.getcwd(), **more}}
    line = {lines}[event]
    subprocess.run(["/bin/sh", "-c", line], input=json.dumps(payload).encode(), check=True)
print(json.dumps({{"type": "result", "subtype": "success", "is_error": False, "result": "x",
                  "structured_output": {answer}, "usage": {{"input_tokens": 9}}}}))
"""


@pytest.mark.skipif(sys.platform == "win32", reason="the registered line is for sh")
def test_a_client_that_calls_our_hooks_causes_one_review(
    hermetic_home: Path, tmp_path: Path, project: Path
) -> None:
    from skill_learner.targets.claude_code import EVENTS, command_line

    log = tmp_path / "claude.log"
    client = tmp_path / "bin" / "claude"
    client.parent.mkdir()
    lines = {event: command_line(event) for event in EVENTS}
    client.write_text(
        FAKE_CLAUDE.format(python=sys.executable, log=str(log), lines=lines, answer=repr(NOTHING))
    )
    client.chmod(0o755)
    env = dict(os.environ)
    env["PYTHONPATH"] = os.pathsep.join([str(ROOT), *env.get("PYTHONPATH", "").split(":")])
    env["PATH"] = f"{client.parent}{os.pathsep}{env['PATH']}"
    env["SKILL_LEARNER_PROVIDER"] = "claude-cli"
    env["CLAUDE_PROJECT_DIR"] = str(project)
    subprocess.run(
        [sys.executable, "-m", "skill_learner", "init", "--target", "claude-code",
         "--project-dir", str(project), "--yes"],
        env=env, check=True, capture_output=True, cwd=project,
    )  # fmt: skip

    def hook(event: str, **payload: object) -> None:
        data = {"session_id": "outer", "hook_event_name": event, "cwd": str(project), **payload}
        subprocess.run(
            ["/bin/sh", "-c", lines[event]], env=env, cwd=project, check=True,
            input=json.dumps(data).encode(),
        )  # fmt: skip

    test = {"tool_name": "Bash", "tool_input": {"command": "pytest tests/test_cart.py"}}
    hook("UserPromptSubmit", prompt="make the tests pass")
    hook(
        "PostToolUseFailure", tool_use_id="t1", error="Exit code 1\nValueError: no currency", **test
    )
    place = {"file_path": str(project / "settings.toml"), "old_string": "a", "new_string": "b"}
    hook("PostToolUse", tool_use_id="t2", tool_name="Edit", tool_input=place, tool_response=place)
    passed = {"stdout": "1 passed", "stderr": "", "interrupted": False}
    hook("PostToolUse", tool_use_id="t3", tool_response=passed, **test)
    hook("Stop")
    hook("SessionEnd", reason="other")

    paths = StatePaths(hermetic_home / ".skill_learner")
    wait_for(lambda: [j for j in jobs_of(paths) if not j.is_open], 60)
    time.sleep(1)  # a second review would have started by now

    assert [(job.session, job.status) for job in jobs_of(paths)] == [("outer", "done")]
    assert log.read_text() == "call\n"
    assert [path.stem for path in paths.journal_dir.iterdir()] == ["outer"]
    assert not list(paths.requests_dir.iterdir())


def test_a_detached_review_asks_whom_the_projects_trusted_file_names(
    reviews: Reviews, journal: Journal, jobs: JobStore, model: Any, calls: Any, project: Path
) -> None:
    """The user trusts the file as it is; a pull that changes it makes reviews stay at home."""
    file = project / "skill-learner.yaml"
    file.write_text(f"provider: command\ncommand: {json.dumps(model())}\n")
    trusted = subprocess.run(
        [sys.executable, "-m", "skill_learner", "trust", "--yes", "--project-dir", str(project)],
        env={**os.environ, "SKILL_LEARNER_STATE_DIR": str(journal.paths.root)},
        capture_output=True,
        text=True,
        check=True,
    )
    assert "What leaves this machine" in trusted.stdout
    for session, asked in (("before", 1), ("after", 1)):
        journal.fixed_failure(session, ended="SessionEnd")
        journal.request("session_end", session)
        reviews.start().wait(30)
        (job,) = [job for job in jobs.all() if job.session == session]
        assert job.status == "done"
        assert len(calls()) == asked
        file.write_text(file.read_text() + "model: whatever a pull brings\n")
