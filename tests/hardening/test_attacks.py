"""A fast part of what scripts/fuzz_hooks, scripts/crash and scripts/concurrency do at length."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import crash_beds
import pytest
from busy_editors import BusyProject, run_busy
from hook_fuzzing import CHECKOUT, FuzzBed, recorded_payloads, verdict
from small_disks import left_behind, mount_small, unmount_small

pytestmark = pytest.mark.process


@pytest.fixture
def same_process(monkeypatch: pytest.MonkeyPatch) -> Any:
    """The beds change HOME and umask, as they run alone in a script."""
    monkeypatch.setenv("HOME", os.environ["HOME"])
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", os.devnull)
    umask = os.umask(0o022)
    yield
    os.umask(umask)


@pytest.fixture
def bed(tmp_path: Path, same_process: None) -> Iterator[FuzzBed]:
    with contextlib.closing(FuzzBed(tmp_path, recorded_payloads())) as bed:
        yield bed


def test_a_hundred_attacks_on_hooks(bed: FuzzBed) -> None:
    faults, kept = [], 0
    for seed in range(100):
        case, _, broken = bed.check(seed)
        kept += not case.loses
        faults += [f"seed {seed}: {fault}" for fault in broken]
    assert faults == []
    assert kept > 50
    assert bed.processes() == []


def test_the_verdict_sees_what_is_wrong(bed: FuzzBed) -> None:
    """Each promise that a hook could break is one that the attack would notice."""
    from dataclasses import replace

    seed = next(n for n in range(100) if not (bed.check(n)[0].loses))
    case, outcome, broken = bed.check(seed)
    assert broken == []
    for bad, words in (
        (replace(outcome, code=2), "exit status 2"),
        (replace(outcome, stderr=b"Traceback"), "stderr"),
        (replace(outcome, stdout=b"{} {}"), "stdout"),
        (replace(outcome, stdout=b"[]"), "stdout"),
        (replace(outcome, stdout=b'{"decision": "block"}'), "stdout"),
        (replace(outcome, seconds=99.0), "took 99.00 s"),
    ):
        assert words in " ".join(verdict(bed, case, bad))
    (journal,) = (bed.state / "journal").glob("*.jsonl")
    journal.chmod(0o644)
    assert "644" in " ".join(verdict(bed, case, outcome))
    draft = bed.state / ".request-1"
    draft.touch()
    assert "left behind" in " ".join(verdict(bed, case, outcome))
    draft.unlink()
    journal.write_bytes(journal.read_bytes()[:-9])
    assert "torn" in " ".join(verdict(bed, case, outcome))
    journal.write_bytes(b"")
    assert "0 records" in " ".join(verdict(bed, case, outcome))


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="asks Linux for processes")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_workers_of_a_killed_attack_clean_up_and_end(tmp_path: Path, number: int) -> None:
    script = CHECKOUT / "scripts" / "fuzz_hooks"
    # a shell's background jobs ignore it, and so would what they start
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    attack = subprocess.Popen(
        [sys.executable, script, "--runs", "100000", "--workers", "2"],
        env={**os.environ, "TMPDIR": str(tmp_path)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    signal.signal(signal.SIGINT, before)
    try:
        wait_until(lambda: len(list(tmp_path.glob("fuzz-hooks-*/home"))) == 2)
        assert len(processes_with(f"TMPDIR={tmp_path}")) > 2
        attack.send_signal(number)
        attack.wait(60)
    finally:
        attack.kill()
        attack.wait()
    wait_until(lambda: processes_with(f"TMPDIR={tmp_path}") == [])
    assert list(tmp_path.iterdir()) == []
    assert str(tmp_path) not in Path("/proc/self/mounts").read_text()


def test_a_small_disk_that_a_killed_run_left_is_taken_away_by_the_next(tmp_path: Path) -> None:
    left, mine = tmp_path / "left", tmp_path / "mine"
    left.mkdir()
    mine.mkdir()
    script = (
        "import sys, pathlib, small_disks\n"
        "sys.exit(not small_disks.mount_small(pathlib.Path(sys.argv[1]), 'size=64k'))\n"
    )
    environ = {**os.environ, "PYTHONPATH": str(CHECKOUT / "tests" / "support")}
    done = subprocess.run([sys.executable, "-c", script, left], env=environ, check=False)
    if done.returncode:
        pytest.skip("no leave to mount a small tmpfs")
    assert left in left_behind()
    assert mount_small(mine, "size=64k")
    try:
        assert (left.is_mount(), mine.is_mount()) == (False, True)
    finally:
        unmount_small(mine)


def processes_with(variable: str) -> list[int]:
    found = []
    for path in Path("/proc").glob("[0-9]*/environ"):
        with contextlib.suppress(OSError):
            if variable.encode() in path.read_bytes().split(b"\0"):
                found.append(int(path.parent.name))
    return found


def wait_until(condition: Callable[[], bool]) -> None:
    deadline = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


@pytest.mark.parametrize("kind", crash_beds.BEDS, ids=lambda kind: kind.name)
def test_kills_lose_nothing(kind: Any, tmp_path: Path, same_process: None) -> None:
    assert crash_beds.strike_out(kind(tmp_path), 6, seed=7) > 0


def test_sessions_at_once_lose_nothing(tmp_path: Path) -> None:
    busy, _ = run_busy(tmp_path, sessions=3, events=13)
    assert busy.tally.faults == []
    assert busy.tally.events == 39
    assert busy.tally.saves > 3
    assert list((busy.hooks.state / "jobs" / "closed").glob("*.json"))


def test_the_verdict_on_sessions_at_once_sees_what_is_wrong(tmp_path: Path) -> None:
    """Each loss that sessions at once could bring is one that their check would notice."""
    sessions = {"one": 2}
    busy = BusyProject(tmp_path)
    for name, events in sessions.items():
        busy.session(name, events, seed=0)
    busy.cli("remember", "run make currency before currency.py")
    busy.check(sessions, settle_seconds=60)
    assert busy.tally.faults == []

    state, notes = busy.hooks.state, busy.notes.read_bytes()
    child = subprocess.Popen(["sleep", "60"], env=busy.environ())
    (state / "journal" / "one.jsonl").write_bytes(b"")
    (state / "jobs" / "x.sl-draft").touch()
    (state / "requests" / "1-1").write_text("reason=manual\nsession=one\nproject=/nowhere\n")
    (state / "review.log").write_text("a fault\n")
    (skill,) = (state / "skills").glob("*/SKILL.md")
    skill.write_text("cut")
    busy.notes.write_bytes(notes.replace(b"skill-learner:end", b"end"))
    busy.remembered.append("thing")
    busy.tally.saves += 1
    try:
        busy.check(sessions, settle_seconds=0)
    finally:
        child.kill()
        child.wait()
    told = " ".join(busy.tally.faults)
    for words in (
        f"processes left: [{child.pid}]", "0 of 2 events", "1 of 1 saved lines lost", "review.log",
        "does not end in its bytes", "remembered and gone", "left open", "left behind",
        "no whole block",
    ):  # fmt: skip
        assert words in told, words
