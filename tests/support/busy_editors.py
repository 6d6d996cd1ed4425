"""Many sessions at once on one state folder, with everything else that a user does meanwhile."""

from __future__ import annotations

import contextlib
import json
import os
import random
import subprocess
import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hook_sandbox import CHECKOUT, SESSION, HookSandbox

from skill_learner.hook_runtime.launcher import render_hook_sh
from skill_learner.jobs import JobStore
from skill_learner.journal import read_journal
from skill_learner.paths import StatePaths
from skill_learner.skills.library import SkillLibrary

_MARK = "SKILL_LEARNER_TEST_RUN"
_MAY_REFUSE = {"approve", "undo"}
"""Commands on a skill that somebody may have archived, approved or changed at this moment: those
end with 4 (the library refuses) and say why. Every other command ends with 0."""


@dataclass
class Tally:
    """What was done and what came of it."""

    events: int = 0
    commands: Counter[str] = field(default_factory=Counter)
    saves: int = 0
    faults: list[str] = field(default_factory=list)
    state_growth: list[int] = field(default_factory=list)
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def fault(self, text: str) -> None:
        with self.lock:
            self.faults.append(text)


class BusyProject:
    """A project with hooks that start real reviews, with notes that the user keeps editing."""

    def __init__(self, root: Path) -> None:
        self.hooks = HookSandbox(root)
        script = render_hook_sh(
            Path(sys.executable), CHECKOUT / "hooks" / "entry.py", self.hooks.state, CHECKOUT
        )
        self.root, self.notes = root, self.hooks.project / "CLAUDE.md"
        self.notes.write_text("# Notes\n")
        self.run_id = f"run-{os.getpid()}-{time.time_ns()}"
        self.tally = Tally()
        self.remembered: list[str] = []
        self.cli("init", "--target", "claude-code", "--provider", "offline")
        (self.hooks.state / "hook.sh").write_bytes(script)

    def environ(self, **more: str) -> dict[str, str]:
        return self.hooks.environ(**{_MARK: self.run_id, "PYTHONPATH": str(CHECKOUT), **more})

    def cli(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [sys.executable, "-m", "skill_learner", *arguments],
            cwd=self.hooks.project,
            env=self.environ(),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )
        text = done.stdout + done.stderr
        if "locked" in text or "unexpected" in text or "Traceback" in text:
            self.tally.fault(f"{' '.join(arguments)}: {text[-400:]}")
        refused = done.returncode == 4 and arguments[0] in _MAY_REFUSE and done.stderr.strip()
        if done.returncode and not refused:
            self.tally.fault(f"{' '.join(arguments)}: ended with {done.returncode}: {text[-400:]}")
        self.tally.commands[f"{arguments[0]} {done.returncode}"] += 1
        return done

    # -- what goes on at once ------------------------------------------------------------------

    def session(self, name: str, events: int, seed: int) -> None:
        """One session's hooks, one after the other, as an editor runs them."""
        dice = random.Random(seed)
        for number in range(events):
            event, payload = self._event(name, number, events, dice)
            environ = self.environ(CLAUDE_CODE_SESSION_ID=name)
            line = self._line(event)
            done = subprocess.run(
                ["/bin/sh", "-c", line], input=payload, env=environ, capture_output=True,
                timeout=120, check=False,
            )  # fmt: skip
            if done.returncode or done.stderr:
                self.tally.fault(f"{event}: {done.returncode} {done.stderr[:200]!r}")
            with self.tally.lock:
                self.tally.events += 1

    @staticmethod
    def _line(event: str) -> str:
        from skill_learner.targets.claude_code import command_line

        return command_line(event)

    def _event(
        self, session: str, number: int, events: int, dice: random.Random
    ) -> tuple[str, bytes]:
        common: dict[str, Any] = {"session_id": session, "cwd": str(self.hooks.project)}
        common["mark"] = number
        more: dict[str, Any]
        if number == events - 1:
            event, more = "SessionEnd", {"reason": "other"}
        elif number % 12 == 0:
            event, more = "UserPromptSubmit", {"prompt": f"make test {number} pass"}
        elif number % 12 == 11:
            event, more = "Stop", {"stop_hook_active": False}
        else:
            call: dict[str, Any] = {"tool_name": "Bash", "tool_use_id": f"toolu_{session}_{number}"}
            test = f"pytest tests/test_{session}.py"
            call["tool_input"] = {"command": test if number % 4 else f"ls dir{number}"}
            error = f"Exit code 1\nFAILED tests/test_{session}.py - ValueError: no currency code"
            if number % 12 == 1:
                event, more = "PostToolUseFailure", {**call, "error": error}
            else:
                text = "1 passed in 0.1s" + "x" * dice.choice((0, 100, 9_000))
                event, more = "PostToolUse", {**call, "tool_response": {"stdout": text}}
        return event, json.dumps({**common, "hook_event_name": event, **more}).encode()

    def user_commands(self, stop: threading.Event, seed: int) -> None:
        """What a user does in one of two terminals."""
        dice = random.Random(seed)
        export = self.root / f"export{seed}.json"
        for number in range(1_000_000):
            if stop.is_set():
                return
            word = f"thing{seed}x{number}"
            if self.cli("remember", f"run make {word} before {word}.py").returncode == 0:
                self.remembered.append(word)
            self.cli("list", "--all", "--json")
            self.cli("export", "--output", str(export)) if number == 0 else None
            if export.exists():
                self.cli("import", str(export))
            names = self._names()
            if names:
                self.cli("approve", dice.choice(names))
                self.cli("undo", dice.choice(names))
            self.cli("status", "--json")

    def _names(self) -> list[str]:
        done = self.cli("list", "--all", "--json")
        with contextlib.suppress(ValueError, KeyError, TypeError):
            return [row["name"] for row in json.loads(done.stdout)]
        return []

    def user_saves(self, stop: threading.Event) -> None:
        """An editor that opens the notes, adds a line and saves, in place or by rename."""
        while not stop.is_set():
            for number in range(2):
                text = self.notes.read_bytes()
                text += f"mine {self.tally.saves}\n".encode()
                if number:
                    draft = self.notes.with_suffix(".tmp")
                    draft.write_bytes(text)
                    os.replace(draft, self.notes)
                else:
                    self.notes.write_bytes(text)
                self.tally.saves += 1
                time.sleep(0.05)

    # -- what must be true at the end ----------------------------------------------------------

    def check(self, sessions: dict[str, int], settle_seconds: float) -> None:
        left = self.settle(settle_seconds)
        if left:
            self.tally.fault(f"processes left: {left}")
        for name, events in sessions.items():
            journal = self.hooks.state / "journal" / f"{name}.jsonl"
            reading = read_journal(journal)
            marks = [(record.payload or {}).get("mark") for record in reading.records]
            if marks != list(range(events)) or reading.damaged:
                missing = set(range(events)) - set(marks)
                self.tally.fault(f"{name}: {len(marks)} of {events} events, missing {missing}")
        lines = self.notes.read_text().splitlines()
        lost = [n for n in range(self.tally.saves) if lines.count(f"mine {n}") != 1]
        if lost:
            self.tally.fault(f"{len(lost)} of {self.tally.saves} saved lines lost: {lost[:9]}")
        for name in ("hook.log", "review.log"):
            log = self.hooks.state / name
            if log.exists():
                self.tally.fault(f"{name}: {log.read_text()[:400]}")
        self._check_library()

    def _check_library(self) -> None:
        """No skill is damaged, each history ends in its skill's bytes, and nothing is left open."""
        library = SkillLibrary(self.hooks.state / "skills")
        for problem in library.problems():
            self.tally.fault(f"library: {problem.message}")
        for skill in library.list(("active", "candidate", "archived")):
            if library.history(skill.name)[-1].after != skill.content_hash:
                self.tally.fault(f"{skill.name}: its history does not end in its bytes")
        bodies = "".join(skill.body for skill in library.list(("active", "candidate", "archived")))
        lost = [word for word in self.remembered if word not in bodies]
        if lost:
            self.tally.fault(f"remembered and gone: {lost}")
        waiting = JobStore(StatePaths(self.hooks.state)).open()
        if waiting or any((self.hooks.state / "requests").glob("*")):
            self.tally.fault(f"left open: {waiting}")
        drafts = list(self.root.rglob("*.sl-draft"))
        if drafts:
            self.tally.fault(f"left behind: {drafts}")
        block = self.notes.read_text().partition("skill-learner:begin -->")[2]
        if block.count("skill-learner:end -->") != 1 or "skill-learner:begin" in block:
            self.tally.fault("the notes hold no whole block of ours, or several")

    def processes(self) -> list[int]:
        """Processes of this run that still live (Linux)."""
        found = []
        mark = f"{_MARK}={self.run_id}".encode()
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found

    def settle(self, seconds: float) -> list[int]:
        """Wait until the last review has ended; what is left then."""
        deadline = time.monotonic() + seconds
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.2)
        return self.processes()


