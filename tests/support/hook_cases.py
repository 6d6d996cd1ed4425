"""Hook calls to attack with: payloads and what may be done to them, to the environment, and to the
state folder. One case is a seed: the same seed gives the same case."""

from __future__ import annotations

import json
import os
import random
import shutil
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from skill_learner.targets import TARGETS, get_target

CHECKOUT = Path(__file__).resolve().parents[2]
OLD = 5.0
"""The time of records that were there before the hook ran."""
OLD_LOG = b"1 old line\n" * 10_000
TORN = b'{"v":1,"t":5,"e":"Pos'


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
    folder_gone: bool = False
    on_small: bool = False


@dataclass
class Place:
    """Where the hook of a case runs. small: a file system with next to no room, or None."""

    home: Path
    state: Path
    key: str
    small: Path | None
    payloads: dict[str, list[bytes]]


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


def make_case(place: Place, seed: int) -> Case:
    rng = random.Random(seed)
    target = rng.choice(sorted(TARGETS))
    event = rng.choice(get_target(target).EVENTS)
    pool = place.payloads.get(event) or next(iter(place.payloads.values()))
    case = Case(seed, target, event, mutated(rng, rng.choice(pool)))
    for change in rng.sample(_CHANGES, k=rng.choice((0, 0, 1, 1, 1, 2))):
        change(rng, place, case)
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


def _stdin(rng: random.Random, place: Place, case: Case) -> None:
    case.stdin = rng.choice(("empty", "closed", "slow", "endless", "halved", "dripping"))
    if case.stdin != "slow":
        case.loses = "input was cut"


def _huge(rng: random.Random, place: Place, case: Case) -> None:
    if rng.random() < 0.1:
        case.payload = case.payload.rstrip()[:-1] + b',"z":"' + b"y" * 50_000_000 + b'"}'


def _closed_streams(rng: random.Random, place: Place, case: Case) -> None:
    case.closed = rng.choice(((1,), (2,), (1, 2)))


def _environment(rng: random.Random, place: Place, case: Case) -> None:
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


def _no_home(rng: random.Random, place: Place, case: Case) -> None:
    case.environ["HOME"] = rng.choice(("<unset>", "", "/nowhere", "relative", "/dev/null"))
    case.loses = "no home"


def _umask(rng: random.Random, place: Place, case: Case) -> None:
    case.umask = rng.choice((0, 0o077, 0o777, 0o177, 0o002))


def _limits(rng: random.Random, place: Place, case: Case) -> None:
    # dash opens no script at all with less than eleven descriptors
    case.limits.append(rng.choice(("-f 0", "-f 1", "-n 12", "-n 20", "-c 0", "-s 512", "-t 5")))
    case.loses = "a resource limit"


def _folder_gone(rng: random.Random, place: Place, case: Case) -> None:
    case.folder_gone = True
    if rng.random() < 0.5:
        case.environ["CLAUDE_PROJECT_DIR"] = "<unset>"


def _no_processes(rng: random.Random, place: Place, case: Case) -> None:
    """As `ulimit -u` has it, which does not bind root."""
    case.environ["NO_FORK"] = "1"


def _full_disk(rng: random.Random, place: Place, case: Case) -> None:
    if case.damage != "none" or place.small is None:
        return
    case.damage, case.on_small, case.loses = "full disk", True, "a full disk"
    state = place.small / "state"
    state.mkdir(mode=0o700)
    _move_state(place, state)
    if rng.random() < 0.5:
        _worked_before(rng, place)
        shutil.copytree(place.state / "journal", state / "journal")
    free = os.statvfs(state).f_bavail * os.statvfs(state).f_frsize
    left = rng.choice((0, 4096, 8192, 16384))
    (place.small / "filler").write_bytes(b"x" * max(0, free - left))


def _switched_off(rng: random.Random, place: Place, case: Case) -> None:
    case.loses = "switched off"
    how = rng.choice(("env", "review", "file", "conf", "pause"))
    if how == "env":
        case.environ["SKILL_LEARNER_OFF"] = "1"
    elif how == "review":
        case.environ["SKILL_LEARNER_REVIEW"] = "1"
    elif how == "file" and case.damage == "none":
        (place.state / "hook.conf").write_text("off=1\n")
    elif case.damage == "none":
        (place.state / "hook.conf").write_text(f"paused_until={int(time.time()) + 60}\n")


def _broken_state(rng: random.Random, place: Place, case: Case) -> None:
    if case.damage != "none":
        return
    case.damage = rng.choice(sorted(_DAMAGES))
    case.loses = _DAMAGES[case.damage](rng, place) or case.loses


def _garbage_conf(rng: random.Random, place: Place) -> str:
    if (place.state / "hook.conf").exists():
        return ""
    (place.state / "hook.conf").write_bytes(rng.randbytes(rng.choice((0, 10, 100_000))))
    return ""


def _conf_folder(rng: random.Random, place: Place) -> str:
    if not (place.state / "hook.conf").exists():
        (place.state / "hook.conf").mkdir()
    return ""


