"""When a hook asks for a review and starts it, and what a session's start tells and mends."""

from __future__ import annotations

import contextlib
import fcntl
import json
import marshal
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import CHECKOUT

from skill_learner.hook_runtime.project_key import project_key
from skill_learner.targets.claude_code import command_line

pytestmark = pytest.mark.process
SESSION = "11111111-2222-3333-4444-555555555555"


def wait_for(condition: Callable[[], Any], seconds: float = 15) -> Any:
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = condition()
        if found:
            return found
        time.sleep(0.02)
    raise AssertionError("it did not happen in time")


def starts(hooks: Any) -> list[str]:
    return hooks.started.read_text().splitlines() if hooks.started.exists() else []


def dead_pid() -> str:
    child = subprocess.Popen(["/bin/true"])
    child.wait()
    return str(child.pid)


def make_due(hooks: Any, count: int = 10) -> None:
    (hooks.state / "tally").mkdir(exist_ok=True)
    (hooks.state / "tally" / hooks.key).write_bytes(b"." * count)


def source(hooks: Any, value: str) -> bytes:
    payload: bytes = hooks.payload("SessionStart", source=value)
    return payload


# -- the threshold -----------------------------------------------------------------------------


def test_turns_below_the_threshold_ask_for_nothing(hooks: Any) -> None:
    make_due(hooks, 9)
    assert hooks.run("Stop") == b""
    assert hooks.requests() == []


@pytest.mark.parametrize("event", ["Stop", "StopFailure"])
def test_threshold_requests_and_starts_a_review(hooks: Any, event: str) -> None:
    make_due(hooks)
    assert hooks.run(event) == b""
    assert hooks.requests() == [
        {
            "reason": "nudge",
            "session": SESSION,
            "project": str(hooks.project),
            "key": hooks.key,
            "editor": "claude-code",
        }
    ]
    (line,) = wait_for(lambda: starts(hooks))
    assert line == f"1|{hooks.state}|{hooks.state}|-B -m skill_learner review --detached"


def test_counting_and_threshold_meet(hooks: Any) -> None:
    environ = hooks.environ(SKILL_LEARNER_NUDGE_INTERVAL="3")
    for _ in range(2):
        hooks.run("PostToolUse", environ=environ)
    hooks.run("Stop", environ=environ)
    assert hooks.requests() == []
    hooks.run("PostToolUse", environ=environ)
    hooks.run("Stop", environ=environ)
    assert len(hooks.requests()) == 1


def test_projects_own_threshold_goes_before_the_common_one(hooks: Any) -> None:
    (hooks.state / "hook.conf").write_text(f"nudge_interval=50\nnudge_interval.{hooks.key}=4\n")
    make_due(hooks, 5)
    hooks.run("Stop", environ=hooks.environ(SKILL_LEARNER_NUDGE_INTERVAL="9"))
    assert hooks.requests() == []
    hooks.run("Stop")
    assert len(hooks.requests()) == 1


def test_what_was_reviewed_does_not_count(hooks: Any) -> None:
    make_due(hooks, 25)
    (hooks.state / "tally" / f"{hooks.key}.base").write_text("16")
    hooks.run("Stop")
    assert hooks.requests() == []
    (hooks.state / "tally" / f"{hooks.key}.base").write_text("15\n")
    hooks.run("Stop")
    assert len(hooks.requests()) == 1