def run_busy(root: Path, sessions: int, events: int, seed: int = 0) -> tuple[BusyProject, float]:
    """All of it at once; the project with its tally, and the seconds it took."""
    busy = BusyProject(root)
    stop = threading.Event()
    named = {f"{SESSION[:-4]}{number:04d}": events for number in range(sessions)}
    editors = [
        threading.Thread(target=_guarded(busy, busy.session), args=(name, events, seed + number))
        for number, name in enumerate(named)
    ]
    others = [
        threading.Thread(target=_guarded(busy, busy.user_commands), args=(stop, seed)),
        threading.Thread(target=_guarded(busy, busy.user_commands), args=(stop, seed + 1)),
        threading.Thread(target=_guarded(busy, busy.user_saves), args=(stop,)),
    ]
    began = time.monotonic()
    for thread in (*editors, *others):
        thread.start()
    for thread in editors:
        thread.join()
    seconds = time.monotonic() - began
    stop.set()
    for thread in others:
        thread.join()
    busy.check(named, settle_seconds=180)
    return busy, seconds


def _guarded(busy: BusyProject, work: Callable[..., None]) -> Callable[..., None]:
    def run(*arguments: Any) -> None:
        try:
            work(*arguments)
        except Exception as fault:
            busy.tally.fault(f"{type(fault).__name__}: {fault}")

    return run


def resources_over_time(samples: int, work: Callable[[], None]) -> Iterator[tuple[int, int]]:
    """(resident kB, open descriptors) of this process after each piece of work (Linux)."""
    for _ in range(samples):
        work()
        status = Path("/proc/self/status").read_text()
        resident = next(line for line in status.splitlines() if line.startswith("VmRSS"))
        yield int(resident.split()[1]), len(os.listdir("/proc/self/fd"))
