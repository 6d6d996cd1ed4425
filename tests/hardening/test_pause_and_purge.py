"""The user's hand on the recording: pauses, and taking away what was recorded."""

from __future__ import annotations

import json
import os
import re
import time
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import SESSION, HookSandbox

from skill_learner.conversation import ConversationStore
from skill_learner.errors import ConfigError
from skill_learner.files import locked
from skill_learner.jobs import JobStore, Wish
from skill_learner.journal_retention import prune_journals, remove_journal
from skill_learner.learning.redaction import Redactor
from skill_learner.models import Session, Step, ToolCall
from skill_learner.paths import StatePaths
from skill_learner.pause import FOR_EVER, moment, pause, paused_until
from skill_learner.pipeline.sequences import remember_sequence

Run = Callable[..., Any]
NOON = datetime(2026, 5, 4, 12, 0)


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("1h", datetime(2026, 5, 4, 13, 0)),
        ("90 m", datetime(2026, 5, 4, 13, 30)),
        ("2days", datetime(2026, 5, 6, 12, 0)),
        ("45 Min", datetime(2026, 5, 4, 12, 45)),
        ("1 week", datetime(2026, 5, 11, 12, 0)),
        ("3 hrs", datetime(2026, 5, 4, 15, 0)),
        ("18:30", datetime(2026, 5, 4, 18, 30)),
        ("9:05", datetime(2026, 5, 5, 9, 5)),
        ("2026-06-01", datetime(2026, 6, 1)),
        ("2026-06-01 08:15", datetime(2026, 6, 1, 8, 15)),
    ],
)
def test_a_pause_ends_when_its_words_say(text: str, until: datetime) -> None:
    assert moment(text, NOON) == int(until.timestamp())


@pytest.mark.parametrize(
    "text",
    [
        *("soon", "1", "25:00", "2026-05-04", "2025-01-01", "-1h", "", "1month", "5 months"),
        *("2 mice", "1 y", "0h", "0 days", "9" * 5_000 + "d", "99999-01-01", "0001-01-01", "1h 5"),
    ],
)
def test_what_is_no_moment_to_come_is_refused(text: str) -> None:
    with pytest.raises(ConfigError):
        moment(text, NOON)


def test_a_pause_without_end_is_one_for_ever() -> None:
    assert moment("99999999999999d", NOON) == FOR_EVER


def test_a_damaged_pause_pauses_nothing(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path)
    paths.pause.write_text("tomorrow")
    assert paused_until(paths) == 0
    pause(paths, int(time.time()) - 5)
    assert paused_until(paths) == 0


@pytest.mark.process
def test_a_pause_stops_hooks_until_it_is_over(hooks: HookSandbox, run: Run) -> None:
    run("pause", "1h")
    hooks.run("UserPromptSubmit")
    assert not (hooks.state / "journal").exists()
    assert "paused until" in run("why").output
    run("resume")
    hooks.run("UserPromptSubmit")
    assert len(hooks.records()) == 1
    run("pause")
    assert paused_until(StatePaths(hooks.state)) == FOR_EVER
    pause(StatePaths(hooks.state), int(time.time()) + 1)
    run("status")
    time.sleep(1.2)
    hooks.run("UserPromptSubmit")
    assert len(hooks.records()) == 2


def journal(state: Path, session: str, key: str, *, age_days: float = 0, size: int = 0) -> Path:
    path = state / "journal" / f"{session}.jsonl"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(
        f'\n{{"v":1,"t":1,"e":"UserPromptSubmit","ed":"claude-code","k":"{key}","p":"/p","c":0,'
        f'"d":{{"session_id":"{session}","prompt":"{"x" * size}"}}}}'
    )
    (state / "marks").mkdir(exist_ok=True)
    then = time.time() - age_days * 86_400
    os.utime(path, (then, then))
    return path


def names(state: Path) -> set[str]:
    return {path.stem for path in (state / "journal").glob("*.jsonl")}


