"""Runs registered hook lines under whatever the world may do to them, and says what broke.

One case is a seed: the same seed gives the same payload, environment and damage. What must hold is
in `verdict`: exit status 0, silence on stderr, nothing or one JSON object on stdout, an end in
time, at most one line in the log, and the event in the journal wherever it could be written.
"""

from __future__ import annotations

import contextlib
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_learner.hook_runtime.launcher import render_hook_sh
from skill_learner.hook_runtime.project_key import safe_name
from skill_learner.journal import read_journal
from skill_learner.targets import TARGETS, get_target

CHECKOUT = Path(__file__).resolve().parents[2]
IN_TIME = 2.0
OLD = 5.0
"""The time of records that were there before the hook ran."""
SILENCE = 1.5
"""Seconds that a hook waits for input that does not come."""
IDLE_CPU = 0.6
"""CPU seconds above which a late hook is slow itself; below it the machine was busy."""


@dataclass
class Case:
    """One hook call. loses: why the event need not be in the journal, "" when it must be."""

    seed: int
    target: str
    event: str
    payload: bytes
    stdin: str = "whole"
    environ: dict[str, str] = field(default_factory=dict)
    loses: str = ""
    closed: tuple[int, ...] = ()
    limits: list[str] = field(default_factory=list)
    umask: int = 0o022
    damage: str = "none"


@dataclass(frozen=True)
class Outcome:
    code: int
    stdout: bytes
    stderr: bytes
    seconds: float
    cpu: float


