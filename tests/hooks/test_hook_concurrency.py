"""Many hooks at once, and hooks killed at any moment."""

from __future__ import annotations

import json
import random
import threading
import time
from typing import Any

import pytest

pytestmark = pytest.mark.process
BIG = 6_000_000


def run_together(hooks: Any, jobs: list[tuple[str, bytes]]) -> None:
    """One thread per hook, as a client has one task per hook; all are let go at the same moment."""
    faults: list[BaseException] = []
    gate = threading.Barrier(len(jobs))

    def one(event: str, payload: bytes) -> None:
        try:
            gate.wait(60)
            process = hooks.popen(event)
            out, err = process.communicate(payload, timeout=120)
            assert (process.returncode, out, err) == (0, b"", b"")
        except BaseException as fault:
            faults.append(fault)

    threads = [threading.Thread(target=one, args=job) for job in jobs]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert faults == []


def test_two_hundred_at_once_on_one_session(hooks: Any) -> None:
    jobs = []
    for number in range(200):
        text = "y" * BIG if number % 10 == 0 else "small"
        jobs.append(("PostToolUse", hooks.payload("PostToolUse", n=number, text=text)))
    run_together(hooks, jobs)
    records = hooks.records()
    assert sorted(record["d"]["n"] for record in records) == list(range(200))
    assert sum(len(record["d"]["text"]) == BIG for record in records) == 20
    assert hooks.tally() == 200
    assert hooks.log() == ""


def test_fifty_sessions_at_once(hooks: Any) -> None:
    jobs = []
    for number in range(50):
        for event in ("UserPromptSubmit", "PostToolUse"):
            payload = {"session_id": f"s{number}", "prompt": "p", "n": number}
            jobs.append((event, json.dumps(payload).encode()))
    run_together(hooks, jobs)
    for number in range(50):
        events = {record["e"] for record in hooks.records(f"s{number}")}
        assert events == {"UserPromptSubmit", "PostToolUse"}
    assert hooks.tally() == 100


def test_a_kill_costs_at_most_the_event_in_flight(hooks: Any) -> None:
    dice = random.Random(7)
    hooks.run("PostToolUse", hooks.payload("PostToolUse", n=-1))
    survived = {-1}
    killed = 0
    for number in range(60):
        text = "z" * (2_000_000 if number % 4 == 0 else 200)
        process = hooks.popen("PostToolUse")
        payload = hooks.payload("PostToolUse", n=number, text=text)
        if number % 2:
            process.communicate(payload, timeout=60)
            survived.add(number)
            continue
        feeder = threading.Thread(target=_write, args=(process.stdin, payload))
        feeder.start()
        time.sleep(dice.uniform(0.0, 0.03))
        process.kill()
        process.wait()
        feeder.join()
        killed += 1
        for stream in (process.stdout, process.stderr):
            stream.close()
    journal = hooks.state / "journal" / "11111111-2222-3333-4444-555555555555.jsonl"
    whole, torn = set(), 0
    for line in journal.read_bytes().split(b"\n")[1:]:
        try:
            whole.add(json.loads(line)["d"]["n"])
        except ValueError:
            torn += 1
    assert survived <= whole
    assert torn <= killed
    assert len(whole) + torn <= len(survived) + killed


def _write(stream: Any, payload: bytes) -> None:
    try:
        stream.write(payload)
        stream.close()
    except OSError:
        pass
