"""One clock for a whole hook call: each wait gets what those before it have left."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from skill_learner.hook_runtime import deadline, state_folder, windows_stdin


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[float]]:
    """The time of day of a call that began at 100."""
    now = [100.0]
    monkeypatch.setattr(deadline, "_began", deadline._began)
    handler = signal.getsignal(signal.SIGALRM)
    with monkeypatch.context() as patch:
        patch.setattr(deadline.time, "monotonic", lambda: now[0])
        deadline.begin()
        yield now
    signal.setitimer(signal.ITIMER_REAL, 0)
    signal.signal(signal.SIGALRM, handler)


def test_a_wait_gets_what_is_left(clock: list[float]) -> None:
    assert deadline.left(1.0) == 1.0
    assert deadline.left(1.5, deadline.READING) == 1.5
    clock[0] += 1.5
    assert deadline.left(1.0) == pytest.approx(deadline.WHOLE - 1.5)
    clock[0] += 60
    assert 0 < deadline.left(1.0) < 0.01


def test_without_a_call_a_wait_is_as_long_as_it_is(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(deadline, "_began", float("inf"))
    assert deadline.left(1.0) == 1.0


def test_a_lock_is_waited_for_no_longer_than_the_call_may_last(
    clock: list[float], tmp_path: Path
) -> None:
    """Twins wait for two locks; each had a second of its own."""
    path = tmp_path / "lock"
    ready, told = os.pipe()
    holder = os.fork()
    if not holder:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT)
        os.lockf(descriptor, os.F_LOCK, 0)
        os.write(told, b"x")
        signal.pause()
    try:
        os.read(ready, 1)
        descriptor = os.open(path, os.O_RDWR)
        clock[0] += 60
        waits: list[float] = []
        set_timer = state_folder._signal.setitimer

        def timer(which: int, seconds: float, again: float = 0.0) -> object:
            waits.append(seconds)
            return set_timer(which, seconds, again)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(state_folder._signal, "setitimer", timer)
            assert not state_folder.take_lock(descriptor)
        assert max(waits) < 0.01
        os.close(descriptor)
    finally:
        os.kill(holder, signal.SIGKILL)
        os.waitpid(holder, 0)


def test_what_is_not_done_in_time_is_given_up(clock: list[float]) -> None:
    clock[0] += 60
    with pytest.raises(deadline.OutOfTime):
        _wait_as_one_who_passes_over_faults()
    deadline.stay()


def _wait_as_one_who_passes_over_faults() -> None:
    with contextlib.suppress(Exception):
        deadline.give_up_in_time()
        time.sleep(10)


def test_windows_reads_for_its_time_whatever_comes() -> None:
    def forever(_size: int) -> bytes:
        time.sleep(0.001)
        return b"x" * 5000

    data = windows_stdin.read_for(0.01, forever, most=5_000_000)
    assert data == b"x" * len(data)
    assert len(data) < 1_000_000
