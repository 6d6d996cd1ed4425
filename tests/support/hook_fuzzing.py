"""Runs registered hook lines under whatever the world may do to them, and says what broke.

One case is a seed: the same seed gives the same payload, environment and damage. What must hold is
in `verdict`: exit status 0, silence on stderr, nothing or one JSON object on stdout, an end in
time, at most one line in the log, and the event in the journal wherever it could be written.
"""

from __future__ import annotations

import contextlib
import functools
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from hook_cases import OLD, OLD_LOG, TORN, Case, Place, make_case, recorded_payloads
from small_disks import mount_small, unmount_small

from skill_learner.hook_runtime.launcher import render_hook_sh
from skill_learner.hook_runtime.project_key import safe_name
from skill_learner.journal import read_journal
from skill_learner.project import project_key
from skill_learner.targets import TARGETS, get_target

CHECKOUT = Path(__file__).resolve().parents[2]
IN_TIME = 2.0
"""Seconds, waiting for input included, on a machine that does what it is asked."""
STARTS = 5
"""What a call may take beyond that, in starts of a Python that does nothing, made beside it at the
same time: what a busy machine makes of a call is not the call's."""
TRIES = 3
"""A call that is late each time is late by itself, and not because the machine was busy."""
_READING = 1.4
_READS_ON = 15.0
_MARK = "SKILL_LEARNER_TEST_RUN"
_PREFIX = """import sys
sys.executable = "/bin/true"  # the review that a hook starts is no part of this
try:
    import posix
    if b"NO_FORK" in posix.environ:
        def no_fork():
            raise BlockingIOError(11, "Resource temporarily unavailable")
        posix.fork = no_fork
except ImportError:
    pass
"""
_PRINTING = {"sessionstart", "userpromptsubmit", "beforesubmitprompt", "posttoolusefailure"}
_PARTS = {
    "hook.sh", "hook.conf", "hook.log", "code", "journal", "tally", "requests", "marks", "news",
    "published",
}  # fmt: skip


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    reference: float = 0.0
    """Seconds that a Python took that was started at the same time and does nothing."""