class FuzzBed:
    """A home folder that is made anew for each case."""

    def __init__(self, root: Path, payloads: dict[str, list[bytes]]) -> None:
        self.root = root
        os.umask(0o077)  # what is open to others below was made so by a hook
        self.payloads = payloads
        self.home = root / "home"
        self.state = self.home / ".skill_learner"
        self.project = root / "project"
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        entry = (CHECKOUT / "hooks" / "entry.py").read_text(encoding="utf-8")
        self.entry = root / "entry.py"
        # the review that a hook starts is no part of this
        self.entry.write_text(f"import sys\nsys.executable = '/bin/true'\n{entry}")
        self.code = root / "code"
        self._fresh()
        self.run(Case(0, "claude-code", "PostToolUse", b"{}"))
        self.run(Case(0, "cursor", "stop", b"{}"))
        shutil.copytree(self.state / "code", self.code)

    def _fresh(self) -> None:
        _open_up(self.home)
        shutil.rmtree(self.home, ignore_errors=True)
        self.state.mkdir(parents=True, mode=0o700)
        script = render_hook_sh(Path(sys.executable), self.entry, self.state, CHECKOUT)
        (self.state / "hook.sh").write_bytes(script)
        if self.code.exists():
            shutil.copytree(self.code, self.state / "code")

    def check(self, seed: int) -> tuple[Case, Outcome, list[str]]:
        """Run the case of a seed; the faults found."""
        self._fresh()
        case = make_case(self, seed)
        outcome = self.run(case)
        return case, outcome, verdict(self, case, outcome)

    def run(self, case: Case) -> Outcome:
        line = get_target(case.target).settings_entry(case.event)
        command = line["hooks"][0]["command"] if "hooks" in line else line["command"]
        environ = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project),
            **case.environ,
        }
        environ = {key: value for key, value in environ.items() if value != "<unset>"}
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        began = time.monotonic()
        process = subprocess.Popen(
            [
                "/bin/sh",
                "-c",
                f'{_preparation(case)} exec /bin/sh -c "$1"{_closing(case)}',
                "sh",
                command,
            ],
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
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
        return Outcome(code, stdout, stderr, seconds, cpu)


def recorded_payloads() -> dict[str, list[bytes]]:
    """Payloads by event: real ones where they are at hand, and made-up ones of every event."""
    found: dict[str, list[bytes]] = {}
    shared = Path(os.environ.get("SKILL_LEARNER_SHARED") or CHECKOUT.parent / "shared")
    for path in sorted(shared.glob("claude-code/payloads/*.json")):
        found.setdefault(path.stem.split("-")[0], []).append(path.read_bytes())
    for path in sorted(shared.glob("cursor/payloads/**/*.json")):
        found.setdefault(path.stem.split("-")[0].split(".")[0], []).append(path.read_bytes())
    for name in TARGETS:
        for event in get_target(name).EVENTS:
            made_up: dict[str, Any] = {
                "session_id": "0f2c", "hook_event_name": event, "cwd": "/p", "prompt": "hällo\n",
                "tool_name": "Bash", "tool_input": {"command": "ls \"a b\"; echo \\\\"},
                "tool_response": {"stdout": "x" * 300, "nested": [{"a": [1, 2.5, None]}]},
            }  # fmt: skip
            found.setdefault(event, []).append(json.dumps(made_up, ensure_ascii=False).encode())
    return found


# -- making a case -------------------------------------------------------------------------------


def make_case(bed: FuzzBed, seed: int) -> Case:
    rng = random.Random(seed)
    target = rng.choice(sorted(TARGETS))
    event = rng.choice(get_target(target).EVENTS)
    pool = bed.payloads.get(event) or next(iter(bed.payloads.values()))
    case = Case(seed, target, event, mutated(rng, rng.choice(pool)))
    for change in rng.sample(_CHANGES, k=rng.choice((0, 0, 1, 1, 1, 2))):
        change(rng, bed, case)
    return case


def mutated(rng: random.Random, payload: bytes) -> bytes:
    for _ in range(rng.choice((0, 0, 1, 1, 2, 4))):
        payload = rng.choice(_MUTATIONS)(rng, payload)
    return payload


def _cut(rng: random.Random, data: bytes) -> bytes:
    return data[: rng.randrange(len(data) + 1)]


def _flip(rng: random.Random, data: bytes) -> bytes:
    flipped = bytearray(data)
    for _ in range(rng.choice((1, 3, 20)) if flipped else 0):
        flipped[rng.randrange(len(flipped))] = rng.randrange(256)
    return bytes(flipped)


def _insert(rng: random.Random, data: bytes) -> bytes:
    place = rng.randrange(len(data) + 1)
    return data[:place] + rng.choice(_NASTY) + data[place:]


def _in_value(rng: random.Random, data: bytes) -> bytes:
    """A nasty text as a proper JSON value."""
    try:
        value = json.loads(data)
        key = rng.choice(sorted(value))
    except (ValueError, TypeError, IndexError, RecursionError):
        return data
    nasty = rng.choice(_NASTY).decode("utf-8", "replace")
    value[key] = rng.choice((nasty, nasty * 2_000, [nasty], {nasty: {nasty: 1}}, None, 7, True))
    return json.dumps(value, ensure_ascii=rng.random() < 0.5).encode("utf-8", "replace")


def _deep(rng: random.Random, data: bytes) -> bytes:
    depth = rng.choice((50, 5_000))
    return data.rstrip()[:-1] + b',"deep":' + b"[" * depth + b"]" * depth + b"}"


def _spaced(rng: random.Random, data: bytes) -> bytes:
    try:
        text = json.dumps(json.loads(data), indent=2).encode()
    except (ValueError, RecursionError):
        return data
    return text.replace(b"\n", rng.choice((b"\n", b"\r\n", b"\r")))


def _wrapped(rng: random.Random, data: bytes) -> bytes:
    return (
        rng.choice((b"\xef\xbb\xbf", b"\xef\xbb\xbf" * 2, b"\n\n ", b"\xff\xfe", b"[", b"0")) + data
    )


def _big(rng: random.Random, data: bytes) -> bytes:
    size = rng.choice((70_000, 1_000_000, 5_000_000))
    return data.rstrip()[:-1] + b',"big":"' + b"x\\n" * (size // 3) + b'"}'


_NASTY = (
    b'"', b"\\", b"\\u0000", b"\\ud800", b"\x00", b"\n", b"\r\n", b"\xff\xc0", b"<private>",
    b"</private>", b"../../../etc", b"/" * 300, b"$(touch x)", b"`id`", "ü日本\u202e".encode(),
    b'","session_id":"other', b'{"v":1,"t":1,"e":"SessionEnd"}', b"\\\\\\\"", b"%0a\n=x", b"{" * 40,
)  # fmt: skip
_MUTATIONS: tuple[Callable[[random.Random, bytes], bytes], ...] = (
    _cut, _flip, _insert, _in_value, _in_value, _deep, _spaced, _wrapped, _big,
)  # fmt: skip


def _stdin(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    case.stdin = rng.choice(("empty", "closed", "slow", "endless", "halved", "dripping"))
    if case.stdin != "slow":
        case.loses = "input was cut"


def _huge(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    if rng.random() < 0.1:
        case.payload = case.payload.rstrip()[:-1] + b',"z":"' + b"y" * 50_000_000 + b'"}'


def _closed_streams(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    case.closed = rng.choice(((1,), (2,), (1, 2)))


def _environment(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    case.environ |= rng.choice(
        (
            {"LANG": "C", "LC_ALL": "C"},
            {"LC_ALL": "xx_YY.bogus"},
            {"PYTHONPATH": "/nowhere", "PYTHONHOME": "/nowhere", "PYTHONSTARTUP": "/etc/passwd"},
            {"PYTHONIOENCODING": "cp1252", "PYTHONUTF8": "0", "PYTHONWARNINGS": "error"},
            {"PYTHONDEVMODE": "1", "PYTHONVERBOSE": "1", "PYTHONINSPECT": "1"},
            {"PYTHONMALLOC": "debug", "PYTHONTRACEMALLOC": "9", "PYTHONHASHSEED": "x"},
            {"IFS": "/", "CDPATH": "/tmp", "ENV": "/dev/null", "POSIXLY_CORRECT": "1"},
            {"API_KEY": 's3cr3t-value-\\"-x', "X_TOKEN": "\n".join("abcdefgh")},
            {"SKILL_LEARNER_NUDGE_INTERVAL": rng.choice(("0", "1", "-1", "x", "9" * 30))},
            {"SKILL_LEARNER_PAYLOAD_CAP": rng.choice(("0", "1", "5000", "1e9"))},
            {"CLAUDE_PROJECT_DIR": rng.choice(("", "relative", "/nowhere/at/all", "/", "/p\n/q"))},
            {"CLAUDE_PID": rng.choice(("", "x", "0", "1", "9" * 25))},
        )
    )


def _no_home(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    case.environ["HOME"] = rng.choice(("<unset>", "", "/nowhere", "relative", "/dev/null"))
    case.loses = "no home"


def _umask(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    case.umask = rng.choice((0, 0o077, 0o777, 0o177, 0o002))


def _limits(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    # dash opens no script at all with less than eleven descriptors
    case.limits.append(rng.choice(("-f 0", "-f 1", "-n 12", "-n 20", "-c 0", "-s 512", "-t 5")))
    case.loses = "a resource limit"


def _switched_off(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    case.loses = "switched off"
    how = rng.choice(("env", "review", "file", "conf", "pause"))
    if how == "env":
        case.environ["SKILL_LEARNER_OFF"] = "1"
    elif how == "review":
        case.environ["SKILL_LEARNER_REVIEW"] = "1"
    elif how == "file" and case.damage == "none":
        (bed.state / "hook.conf").write_text("off=1\n")
    elif case.damage == "none":
        (bed.state / "hook.conf").write_text(f"paused_until={int(time.time()) + 60}\n")


def _broken_state(rng: random.Random, bed: FuzzBed, case: Case) -> None:
    if case.damage != "none":
        return
    case.damage = rng.choice(sorted(_DAMAGES))
    case.loses = _DAMAGES[case.damage](rng, bed) or case.loses


def _garbage_conf(rng: random.Random, bed: FuzzBed) -> str:
    if (bed.state / "hook.conf").exists():
        return ""
    (bed.state / "hook.conf").write_bytes(rng.randbytes(rng.choice((0, 10, 100_000))))
    return ""


def _conf_folder(rng: random.Random, bed: FuzzBed) -> str:
    if not (bed.state / "hook.conf").exists():
        (bed.state / "hook.conf").mkdir()
    return ""


def _garbage_code(rng: random.Random, bed: FuzzBed) -> str:
    for path in (bed.state / "code").iterdir():
        data = path.read_bytes()
        path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.5 else b"\0" + data)
    return ""


def _journal_is_file(rng: random.Random, bed: FuzzBed) -> str:
    (bed.state / "journal").write_text("x")
    return "no journal folder"


def _journal_is_link(rng: random.Random, bed: FuzzBed) -> str:
    (bed.state / "journal").mkdir()
    outside = bed.home / "outside"
    outside.write_text("mine")
    for name in ("0f2c", "unknown"):
        (bed.state / "journal" / f"{name}.jsonl").symlink_to(outside)
    return "the journal is a link"


def _tally_is_file(rng: random.Random, bed: FuzzBed) -> str:
    (bed.state / "tally").write_text("x")
    return ""


def _full_of_requests(rng: random.Random, bed: FuzzBed) -> str:
    folder = bed.state / "requests"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}-x").write_bytes(rng.randbytes(30))
    (folder / "dir").mkdir()
    return ""


def _future_marks(rng: random.Random, bed: FuzzBed) -> str:
    for name in ("marks", "journal"):
        (bed.state / name).mkdir()
    (bed.state / "marks" / "0f2c.json").write_text('{"to": 999999999999}')
    (bed.state / "journal" / "old.jsonl").write_bytes(rng.randbytes(300))
    os.utime(bed.state / "journal" / "old.jsonl", (4e9, 4e9))
    return ""


def _torn_journal(rng: random.Random, bed: FuzzBed) -> str:
    (bed.state / "journal").mkdir()
    for name in ("0f2c", "unknown"):
        (bed.state / "journal" / f"{name}.jsonl").write_bytes(b'\n{"v":1,"t":5,"e":"Pos')
    return ""


def _read_only(rng: random.Random, bed: FuzzBed) -> str:
    for path in (bed.state, bed.home):
        path.chmod(0o500)
    return "read-only" if os.geteuid() else ""


def _state_is_file(rng: random.Random, bed: FuzzBed) -> str:
    launcher = bed.state / "hook.sh"
    text = launcher.read_bytes().replace(os.fsencode(bed.state), os.fsencode(bed.home / "f"))
    launcher.write_bytes(text)
    (bed.home / "f").write_text("x")
    return "the state folder is a file"


def _log_is_huge(rng: random.Random, bed: FuzzBed) -> str:
    (bed.state / "hook.log").write_bytes(b"1 old line\n" * 10_000)
    if not (bed.state / "hook.conf").exists():
        (bed.state / "hook.conf").symlink_to("hook.conf")  # to itself
    return ""


_DAMAGES: dict[str, Callable[[random.Random, FuzzBed], str]] = {
    function.__name__.strip("_"): function
    for function in (
        _garbage_conf, _conf_folder, _garbage_code, _journal_is_file, _journal_is_link,
        _tally_is_file, _full_of_requests, _future_marks, _torn_journal, _read_only,
        _state_is_file, _log_is_huge,
    )
}  # fmt: skip
_CHANGES = (
    _stdin, _huge, _closed_streams, _environment, _environment, _no_home, _umask, _limits,
    _switched_off, _broken_state, _broken_state, _broken_state,
)  # fmt: skip


# -- running it ----------------------------------------------------------------------------------


def _preparation(case: Case) -> str:
    """What a shell does before it becomes the one that the editor starts."""
    return "".join([f"umask {case.umask:o};", *(f"ulimit -S {limit};" for limit in case.limits)])


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
            process.wait(20)
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
        for path in (folder, folder / ".skill_learner"):
            with contextlib.suppress(OSError):
                path.chmod(0o700)


# -- what must hold ------------------------------------------------------------------------------


def verdict(bed: FuzzBed, case: Case, outcome: Outcome) -> list[str]:
    faults = []
    if outcome.code != 0:
        faults.append(f"exit status {outcome.code}")
    if outcome.stderr:
        faults.append(f"stderr: {outcome.stderr[:200]!r}")
    if outcome.stdout and not _is_one_object(outcome.stdout):
        faults.append(f"stdout: {outcome.stdout[:200]!r}")
    waits = SILENCE if case.stdin in ("halved", "endless", "dripping") else 0.0
    if outcome.seconds > IN_TIME + waits and outcome.cpu > IDLE_CPU + len(case.payload) / 4e7:
        faults.append(f"took {outcome.seconds:.2f} s, {outcome.cpu:.2f} s of CPU")
    _open_up(bed.home)
    faults += _log_faults(bed, case)
    outside = bed.home / "outside"
    if outside.exists() and outside.read_text() != "mine":
        faults.append("a link out of the state folder was followed")
    if not case.loses:
        faults += _lost(bed, case)
    return faults + _open_to_others(bed)


def _is_one_object(data: bytes) -> bool:
    try:
        return isinstance(json.loads(data), dict)
    except ValueError:
        return False


def _log_faults(bed: FuzzBed, case: Case) -> list[str]:
    log = bed.state / "hook.log"
    if not log.is_file():
        return []
    size, lines = log.stat().st_size, log.read_bytes().count(b"\n")
    if case.damage == "log_is_huge":
        return [] if size <= 120_000 else [f"the log grew to {size}"]
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
    sent = _parsed(case.payload)
    if not isinstance(sent, dict) or b"<private>" in case.payload or "API_KEY" in case.environ:
        return []
    if record.cut:
        capped = len(case.payload) > 4_000_000 or "SKILL_LEARNER_PAYLOAD_CAP" in case.environ
        return [] if capped else ["cut below the cap"]
    told = _raw_payload(bed.state / "journal" / f"{name}.jsonl")
    faults = [] if _same(told, sent) else [f"payload changed in {name}"]
    session = sent.get("session_id")
    if case.target == "claude-code" and isinstance(session, str) and session and _unique(case):
        expected = safe_name(session.encode("utf-8", "replace")).decode()
        if name != expected and "cursor_version" not in sent and "\ufffd" not in session:
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
    def without_mail(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: without_mail(v) for k, v in value.items() if k != "user_email"}
        return [without_mail(item) for item in value] if isinstance(value, list) else value

    return bool(without_mail(told) == without_mail(sent))


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