def test_purge_takes_what_was_chosen_and_leaves_the_library(hooks: HookSandbox, run: Run) -> None:
    state = hooks.state
    journal(state, "old", hooks.key, age_days=40)
    journal(state, "new", hooks.key)
    journal(state, "other", "other-1")
    jobs = JobStore(StatePaths(state))
    jobs.queue(Wish("new", "/p", hooks.key, "claude-code", "nudge"))
    jobs.queue(Wish("other", "/p", "other-1", "claude-code", "nudge"))
    run("remember", "npm test needs a database")
    assert run("purge", "--dry-run").output.count("journals") == 1
    assert names(state) == {"old", "new", "other"}
    run("purge", "--older-than", "30d", "--yes")
    assert names(state) == {"new", "other"}
    run("purge", "--session", "new", "--yes")
    assert names(state) == {"other"}
    assert [job.session for job in jobs.all()] == ["other"]
    run("purge", "--project-dir", ".", "--yes")
    assert names(state) == {"other"}
    run("purge", stdin="n\n", code=1)
    assert names(state) == {"other"}
    run("purge", "--yes")
    assert names(state) == set()
    assert jobs.all() == []
    assert "npm-test" in run("list", "--candidates").output
    assert "nothing of that" in run("purge").output


def remember_commands(paths: StatePaths, key: str, session: str) -> None:
    commands = ("make clean", "make build", "make deploy")
    steps = tuple(
        Step(n, "tool", "", ToolCall(f"c{n}", "Bash", {"command": command}, "fine", "ok"))
        for n, command in enumerate(commands, 1)
    )
    remember_sequence(paths, key, Session(session, "claude-code", "/p", steps), Redactor())


def remembered(state: Path, key: str) -> set[str]:
    file = state / "sequences" / f"{key}.json"
    return set(json.loads(file.read_bytes())) if file.exists() else set()


def make_old(path: Path, days: float = 40) -> Path:
    then = time.time() - days * 86_400
    os.utime(path, (then, then))
    return path


@pytest.mark.parametrize("chosen", [(), ("--project-dir", "."), ("--session", "s")])
def test_what_is_younger_than_the_days_given_stays(
    hooks: HookSandbox, run: Run, chosen: tuple[str, ...]
) -> None:
    state, paths = hooks.state, StatePaths(hooks.state)
    journal(state, "s", hooks.key)
    JobStore(paths).queue(Wish("s", "/p", hooks.key, "claude-code", "nudge"))
    remember_commands(paths, hooks.key, "s")
    write(state / "offered" / "s")
    write(state / "requests" / "1-1", f"reason=nudge\nsession=s\nkey={hooks.key}\n")
    before = every_file(state)
    assert "nothing of that" in run("purge", *chosen, "--older-than", "30", "--yes").output
    assert every_file(state) == before


def test_of_the_command_memory_only_the_old_sessions_go(hooks: HookSandbox, run: Run) -> None:
    paths = StatePaths(hooks.state)
    remember_commands(paths, hooks.key, "old")
    file = hooks.state / "sequences" / f"{hooks.key}.json"
    file.write_text(re.sub(r'"at": [0-9.]+', '"at": 1.0', file.read_text()))
    remember_commands(paths, hooks.key, "new")
    run("purge", "--project-dir", ".", "--older-than", "30", "--yes")
    assert remembered(hooks.state, hooks.key) == {"new"}
    make_old(file).write_text(file.read_text().replace('"at"', '"was"'))
    make_old(file)  # as it was written before its sessions bore a time
    run("purge", "--older-than", "30", "--yes")
    assert not file.exists()


def test_the_session_of_a_project_is_all_that_goes_of_its_memory(
    hooks: HookSandbox, run: Run
) -> None:
    for session in ("one", "two"):
        remember_commands(StatePaths(hooks.state), hooks.key, session)
    run("purge", "--project-dir", ".", "--session", "one", "--yes")
    assert remembered(hooks.state, hooks.key) == {"two"}


