from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

import pytest

from skill_learner import child_process
from skill_learner.pipeline.review_log import log_fault
from skill_learner.pipeline.watchdog import Watchdog


def test_it_says_so_and_then_ends_the_process() -> None:
    order: list[str] = []
    ended = threading.Event()

    def end() -> None:
        order.append("ended")
        ended.set()

    with Watchdog(0.01, lambda: order.append("told"), end):
        assert ended.wait(5)
    assert order == ["told", "ended"]


def test_a_fault_in_telling_does_not_save_the_process() -> None:
    ended = threading.Event()

    def fail() -> None:
        raise OSError("disk full")

    with Watchdog(0.01, fail, ended.set):
        assert ended.wait(5)


def test_a_job_in_time_is_left_alone() -> None:
    ended = threading.Event()
    with Watchdog(0.2, lambda: None, ended.set):
        pass
    assert not ended.wait(0.4)


@pytest.mark.process
def test_every_program_that_runs_can_be_ended(tmp_path: Path) -> None:
    outcome: list[int] = []

    def run() -> None:
        sleep = [sys.executable, "-c", "import time; time.sleep(60)"]
        finished = child_process.run(sleep, stdin="", timeout=60, env=os.environ, cwd=tmp_path)
        outcome.append(finished.code)

    thread = threading.Thread(target=run)
    thread.start()
    while thread.is_alive():
        child_process.kill_all()
        time.sleep(0.02)
    assert outcome == [-9]


@pytest.mark.process
def test_children_left_behind_end_with_the_program(tmp_path: Path) -> None:
    code = (
        "import subprocess, sys\n"
        "child = subprocess.Popen(['sleep', '60'], stdout=subprocess.DEVNULL,"
        " stderr=subprocess.DEVNULL)\n"
        "print(child.pid)"
    )
    finished = child_process.run(
        [sys.executable, "-c", code], stdin="", timeout=30, env=os.environ, cwd=tmp_path
    )
    place = Path(f"/proc/{int(finished.stdout)}/stat")
    deadline = time.monotonic() + 5
    while place.exists() and place.read_text().rsplit(")", 1)[1].split()[0] != "Z":
        assert time.monotonic() < deadline
        time.sleep(0.02)


def test_the_log_has_one_line_for_each_fault_and_a_cap(tmp_path: Path) -> None:
    log = tmp_path / "state" / "review.log"
    log_fault(log, "first\nwith a second line")
    assert len(log.read_text().splitlines()) == 1
    for number in range(300):
        log_fault(log, f"fault {number} " + "x" * 2_000)
    assert log.stat().st_size < 260 * 1024
    assert "fault 299 " in log.read_text()
    assert "first with" not in log.read_text()