class FuzzBed:
    """A home folder that is made anew for each case."""

    def __init__(self, root: Path, payloads: dict[str, list[bytes]]) -> None:
        self.root = root
        os.umask(0o077)  # what is open to others below was made so by a hook
        self.home = root / "home"
        self.state = self.home / ".skill_learner"
        self.project = root / "project"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        entry = (CHECKOUT / "hooks" / "entry.py").read_text(encoding="utf-8")
        self.entry = root / "entry.py"
        self.entry.write_text(_PREFIX + entry)
        self.code = root / "code"
        self.run_id = f"run-{os.getpid()}-{time.time_ns()}"
        key = project_key(self.project)
        self.place = Place(self.home, self.state, key, _small_disk(root), payloads)
        try:
            self._fresh()
            for target in TARGETS:
                self.run(Case(0, target, get_target(target).EVENTS[0], b"{}"))
            shutil.copytree(self.state / "code", self.code)
        except BaseException:  # Ctrl-C among them
            self.close()
            raise

    def close(self) -> None:
        """Also in the middle of a call, which would go on writing where all is to be removed."""
        while left := self.processes():
            for process in left:
                with contextlib.suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.01)
        if self.place.small is not None:
            unmount_small(self.place.small)
        _open_up(self.home)

    def states(self) -> list[Path]:
        small = self.place.small
        return [self.state, *([small / "state"] if small is not None else [])]

    def _fresh(self) -> None:
        _open_up(self.home)
        shutil.rmtree(self.home, ignore_errors=True)
        for path in self.place.small.iterdir() if self.place.small is not None else ():
            shutil.rmtree(path) if path.is_dir() else path.unlink()
        self.state.mkdir(parents=True, mode=0o700)
        script = render_hook_sh(Path(sys.executable), self.entry, self.state, CHECKOUT)
        (self.state / "hook.sh").write_bytes(script)
        if self.code.exists():
            shutil.copytree(self.code, self.state / "code")

    def check(self, seed: int) -> tuple[Case, Outcome, list[str]]:
        """Run the case of a seed; the faults found."""
        for _ in range(TRIES):
            self._fresh()
            case = make_case(self.place, seed)
            outcome = self.run(case)
            if not late(case, outcome):
                break
        return case, outcome, verdict(self, case, outcome)

    def run(self, case: Case) -> Outcome:
        line = get_target(case.target).settings_entry(case.event)
        command = line["hooks"][0]["command"] if "hooks" in line else line["command"]
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project),
            _MARK: self.run_id,
            **case.environ,
        }
        environ = {key: value for key, value in environ.items() if value != "<unset>"}
        shell = f'{_preparation(case)} exec /bin/sh -c "$1"{_closing(case)}'
        reference = _Reference()
        began = time.monotonic()
        process = subprocess.Popen(
            [*_without_privileges(), "/bin/sh", "-c", shell, "sh", command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=environ,
            cwd=self.project,
            start_new_session=True,
        )
        feeder = threading.Thread(target=_feed, args=(process, case), daemon=True)
        feeder.start()
        stdout, stderr = _read_all(process)
        code = process.wait()
        seconds = time.monotonic() - began
        feeder.join(5)
        if seconds > _READING:
            self._let_readers_end()
        return Outcome(code, stdout, stderr, seconds, reference.seconds())

    def _let_readers_end(self) -> None:
        """On a busy machine a process that nobody waits for reads what came too late."""
        deadline = time.monotonic() + _READS_ON
        while self.processes() and time.monotonic() < deadline:
            time.sleep(0.05)

    def processes(self) -> list[int]:
        """Processes of this bed that still live (Linux)."""
        mark = f"{_MARK}={self.run_id}".encode()
        found = []
        for path in Path("/proc").glob("[0-9]*/environ"):
            with contextlib.suppress(OSError):
                if mark in path.read_bytes().split(b"\0"):
                    found.append(int(path.parent.name))
        return found


class _Reference:
    """A Python that does nothing, started at this moment, and how long it takes."""

    def __init__(self) -> None:
        began = time.monotonic()
        process = subprocess.Popen([sys.executable, "-c", "pass"])
        self._took = 0.0

        def wait() -> None:
            process.wait()
            self._took = time.monotonic() - began

        self._waiter = threading.Thread(target=wait, daemon=True)
        self._waiter.start()

    def seconds(self) -> float:
        self._waiter.join()
        return self._took


def late(case: Case, outcome: Outcome) -> bool:
    return outcome.seconds > IN_TIME + STARTS * outcome.reference + len(case.payload) / 4e7


__all__ = ["Case", "FuzzBed", "Outcome", "recorded_payloads", "verdict"]


# -- running it ----------------------------------------------------------------------------------


@functools.cache
def _without_privileges() -> list[str]:
    """Words before a command by which permission bits bind root too (Linux)."""
    words = ["setpriv", "--bounding-set", "-all", "--inh-caps", "-all", "--"]
    if os.geteuid() or shutil.which("setpriv") is None:
        return []
    able = subprocess.run([*words, "true"], capture_output=True, check=False).returncode == 0
    return words if able else []


def _small_disk(root: Path) -> Path | None:
    """A file system that is soon full, where we may have one."""
    disk = root / "small"
    disk.mkdir()
    return disk if mount_small(disk, "size=128k,mode=700") else None


def _preparation(case: Case) -> str:
    """What a shell does before it becomes the one that the editor starts."""
    gone = "mkdir gone; cd gone; rmdir ../gone;" if case.folder_gone else ""
    limits = (f"ulimit -S {limit};" for limit in case.limits)
    return "".join([gone, f"umask {case.umask:o};", *limits])


def _closing(case: Case) -> str:
    return "".join(f" {number}>&-" for number in case.closed)


def _feed(process: subprocess.Popen[bytes], case: Case) -> None:
    assert process.stdin is not None
    data = case.payload
    with contextlib.suppress(OSError, ValueError):
        if case.stdin == "slow":
            for start in range(0, len(data), max(1, len(data) // 3)):
                process.stdin.write(data[start : start + max(1, len(data) // 3)])
                process.stdin.flush()
                time.sleep(0.1)
        elif case.stdin in ("halved", "endless"):
            process.stdin.write(data[: len(data) // 2])
            process.stdin.flush()
            deadline = time.monotonic() + 20
            while process.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
        elif case.stdin == "dripping":
            for byte in data[:200]:
                process.stdin.write(bytes((byte,)))
                process.stdin.flush()
                time.sleep(0.05)
        elif case.stdin == "whole":
            process.stdin.write(data)
    with contextlib.suppress(OSError, ValueError, subprocess.TimeoutExpired):
        process.stdin.close()


def _read_all(process: subprocess.Popen[bytes]) -> tuple[bytes, bytes]:
    assert process.stdout is not None
    assert process.stderr is not None
    watch = threading.Timer(30, lambda: os.killpg(process.pid, signal.SIGKILL))
    watch.start()
    with process.stdout, process.stderr:
        stdout, stderr = process.stdout.read(), process.stderr.read()
    watch.cancel()
    return stdout, stderr


def _open_up(folder: Path) -> None:
    if folder.exists():
        parts = ("", "journal", "tally", "requests", "code")
        for path in (folder, *(folder / ".skill_learner" / part for part in parts)):
            with contextlib.suppress(OSError):
                path.chmod(0o700)


# -- what must hold ------------------------------------------------------------------------------


def verdict(bed: FuzzBed, case: Case, outcome: Outcome) -> list[str]:
    faults = []
    if outcome.code != 0:
        faults.append(f"exit status {outcome.code}")
    if outcome.stderr and not (case.folder_gone and _is_the_shells(outcome.stderr)):
        faults.append(f"stderr: {outcome.stderr[:200]!r}")
    if outcome.stdout and not _may_print(case, outcome.stdout):
        faults.append(f"stdout: {outcome.stdout[:200]!r}")
    if late(case, outcome):
        faults.append(f"took {outcome.seconds:.2f} s")
    open_to_others = _open_to_others(bed)
    _open_up(bed.home)
    faults += _log_faults(bed, case)
    outside = bed.home / "outside"
    if outside.exists() and outside.read_text() != "mine":
        faults.append("a link out of the state folder was followed")
    faults += _torn(bed) + _litter(bed, case)
    if not case.loses:
        faults += _lost(bed, case)
    return faults + open_to_others


def _is_the_shells(stderr: bytes) -> bool:
    """dash itself complains when it starts in a folder that is gone."""
    return all(b": getcwd() failed" in line for line in stderr.splitlines())


def _may_print(case: Case, data: bytes) -> bool:
    """One JSON object of the keys that the editor knows, by a hook that has something to say."""
    target = get_target(case.target)
    known: set[str] = set()
    for reply in (target.start_reply("x", True), target.context_reply("UserPromptSubmit", "x")):
        known |= set(json.loads(reply or b"{}"))
    try:
        value = json.loads(data)
    except ValueError:
        return False
    return isinstance(value, dict) and set(value) <= known and case.event.lower() in _PRINTING


def _torn(bed: FuzzBed) -> list[str]:
    """Nothing half-written, whatever went wrong; what was so before stays."""
    return [
        f"torn in {path.name}: {line[:40]!r}…{line[-40:]!r}"
        for state in bed.states()
        for path in ((state / "journal").glob("*.jsonl") if state.is_dir() else ())
        if not path.is_symlink() and path.stem != "old"
        for line in path.read_bytes().split(b"\n")[1:]
        if not (line.startswith(b'{"v":1,') and line.endswith(b"}")) and line != TORN
    ]


def _litter(bed: FuzzBed, case: Case) -> list[str]:
    """Nothing in the state folder that nobody knows."""
    names = [p.name for s in bed.states() if s.is_dir() for p in s.iterdir()]
    drafts = [p.name for s in bed.states() for p in (s / "code").glob("*.*")]
    unknown = [name for name in [*names, *drafts] if name not in _PARTS]
    return [f"left behind: {unknown}"] if unknown else []


def _log_faults(bed: FuzzBed, case: Case) -> list[str]:
    state = bed.states()[1 if case.on_small else 0]
    log = state / "hook.log"
    if not log.is_file():
        return []
    data = log.read_bytes()
    size, lines = len(data), data.count(b"\n")
    if case.damage == "log_is_huge":
        return [] if size < 66_000 or data == OLD_LOG else [f"the log grew to {size}"]
    return [f"{lines} lines in the log"] if lines > 1 else []


def _lost(bed: FuzzBed, case: Case) -> list[str]:
    """Exactly one new record, whose payload is what was sent."""
    journals = (bed.state / "journal").glob("*.jsonl") if bed.state.is_dir() else ()
    records = [
        (path.stem, record)
        for path in journals
        for record in read_journal(path).records
        if record.at != OLD
    ]
    if case.payload.count(b"[") > 1_000 and not records:  # deeper than Python's parser goes
        return [] if _any_line(bed, b'"deep":[[[') else ["the deep event is lost"]
    if len(records) != 1:
        log = (bed.state / "hook.log").read_text() if (bed.state / "hook.log").is_file() else ""
        return [f"{len(records)} records; log: {log!r}"]
    name, record = records[0]
    faults = []
    if case.damage == "worked_before" and name in ("0f2c", "unknown"):
        asks = record.event == "SessionEnd" and b"resume" not in case.payload
        if asks and not list((bed.state / "requests").glob("*")):
            faults.append("the session's end asked for no review")
    sent = _parsed(case.payload)
    if not isinstance(sent, dict) or b"<private>" in case.payload or "API_KEY" in case.environ:
        return faults
    if record.cut:
        capped = len(case.payload) > 4_000_000 or "SKILL_LEARNER_PAYLOAD_CAP" in case.environ
        return faults if capped else [*faults, "cut below the cap"]
    told = _raw_payload(bed.state / "journal" / f"{name}.jsonl")
    faults += [] if _same(told, sent) else [f"payload changed in {name}"]
    session = sent.get("session_id")
    if case.target == "claude-code" and isinstance(session, str) and session and _unique(case):
        expected = safe_name(session.encode("utf-8", "replace")).decode()
        short = len(session) < 4_000  # the hook decodes no longer ones
        if short and name != expected and "cursor_version" not in sent and "\ufffd" not in session:
            faults.append(f"journal {name} for session {session[:80]!r}")
    return faults


def _raw_payload(journal: Path) -> Any:
    for line in journal.read_bytes().split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            record = json.loads(line)
            if record["t"] != OLD:
                return record["d"]
    return None


def _unique(case: Case) -> bool:
    """Whether the payload names the session only once, so that every reader agrees on it."""
    once = case.payload.count(b'"session_id"') == 1 and b'\\"session_id\\"' not in case.payload
    return once and b"\\u" not in case.payload[:9000]


def _any_line(bed: FuzzBed, text: bytes) -> bool:
    return any(text in path.read_bytes() for path in (bed.state / "journal").glob("*.jsonl"))


def _same(told: Any, sent: Any) -> bool:
    """By hand: newer Pythons parse what is nested more deeply than a function may call itself."""
    pairs = [(told, sent)]
    while pairs:
        one, other = pairs.pop()
        if isinstance(one, dict) and isinstance(other, dict):
            keys = one.keys() - {"user_email"}
            if keys != other.keys() - {"user_email"}:
                return False
            pairs += [(one[key], other[key]) for key in keys]
        elif isinstance(one, list) and isinstance(other, list):
            if len(one) != len(other):
                return False
            pairs += zip(one, other, strict=True)
        elif one != other:
            return False
    return True


def _parsed(payload: bytes) -> Any:
    try:
        return json.loads(payload.decode("utf-8").lstrip("\ufeff"))
    except (ValueError, RecursionError):
        return None


def _open_to_others(bed: FuzzBed) -> list[str]:
    """Whatever the umask was, what hooks wrote is the user's alone."""
    return [
        f"{path} is {path.stat().st_mode & 0o777:o}"
        for folder in ("journal", "tally", "requests", "code")
        for path in ((bed.state / folder).glob("*") if (bed.state / folder).is_dir() else ())
        if not path.is_symlink() and path.stat().st_mode & 0o077
    ]
