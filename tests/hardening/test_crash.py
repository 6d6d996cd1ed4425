"""What a kill, a failure or somebody's saving at the same moment leaves behind."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import SESSION, HookSandbox
from small_disks import mount_small, unmount_small

from skill_learner import files
from skill_learner.install.changes import Change, ChangedMeanwhileError, carry_out
from skill_learner.jobs import JobStore, Wish
from skill_learner.paths import StatePaths
from skill_learner.tally import hold_off

Run = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.process
def test_turns_rest_after_a_review_and_a_clock_put_back_ends_the_rest(hooks: HookSandbox) -> None:
    paths = StatePaths(hooks.state)
    paths.tally_dir.mkdir()
    (paths.tally_dir / hooks.key).write_bytes(b"." * 20)
    hold_off(paths, hooks.key, 600)
    hooks.run("Stop")
    assert hooks.requests() == []
    hold_off(paths, hooks.key, 10_000_000)
    hooks.run("Stop")
    assert [request["reason"] for request in hooks.requests()] == ["nudge"]


@pytest.mark.process
def test_the_end_of_a_session_is_reviewed_in_a_rest_too(hooks: HookSandbox) -> None:
    hold_off(StatePaths(hooks.state), hooks.key, 600)
    hooks.run("UserPromptSubmit")
    hooks.run("SessionEnd")
    assert [request["reason"] for request in hooks.requests()] == ["session_end"]


@pytest.mark.parametrize("provider", ["offline", "command"])
def test_a_review_leaves_a_rest_behind_whether_it_failed_or_not(
    hooks: HookSandbox, run: Run, settings: Callable[[str], None], provider: str
) -> None:
    settings(f"provider: {provider}\ncommand: /bin/false\nreview_when: always\n")
    hooks.run("UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt="list the files"))
    run("review", "--session", SESSION, code=0 if provider == "offline" else 6)
    until = int((hooks.state / "tally" / f"{hooks.key}.wait").read_bytes())
    expected = 60 if provider == "offline" else 600
    assert expected - 30 < until - time.time() <= expected


@pytest.mark.process
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs util-linux")
def test_a_killed_review_takes_the_program_it_asked_with_it(tmp_path: Path) -> None:
    alive = tmp_path / "alive"
    program = f"while :; do echo x >>'{alive}'; sleep 0.1; done"
    code = (
        "import pathlib, sys; from skill_learner.child_process import run\n"
        f"run(['/bin/sh', '-c', {program!r}], stdin='', timeout=60, env={{}}, "
        "cwd=pathlib.Path('/'))"
    )
    parent = subprocess.Popen([sys.executable, "-c", code], cwd=ROOT)
    deadline = time.monotonic() + 20
    while not alive.exists():
        assert time.monotonic() < deadline
        time.sleep(0.05)
    os.kill(parent.pid, signal.SIGKILL)
    parent.wait()
    time.sleep(0.3)
    size = alive.stat().st_size
    time.sleep(0.6)
    assert alive.stat().st_size == size


def test_a_program_that_is_not_there_shows_as_ever(tmp_path: Path) -> None:
    from skill_learner.child_process import run as run_program

    with pytest.raises(FileNotFoundError):
        run_program(["/nowhere/x"], stdin="", timeout=5, env={}, cwd=tmp_path)


def test_an_interrupted_job_is_told_of(hooks: HookSandbox, run: Run) -> None:
    hooks.run("UserPromptSubmit")
    store = JobStore(StatePaths(hooks.state))
    journal = str(hooks.state / "journal" / f"{SESSION}.jsonl")
    place = (str(hooks.project), hooks.key, "claude-code")
    store.queue(Wish(SESSION, *place, "nudge", journal=journal))
    assert store.take() is not None  # and then its process was killed
    run("review")
    (job,) = store.all()
    assert (job.status, job.attempts) == ("done", 2)
    assert "start 1 was cut off; it runs again" in (hooks.state / "review.log").read_text()


def test_drafts_of_killed_writes_go_with_the_next_review_and_the_next_init(
    hooks: HookSandbox, run: Run
) -> None:
    old, fresh = ".x.json.abcdefgh.sl-draft", ".y.json.abcdefgh.sl-draft"
    marks, jobs, settings = folders = (
        hooks.state / "marks", hooks.state / "jobs", hooks.project / ".claude"
    )  # fmt: skip
    for folder in folders:
        folder.mkdir()
        for name in (old, fresh):
            (folder / name).touch()
        os.utime(folder / old, (time.time() - 700,) * 2)
    run("review")
    run("init", "--target", "claude-code", "--provider", "offline")
    assert not any((folder / old).exists() for folder in folders)
    assert (marks / fresh).exists()  # its writer may be at work
    assert not (jobs / fresh).exists()  # the review and ...
    assert not (settings / fresh).exists()  # ... init had the lock of all who write there


def test_a_file_that_somebody_saves_at_the_last_moment_stays_as_they_left_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "CLAUDE.md"
    path.write_bytes(b"mine")
    change = Change(path, "index_block", b"mine", b"mine and ours", "")
    sync = os.fsync

    def save_meanwhile(descriptor: int) -> None:
        path.write_bytes(b"mine, edited")
        sync(descriptor)

    monkeypatch.setattr(os, "fsync", save_meanwhile)
    with pytest.raises(ChangedMeanwhileError, match="changed by somebody else"):
        carry_out([change])
    assert path.read_bytes() == b"mine, edited"
    assert [entry.name for entry in tmp_path.iterdir()] == ["CLAUDE.md"]


def test_bytes_are_on_the_disk_before_a_name_leads_to_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No kill shows this, only a loss of power."""
    steps: list[str] = []
    sync, replace = os.fsync, os.replace

    def told_sync(descriptor: int) -> None:
        size = os.fstat(descriptor).st_size
        sync(descriptor)
        steps.append(f"sync {size}")

    def told_replace(source: Any, target: Any) -> None:
        replace(source, target)
        steps.append("replace")

    monkeypatch.setattr(os, "fsync", told_sync)
    monkeypatch.setattr(os, "replace", told_replace)
    files.atomic_write(tmp_path / "x", b"whole")
    assert steps == ["sync 5", "replace"]