@pytest.mark.parametrize("chosen", [(), ("--project-dir", "."), ("--session", "x/1")])
def test_nothing_stays_of_a_session_whose_journal_is_gone(
    hooks: HookSandbox, run: Run, chosen: tuple[str, ...]
) -> None:
    state, paths = hooks.state, StatePaths(hooks.state)
    jobs = JobStore(paths)
    jobs.queue(Wish("x/1", "/p", hooks.key, "claude-code", "nudge"))
    job = jobs.take()
    assert job is not None
    jobs.finish(job, "done", "what it found")
    remember_commands(paths, hooks.key, "x/1")
    kept = [write(state / "offered" / "other"), write(state / "marks" / "other.json", '{"to": 3}')]
    write(state / "offered" / "x%2f1")
    write(state / "marks" / "x%2f1.json", '{"to": 3}')
    write(state / "requests" / "1-1", f"reason=nudge\nsession=x/1\nkey={hooks.key}\n")
    run("purge", *chosen, "--yes")
    left = {path.relative_to(state) for path in every_file(state) if path not in kept}
    told = [path for path in left if "x%2f1" in path.name or path.parts[0] in TOLD_OF_SESSIONS]
    assert told == []
    assert [path.exists() for path in kept] == [bool(chosen)] * 2


TOLD_OF_SESSIONS = {"offered", "marks", "requests", "sequences", "journal", "jobs"}


def write(path: Path, text: str = "x") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def every_file(state: Path) -> dict[Path, bytes]:
    """What a command itself keeps up to date, and locks, left out."""
    return {
        path: path.read_bytes()
        for path in state.rglob("*")
        if path.is_file() and path.name not in ("hook.conf", "format") and ".lock" not in path.name
    }


def test_what_a_library_elsewhere_recorded_goes_too(
    hooks: HookSandbox, run: Run, settings: Callable[[str], None], tmp_path: Path
) -> None:
    settings(f"skills_dir: {tmp_path / 'own'}\n")
    host = ConversationStore(StatePaths(tmp_path / "own" / ".state"))
    host.add(host.begin("one", "openai"), ())
    host.add(host.begin("two", "openai"), ())
    run("purge", "--session", "one", "--yes")
    assert [one.session for one in host.all()] == ["two"]
    run("purge", "--yes")
    assert list(host.all()) == []


def test_purge_waits_for_no_review_and_takes_nothing_from_one(hooks: HookSandbox, run: Run) -> None:
    journal(hooks.state, "s", hooks.key)
    with locked(hooks.state / "review.lock"):
        assert "a review is running" in run("purge", "--yes", code=6).output
    assert names(hooks.state) == {"s"}


def test_journals_stay_below_their_size_reviewed_ones_go_first(tmp_path: Path) -> None:
    paths = StatePaths(tmp_path)
    for number, reviewed in enumerate((False, True, False, True)):
        path = journal(tmp_path, f"s{number}", "k", age_days=4 - number, size=900_000)
        if reviewed:
            mark = paths.marks_dir / f"{path.stem}.json"
            mark.write_text(f'{{"to": {path.stat().st_size}}}')
    assert prune_journals(paths, 30, megabytes=2) == 2
    assert names(tmp_path) == {"s0", "s2"}
    assert list(paths.marks_dir.iterdir()) == []
    assert prune_journals(paths, 30, megabytes=1) == 1
    assert names(tmp_path) == {"s2"}


def test_a_journal_that_is_written_to_is_not_removed(tmp_path: Path) -> None:
    path = journal(tmp_path, "s", "k")
    assert not remove_journal(StatePaths(tmp_path), path, unless_since=time.time() - 600)
    assert path.exists()


@pytest.mark.process
def test_an_event_that_comes_while_its_journal_is_pruned_is_kept(
    hooks: HookSandbox, tmp_path: Path
) -> None:
    """The hook has the old file open and waits for its lock; then the file goes."""
    import fcntl

    hooks.run("UserPromptSubmit")
    path = hooks.state / "journal" / f"{SESSION}.jsonl"
    with path.open("r+b") as held:
        fcntl.lockf(held, fcntl.LOCK_EX)
        process = hooks.popen("UserPromptSubmit")
        assert process.stdin is not None
        process.stdin.write(hooks.payload("UserPromptSubmit", prompt="late"))
        process.stdin.close()
        time.sleep(0.5)  # it waits at most one second for the lock
        path.unlink()
    assert process.wait(timeout=20) == 0
    assert [record["d"]["prompt"] for record in hooks.records()] == ["late"]
    for pipe in (process.stdout, process.stderr):
        assert pipe is not None
        pipe.close()