def _garbage_code(rng: random.Random, place: Place) -> str:
    for path in (place.state / "code").iterdir():
        data = path.read_bytes()
        path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.5 else b"\0" + data)
    return ""


def _journal_is_file(rng: random.Random, place: Place) -> str:
    (place.state / "journal").write_text("x")
    return "no journal folder"


def _journal_is_link(rng: random.Random, place: Place) -> str:
    (place.state / "journal").mkdir()
    outside = place.home / "outside"
    outside.write_text("mine")
    for name in ("0f2c", "unknown"):
        (place.state / "journal" / f"{name}.jsonl").symlink_to(outside)
    return "the journal is a link"


def _tally_is_file(rng: random.Random, place: Place) -> str:
    (place.state / "tally").write_text("x")
    return ""


def _full_of_requests(rng: random.Random, place: Place) -> str:
    folder = place.state / "requests"
    folder.mkdir()
    for number in range(50):
        (folder / f"{number}-x").write_bytes(rng.randbytes(30))
    (folder / "dir").mkdir()
    return ""


def _future_marks(rng: random.Random, place: Place) -> str:
    for name in ("marks", "journal"):
        (place.state / name).mkdir()
    (place.state / "marks" / "0f2c.json").write_text('{"to": 999999999999}')
    (place.state / "journal" / "old.jsonl").write_bytes(rng.randbytes(300))
    os.utime(place.state / "journal" / "old.jsonl", (4e9, 4e9))
    return ""


def _torn_journal(rng: random.Random, place: Place) -> str:
    (place.state / "journal").mkdir()
    for name in ("0f2c", "unknown"):
        (place.state / "journal" / f"{name}.jsonl").write_bytes(b"\n" + TORN)
    return ""


def _read_only(rng: random.Random, place: Place) -> str:
    for path in (place.state, place.home):
        path.chmod(0o500)
    return "read-only"


def _no_permission(rng: random.Random, place: Place) -> str:
    """Of one thing in the state folder after the other; only the journal is worth an event."""
    _worked_before(rng, place)
    (place.state / "tally").mkdir()
    (place.state / "requests").mkdir()
    if not (place.state / "hook.conf").exists():
        (place.state / "hook.conf").write_text("")
    name = rng.choice(("journal", "journal/0f2c.jsonl", "tally", "requests", "code", "hook.conf"))
    (place.state / name).chmod(0)
    if name == "journal/0f2c.jsonl":
        (place.state / "journal" / "unknown.jsonl").chmod(0o400)
    return "no permission" if name.startswith("journal") else ""


def _state_is_file(rng: random.Random, place: Place) -> str:
    _move_state(place, place.home / "f")
    (place.home / "f").write_text("x")
    return "the state folder is a file"


def _move_state(place: Place, state: Path) -> None:
    launcher = place.state / "hook.sh"
    text = launcher.read_bytes().replace(os.fsencode(place.state), os.fsencode(state))
    launcher.write_bytes(text)


def _worked_before(rng: random.Random, place: Place) -> str:
    (place.state / "journal").mkdir()
    for name in ("0f2c", "unknown"):
        record = {"v": 1, "t": OLD, "e": "PostToolUse", "ed": "codex", "k": "k", "p": "/p", "c": 0,
                  "d": {"session_id": name}}  # fmt: skip
        line = b"\n" + json.dumps(record, separators=(",", ":")).encode()
        (place.state / "journal" / f"{name}.jsonl").write_bytes(line)
    return ""


def _news(rng: random.Random, place: Place) -> str:
    """Something to say at a start, in whatever bytes."""
    for folder in ("news", "published"):
        (place.state / folder).mkdir()
    words = b"learned 1 skill" + rng.choice((b"", b'"\\"', b"\xff\x00", b"\n{}\n", b"x" * 9_000))
    (place.state / "news" / place.key).write_bytes(words)
    (place.state / "published" / place.key).write_bytes(b"a-skill\t" + bytes(place.home) + b"\n")
    return ""


def _log_is_huge(rng: random.Random, place: Place) -> str:
    """And there is something to add."""
    (place.state / "hook.log").write_bytes(OLD_LOG)
    (place.state / "journal").write_text("x")
    if not (place.state / "hook.conf").exists():
        (place.state / "hook.conf").symlink_to("hook.conf")  # to itself
    return "no journal folder"


_DAMAGES: dict[str, Callable[[random.Random, Place], str]] = {
    function.__name__.strip("_"): function
    for function in (
        _garbage_conf, _conf_folder, _garbage_code, _journal_is_file, _journal_is_link,
        _tally_is_file, _full_of_requests, _future_marks, _torn_journal, _read_only,
        _state_is_file, _log_is_huge, _no_permission, _worked_before, _worked_before, _news, _news,
    )
}  # fmt: skip
_CHANGES = (
    _stdin, _huge, _closed_streams, _environment, _environment, _no_home, _umask, _limits,
    _switched_off, _folder_gone, _no_processes, _full_disk, _broken_state, _broken_state,
    _broken_state, _broken_state,
)  # fmt: skip