def test_publishing_takes_up_what_somebody_saves_meanwhile(
    hooks: HookSandbox, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    notes = hooks.project / "CLAUDE.md"
    notes.write_text("# Mine\n")
    run("init", "--target", "claude-code", "--provider", "offline")
    run("remember", "npm test needs a database")
    (name,) = [path.parent.name for path in (hooks.state / "skills").glob("*/SKILL.md")]
    real, saved = files.atomic_write, []

    def write(path: Path, data: bytes, mode: int | None = None, **more: Any) -> None:
        if path == notes and not saved:
            saved.append(path)
            path.write_bytes(path.read_bytes() + b"edited\n")
        real(path, data, mode, **more)

    monkeypatch.setattr(files, "atomic_write", write)
    run("approve", name)
    assert saved
    assert name in notes.read_text()
    assert "edited" in notes.read_text()


def test_init_waits_for_a_publishing_and_a_refusal_writes_no_lock(
    hooks: HookSandbox, run: Run, tmp_path: Path
) -> None:
    import threading

    other = tmp_path / "other"
    (other / ".claude").mkdir(parents=True)
    settings = other / ".claude" / "settings.json"
    settings.write_text("{ // mine\n}")
    run("init", "--target", "claude-code", "--project-dir", str(other), code=3)
    assert not (hooks.state / "publish.lock").exists()
    release = threading.Event()

    def hold() -> None:
        with files.locked(hooks.state / "publish.lock"):
            release.wait(20)
            (hooks.project / "CLAUDE.md").write_text("# Written while init waited\n")

    holder = threading.Thread(target=hold)
    holder.start()
    threading.Timer(0.5, release.set).start()
    run("init", "--target", "claude-code", "--provider", "offline")
    holder.join()
    text = (hooks.project / "CLAUDE.md").read_text()
    assert text.startswith("# Written while init waited\n")
    assert "skill-learner" in text


@pytest.mark.process
def test_a_hook_without_room_leaves_no_cut_bytecode_in_the_package(tmp_path: Path) -> None:
    """CPython before 3.12.8 renames a bytecode file of which only the beginning could be written;
    every later start of anything would then fail on it."""
    package = tmp_path / "copy"
    ignored = shutil.ignore_patterns("__pycache__", ".*")
    shutil.copytree(ROOT / "skill_learner", package / "skill_learner", ignore=ignored)
    shutil.copytree(ROOT / "hooks", package / "hooks", ignore=ignored)
    state = tmp_path / "state"
    state.mkdir(mode=0o700)
    hook = [sys.executable, "-I", "-S", str(package / "hooks" / "entry.py"), str(package)]
    event = ("claude-code", "SessionStart")
    done = subprocess.run(
        ["/bin/sh", "-c", 'ulimit -S -f 1; exec "$@"', "sh", *hook, str(state), *event],
        input=b'{"session_id": "s", "source": "startup"}',
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert list(package.rglob("*.pyc")) == []


@pytest.mark.process
def test_a_full_disk_keeps_whole_events_and_never_disturbs_the_editor(tmp_path: Path) -> None:
    disk = tmp_path / "disk"
    disk.mkdir()
    if not mount_small(disk, "size=64k"):
        pytest.skip("no leave to mount a small tmpfs")
    try:
        hooks = HookSandbox(disk / "small")
        for number in range(12):
            words = hooks.payload("UserPromptSubmit", prompt=f"p{number}", pad="x" * 9_000)
            assert hooks.run("UserPromptSubmit", words) == b""
        for event in ("Stop", "SessionEnd", "SessionStart"):
            assert hooks.run(event) == b""
        told = [record["d"]["prompt"] for record in hooks.records() if "prompt" in record["d"]]
        assert told == [f"p{number}" for number in range(len(told))]
        assert 2 <= len(told) < 12
        assert "No space left on device" in hooks.log()
    finally:
        unmount_small(disk)