def test_running_review_is_not_started_twice(hooks: Any) -> None:
    make_due(hooks)
    hooks.run("Stop")
    wait_for(lambda: starts(hooks))
    with (hooks.state / "review.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        hooks.run("Stop")
        time.sleep(0.3)
        assert len(starts(hooks)) == 1
    hooks.run("Stop")  # nobody holds the lock: the pending request is started again
    wait_for(lambda: len(starts(hooks)) == 2)
    assert len(hooks.requests()) == 1


def test_request_stays_when_the_start_fails(hooks: Any) -> None:
    make_due(hooks)
    entry = hooks.entry.read_text()
    first = entry.splitlines()[1]
    hooks.entry.write_text(entry.replace(first, "sys.executable = '/nonexistent/python'"))
    assert hooks.run("Stop") == b""
    assert len(hooks.requests()) == 1
    assert "FileNotFoundError" in wait_for(hooks.log)


# -- the end of a session ----------------------------------------------------------------------


@pytest.mark.parametrize("reason", ["other", "clear", "prompt_input_exit"])
def test_session_end_asks_for_a_last_review(hooks: Any, reason: str) -> None:
    hooks.run("PostToolUse")
    assert hooks.run("SessionEnd", hooks.payload("SessionEnd", reason=reason)) == b""
    assert [request["reason"] for request in hooks.requests()] == ["session_end"]
    wait_for(lambda: starts(hooks))


def test_empty_session_asks_for_nothing(hooks: Any) -> None:
    hooks.run("SessionStart", source(hooks, "startup"))
    hooks.run("SessionEnd")
    assert hooks.requests() == []


def test_reviewed_session_asks_for_nothing(hooks: Any) -> None:
    hooks.run("PostToolUse")
    journal = hooks.state / "journal" / f"{SESSION}.jsonl"
    (hooks.state / "marks").mkdir()
    mark = hooks.state / "marks" / f"{SESSION}.json"
    mark.write_text(json.dumps({"to": journal.stat().st_size}))
    hooks.run("SessionEnd")
    assert hooks.requests() == []
    hooks.run("PostToolUse")
    hooks.run("SessionEnd")
    assert len(hooks.requests()) == 1


# -- the detached start ------------------------------------------------------------------------


def test_started_review_survives_the_killing_of_the_hooks_tree(hooks: Any) -> None:
    make_due(hooks)
    pid_file = hooks.started.with_name("pid")
    reviewer = hooks.started.with_name("reviewer")
    reviewer.write_text(f"#!/bin/sh\necho $$ >'{pid_file}'\nexec sleep 30\n")
    # A client cancels a hook by parentage: what has another parent by then is left alone.
    process = subprocess.Popen(
        ["/bin/sh", "-c", command_line("Stop")],
        stdin=subprocess.PIPE,
        env=hooks.environ(),
        start_new_session=True,
    )
    process.communicate(hooks.payload("Stop"), timeout=60)
    review = int(wait_for(lambda: pid_file.exists() and pid_file.read_text().strip()))
    try:
        stat = Path(f"/proc/{review}/stat").read_text().rpartition(")")[2].split()
        parent, group, session = int(stat[1]), int(stat[2]), int(stat[3])
        assert parent not in (process.pid, os.getpid())
        assert process.pid not in (group, session)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        time.sleep(0.1)
        os.kill(review, 0)
        for stream in range(3):
            assert os.readlink(f"/proc/{review}/fd/{stream}") == "/dev/null"
        open_files = sorted(int(name) for name in os.listdir(f"/proc/{review}/fd"))
        assert open_files == [0, 1, 2]
    finally:
        os.kill(review, signal.SIGKILL)


# -- the start of a session --------------------------------------------------------------------


def put_news(hooks: Any, text: str) -> None:
    (hooks.state / "news").mkdir(exist_ok=True)
    (hooks.state / "news" / hooks.key).write_text(text)


def publish(hooks: Any, *names: str) -> None:
    library = hooks.state / "skills"
    lines = []
    for name in names:
        (library / name).mkdir(parents=True)
        (library / name / "SKILL.md").write_text(f"---\nname: {name}\n---\n")
        lines.append(f"{name}\t{library / name}\n")
    (hooks.state / "published").mkdir(exist_ok=True)
    (hooks.state / "published" / hooks.key).write_text("".join(lines))
    (hooks.state / "published" / f"{hooks.key}.index.md").write_text("# Index\n")


def test_start_with_nothing_to_say_says_nothing(hooks: Any) -> None:
    assert hooks.run("SessionStart", source(hooks, "startup")) == b""


def test_news_is_told_once_and_in_ascii(hooks: Any) -> None:
    publish(hooks, "a-skill")
    put_news(hooks, 'Learned: "größe" \U0001f600\n')
    out = hooks.run("SessionStart", source(hooks, "startup"))
    assert out.isascii()
    assert out.count(b"\n") == 1
    assert json.loads(out) == {
        "systemMessage": 'Learned: "größe" \U0001f600',
        "hookSpecificOutput": {"hookEventName": "SessionStart", "reloadSkills": True},
    }
    assert "systemMessage" not in json.loads(hooks.run("SessionStart", source(hooks, "startup")))
    assert list((hooks.state / "news").iterdir()) == []


@pytest.mark.parametrize("cause", ["resume", "clear", "compact", "fork"])
def test_other_starts_print_nothing(hooks: Any, cause: str) -> None:
    publish(hooks, "a-skill")
    put_news(hooks, "news")
    assert hooks.run("SessionStart", source(hooks, cause)) == b""
    assert (hooks.state / "news" / hooks.key).exists()


def test_no_other_event_ever_prints(hooks: Any) -> None:
    publish(hooks, "a-skill")
    put_news(hooks, "news")
    make_due(hooks)
    for event in ("PostToolUse", "PostToolUseFailure", "UserPromptSubmit", "Stop", "StopFailure",
                  "SubagentStop", "PreCompact", "UserPromptExpansion", "SessionEnd"):  # fmt: skip
        assert hooks.run(event) == b""


def test_queued_jobs_are_started(hooks: Any) -> None:
    (hooks.state / "jobs").mkdir()
    (hooks.state / "jobs" / "pending").touch()
    assert hooks.run("SessionStart", source(hooks, "startup")) == b""
    wait_for(lambda: starts(hooks))
    assert hooks.requests() == []


def lost_session(hooks: Any, name: str, pid: str, *events: str) -> Path:
    environ = hooks.environ(CLAUDE_PID=pid)
    for event in events:
        payload = {"session_id": name, "text": "x" * 9000}
        hooks.run(event, json.dumps(payload).encode(), environ)
    journal: Path = hooks.state / "journal" / f"{name}.jsonl"
    return journal


@pytest.mark.parametrize("cause", ["startup", "resume"])
def test_session_whose_client_was_killed_is_recovered(hooks: Any, cause: str) -> None:
    lost_session(hooks, "lost-one", dead_pid(), "SessionStart", "PostToolUse")
    assert hooks.run("SessionStart", source(hooks, cause)) == b""
    (request,) = hooks.requests()
    assert request == {
        "reason": "recover",
        "session": "lost-one",
        "project": str(hooks.project),
        "key": hooks.key,
        "editor": "claude-code",
    }
    wait_for(lambda: starts(hooks))
    hooks.run("SessionStart", source(hooks, cause))
    assert len(hooks.requests()) == 1


def test_living_ended_idle_and_reviewed_sessions_are_not_lost(hooks: Any) -> None:
    lost_session(hooks, "living", str(os.getpid()), "PostToolUse")
    lost_session(hooks, "ended", dead_pid(), "PostToolUse", "SessionEnd")
    lost_session(hooks, "idle", dead_pid(), "SessionStart")
    reviewed = lost_session(hooks, "reviewed", dead_pid(), "PostToolUse")
    (hooks.state / "marks").mkdir()
    mark = hooks.state / "marks" / "reviewed.json"
    mark.write_text(json.dumps({"to": reviewed.stat().st_size}))
    for path in (hooks.state / "requests").iterdir():
        path.unlink()  # as the review does that makes a job of it
    (hooks.state / "jobs").mkdir()
    (hooks.state / "jobs" / "pending").touch()
    hooks.run("SessionStart", source(hooks, "startup"))
    assert hooks.requests() == []


def test_session_whose_end_was_cut_off_before_it_asked_for_a_review_is_recovered(
    hooks: Any,
) -> None:
    left = lost_session(hooks, "left", str(os.getpid()), "PostToolUse")
    hooks.run("SessionEnd", json.dumps({"session_id": "left", "reason": "resume"}).encode())
    ended = lost_session(hooks, "ended", dead_pid(), "PostToolUse", "SessionEnd")
    assert [request["session"] for request in hooks.requests()] == ["ended"]
    for path in (hooks.state / "requests").iterdir():
        path.unlink()
    hooks.run("SessionStart", source(hooks, "startup"))
    assert [request["session"] for request in hooks.requests()] == ["ended"]
    assert left.exists()
    for path in (hooks.state / "requests").iterdir():
        path.unlink()
    (hooks.state / "jobs").mkdir()
    (hooks.state / "jobs" / "pending").touch()
    os.utime(ended, (time.time() - 700, time.time() - 700))  # what is pending is another's
    hooks.run("SessionStart", source(hooks, "startup"))
    assert [request["session"] for request in hooks.requests()] == ["ended"]


def test_client_without_pid_is_lost_after_an_hour(hooks: Any) -> None:
    journal = lost_session(hooks, "old-client", "", "PostToolUse")
    hooks.run("SessionStart", source(hooks, "startup"))
    assert hooks.requests() == []
    os.utime(journal, (time.time() - 4000, time.time() - 4000))
    hooks.run("SessionStart", source(hooks, "startup"))
    assert [request["session"] for request in hooks.requests()] == ["old-client"]


# -- linked worktrees --------------------------------------------------------------------------


@pytest.fixture
def worktree(hooks: Any, tmp_path: Path) -> Path:
    """A linked worktree of the sandbox's project, as git lays it out."""
    top = tmp_path / "linked"
    git_dir = hooks.project / ".git" / "worktrees" / "linked"
    git_dir.mkdir(parents=True)
    (git_dir / "commondir").write_text("../..\n")
    (git_dir / "HEAD").write_text("ref: refs/heads/topic\n")
    top.mkdir()
    (top / ".git").write_text(f"gitdir: {git_dir}\n")
    return top.resolve()


def test_fresh_worktree_gets_links_and_index(hooks: Any, worktree: Path) -> None:
    assert project_key(os.fsencode(hooks.project)) == hooks.key
    publish(hooks, "a-skill", "b-skill")
    index = Path(".claude") / "skill-learner-index.md"
    (hooks.project / ".claude").mkdir()
    (hooks.project / index).write_text("# Index\n")
    own = worktree / ".claude" / "skills" / "b-skill"
    own.mkdir(parents=True)
    stale = worktree / ".claude" / "skills" / "gone"
    stale.symlink_to(hooks.state / "skills" / "gone")
    foreign = worktree / ".claude" / "skills" / "foreign"
    foreign.symlink_to("/nonexistent/elsewhere")
    environ = hooks.environ(CLAUDE_PROJECT_DIR=str(worktree))
    out = hooks.run("SessionStart", source(hooks, "startup"), environ)
    told = json.loads(out)["hookSpecificOutput"]
    assert (told["reloadSkills"], told["additionalContext"]) == (True, "# Index\n")
    out = hooks.run("SessionStart", source(hooks, "startup"), environ)
    assert "additionalContext" not in json.loads(out)["hookSpecificOutput"]  # it is in the notes
    link = worktree / ".claude" / "skills" / "a-skill"
    assert link.is_symlink()
    assert (link / "SKILL.md").is_file()
    assert not own.is_symlink()
    assert not stale.is_symlink()
    assert foreign.is_symlink()
    assert (worktree / index).read_text() == "# Index\n"
    assert hooks.records()[0]["k"] == hooks.key


def test_fresh_worktree_gets_the_seed_skill_that_git_does_not_carry(
    hooks: Any, worktree: Path
) -> None:
    seed = hooks.project / ".claude" / "skills" / "skill-learner"
    seed.mkdir(parents=True)
    first = "---\nmetadata:\n  skill-learner-seed: 1\n---\n"
    environ = hooks.environ(CLAUDE_PROJECT_DIR=str(worktree))
    copy = worktree / ".claude" / "skills" / "skill-learner" / "SKILL.md"
    for text in (first, first, first + "A new version.\n"):
        (seed / "SKILL.md").write_text(text)
        out = hooks.run("SessionStart", source(hooks, "startup"), environ)
        assert json.loads(out)["hookSpecificOutput"]["reloadSkills"] is True
        assert copy.read_text() == text
    copy.write_text("Mine.")
    hooks.run("SessionStart", source(hooks, "startup"), environ)
    assert copy.read_text() == "Mine."
    assert [path.name for path in copy.parent.iterdir()] == ["SKILL.md"]


def test_worktree_of_a_project_without_skills_gets_nothing(hooks: Any, worktree: Path) -> None:
    environ = hooks.environ(CLAUDE_PROJECT_DIR=str(worktree))
    assert hooks.run("SessionStart", source(hooks, "startup"), environ) == b""
    assert not (worktree / ".claude").exists()


def test_linked_skills_folder_is_not_followed(hooks: Any, worktree: Path, tmp_path: Path) -> None:
    publish(hooks, "a-skill")
    outside = tmp_path / "outside"
    outside.mkdir()
    (worktree / ".claude").symlink_to(outside)
    hooks.run(
        "SessionStart", source(hooks, "startup"), hooks.environ(CLAUDE_PROJECT_DIR=str(worktree))
    )
    assert list(outside.iterdir()) == []


def test_main_worktree_is_left_to_publish(hooks: Any) -> None:
    publish(hooks, "a-skill")
    hooks.run("SessionStart", source(hooks, "startup"))
    assert not (hooks.project / ".claude").exists()


def test_hostile_published_names_are_passed_over(hooks: Any, worktree: Path) -> None:
    publish(hooks, "a-skill")
    with (hooks.state / "published" / hooks.key).open("a") as lines:
        lines.write(
            f"../../evil\t{hooks.state}/skills/a-skill\n.hidden\t/tmp\nno-tab\nrel\tfolder\n"
        )
    hooks.run(
        "SessionStart", source(hooks, "startup"), hooks.environ(CLAUDE_PROJECT_DIR=str(worktree))
    )
    names = [path.name for path in (worktree / ".claude" / "skills").iterdir()]
    assert names == ["a-skill"]


# -- what a hook loads -------------------------------------------------------------------------

HOT = {
    "skill_learner", "skill_learner.events", "skill_learner.hook_runtime",
    "skill_learner.hook_runtime.cached_code", "skill_learner.hook_runtime.deadline",
    "skill_learner.hook_runtime.payload",
    "skill_learner.hook_runtime.process",
    "skill_learner.hook_runtime.project_key", "skill_learner.hook_runtime.state_folder",
    "skill_learner.hook_runtime.system",
    "skill_learner.targets", "skill_learner.targets.claude_code",
}  # fmt: skip
AFTER = {f"skill_learner.hook_runtime.{name}" for name in ("follow_up", "requests")}
START = {f"skill_learner.hook_runtime.{name}" for name in ("session_start", "recovery", "clients")}


def bare_modules() -> set[str]:
    """What the interpreter itself loads, and the built-in modules a hook may use beside it."""
    command = [sys.executable, "-I", "-S", "-c", "import sys; print(*sys.modules)"]
    bare = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    return {*bare, "_signal", "marshal", "posix", "time"}


def loaded(hooks: Any, tmp_path: Path, event: str) -> set[str]:
    """The modules of the real hook process, written down right before it ends."""
    report = tmp_path / "modules"
    spy = (
        "import posix, sys\n"
        "def _exit(status, end=posix._exit):\n"
        "    del posix._exit\n"
        f"    d = posix.open({str(report)!r}, posix.O_WRONLY | posix.O_CREAT | posix.O_TRUNC)\n"
        "    posix.write(d, chr(10).join(sys.modules).encode())\n"
        "    end(status)\n"
        "posix._exit = _exit\n"
    )
    source_text = hooks.entry.read_text()
    if "def _exit" not in source_text:
        hooks.entry.write_text(spy + source_text)
    hooks.run(event, hooks.payload(event, source="startup"))
    return set(report.read_text().split("\n"))


@pytest.mark.parametrize(
    ("event", "more"),
    [
        ("PostToolUse", set()),
        ("PostToolUseFailure", set()),
        ("UserPromptSubmit", {"skill_learner.hook_runtime.offer"}),
        ("Stop", AFTER),
        ("SessionStart", AFTER | START),
    ],
)
def test_hooks_load_nothing_but_what_is_allowed(
    hooks: Any, tmp_path: Path, event: str, more: set[str]
) -> None:
    bare = bare_modules()
    writer = {"skill_learner.hook_runtime.code_cache"}
    assert loaded(hooks, tmp_path, event) - bare == HOT | more | writer
    assert loaded(hooks, tmp_path, event) - bare == HOT | more


def test_code_cache_holds_what_every_hook_loads() -> None:
    from skill_learner.hook_runtime.code_cache import HOT_MODULES

    assert {*HOT_MODULES, "skill_learner.targets.claude_code"} == HOT


def cached(data: bytes) -> Any:
    """What a cache file holds: the same code is not always the same bytes."""
    return marshal.loads(data.partition(f"\n{CHECKOUT}\n".encode())[2])


def test_damaged_or_old_code_cache_is_made_anew(hooks: Any) -> None:
    hooks.run("PostToolUse")
    cache = hooks.state / "code" / "claude-code"
    good = cache.read_bytes()
    for bad in (
        b"",
        b"garbage",
        good[: len(good) // 2],
        good.replace(b"payload.py", b"missing.py"),
    ):
        cache.write_bytes(bad)
        hooks.run("PostToolUse")
        assert cached(cache.read_bytes()) == cached(good)
    assert len(hooks.records()) == 5
    assert hooks.log() == ""
    assert sys.version.encode() in good


@pytest.mark.parametrize("fault", ["short", "full"])
def test_a_request_that_finds_no_room_leaves_nothing_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str
) -> None:
    from skill_learner.hook_runtime import requests

    write = requests.system.write

    def no_room(descriptor: int, data: bytes) -> int:
        if fault == "full":
            raise OSError(28, "No space left on device")
        return write(descriptor, data[:10])

    monkeypatch.setattr(requests.system, "write", no_room)
    with pytest.raises(OSError, match=r"not written whole|No space"):
        requests.ReviewRequests(os.fsencode(tmp_path)).write(b"nudge", b"s", b"/p", b"k", "codex")
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []
