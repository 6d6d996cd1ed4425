"""Windows, where it is not here: what is written for it, with its own modules played.

`windows_sandbox` says what that proves and what it does not.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import types
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import SESSION
from windows_sandbox import POSIX_ONLY, WindowsSandbox, journal_line

from skill_learner import files, processes, windows
from skill_learner.hook_runtime import clients, windows_paths
from skill_learner.hook_runtime.project_key import project_key, safe_name
from skill_learner.install import links
from skill_learner.targets import TARGETS, get_target, windows_line

ROOT = Path(__file__).resolve().parents[2]
GONE = 2**22 + 12345  # no process has this number


@pytest.fixture
def hooks(tmp_path: Path) -> WindowsSandbox:
    return WindowsSandbox(tmp_path)


# -- a hook process from start to exit -----------------------------------------------------------


@pytest.mark.process
def test_a_session_is_journalled_counted_and_reviewed(hooks: WindowsSandbox) -> None:
    (hooks.state / "hook.conf").write_text("nudge_interval=3\n")
    hooks.run("SessionStart", hooks.payload("SessionStart", source="startup"))
    hooks.run("UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt="mach es"))
    for number in range(2):
        hooks.run("PostToolUse", hooks.payload("PostToolUse", tool_name="Bash", n=number))
    assert hooks.wishes() == []
    hooks.run("Stop", hooks.payload("Stop"))
    assert [record["e"] for record in hooks.records()] == [
        "SessionStart", "UserPromptSubmit", "PostToolUse", "PostToolUse", "Stop",
    ]  # fmt: skip
    assert hooks.tally() == 3
    assert [request["reason"] for request in hooks.requests()] == ["nudge"]
    new_group, no_window, breakaway = 0x200, 0x08000000, 0x01000000
    (started,) = hooks.wishes()
    assert started == (
        f"1|{hooks.state}|-B -m skill_learner review --detached|"
        f"{new_group | no_window | breakaway:#x}"
    )
    assert hooks.log() == ""
    assert (hooks.state / "code" / "claude-code").exists()


@pytest.mark.process
def test_any_code_page_and_byte_order_marks_keep_the_payload(hooks: WindowsSandbox) -> None:
    payload = hooks.payload("UserPromptSubmit", prompt="Größe 日本 \U0001f600")
    marks = b"\xef\xbb\xbf" * 2
    hooks.run(
        "UserPromptSubmit",
        marks + payload.replace(b"\n", b"\r\n"),
        hooks.environ(PYTHONIOENCODING="cp1252", LANG="C", PYTHONUTF8="0"),
    )
    (record,) = hooks.records()
    assert record["d"]["prompt"] == "Größe 日本 \U0001f600"


@pytest.mark.process
def test_hooks_at_once_lose_nothing_and_mix_nothing(hooks: WindowsSandbox) -> None:
    hooks.run("SessionStart", hooks.payload("SessionStart", source="resume"))
    running = [hooks.popen("PostToolUse") for _ in range(12)]
    for number, process in enumerate(running):
        text = f"{number}" * 40_000
        assert process.stdin is not None
        process.stdin.write(hooks.payload("PostToolUse", tool_name="Bash", text=text))
        process.stdin.close()
    for process in running:
        assert process.wait(60) == 0
        for stream in (process.stdout, process.stderr):
            assert stream is not None
            assert stream.read() == b""
            stream.close()
    texts = {record["d"].get("text", "")[:2] for record in hooks.records()[1:]}
    assert texts == {f"{number}" * (2 if number < 10 else 1) for number in range(12)}
    assert len(hooks.records()) == 13


@pytest.mark.process
def test_stdin_that_never_ends_is_left_after_a_silence(hooks: WindowsSandbox) -> None:
    process = hooks.popen("UserPromptSubmit")
    assert process.stdin is not None
    process.stdin.write(hooks.payload("UserPromptSubmit", prompt="kept"))
    process.stdin.flush()
    assert process.wait(60) == 0  # nobody has closed its stdin
    for stream in (process.stdin, process.stdout, process.stderr):
        assert stream is not None
        stream.close()
    assert hooks.records()[0]["d"]["prompt"] == "kept"


@pytest.mark.process
def test_a_session_whose_client_died_is_recovered(hooks: WindowsSandbox) -> None:
    folder = hooks.state / "journal"
    folder.mkdir()
    for session, pid in (("lost", GONE), ("alive", os.getpid())):
        line = journal_line(session, hooks.project, hooks.key, pid, "UserPromptSubmit")
        (folder / f"{session}.jsonl").write_bytes(line)
    hooks.run("SessionStart", hooks.payload("SessionStart", source="startup"))
    assert [request["session"] for request in hooks.requests()] == ["lost"]
    assert len(hooks.wishes()) == 1


@pytest.mark.process
def test_a_linked_worktree_gets_junctions_where_no_symlink_may_be_made(
    hooks: WindowsSandbox, tmp_path: Path
) -> None:
    skill = hooks.state / "skills" / "a-skill"
    skill.mkdir(parents=True)
    (skill / "SKILL.md").write_text("x")
    published = hooks.state / "published"
    published.mkdir()
    (published / hooks.key).write_text(f"a-skill\t{skill}\n")
    worktree = tmp_path / "linked"
    worktree.mkdir()
    git_dir = hooks.project / ".git" / "worktrees" / "linked"
    git_dir.mkdir(parents=True)
    (git_dir / "commondir").write_text("../..\n")
    (worktree / ".git").write_text(f"gitdir: {git_dir}\n")
    hooks.run(
        "SessionStart",
        hooks.payload("SessionStart", source="startup"),
        hooks.environ(CLAUDE_PROJECT_DIR=str(worktree)),
    )
    assert hooks.log() == ""
    assert (worktree / ".claude" / "skills" / "a-skill" / "SKILL.md").read_text() == "x"
    assert {record["k"] for record in hooks.records()} == {hooks.key}


@pytest.mark.process
def test_off_and_paused_hold_there_too(hooks: WindowsSandbox) -> None:
    hooks.run("Stop", environ=hooks.environ(SKILL_LEARNER_OFF="1"))
    (hooks.project / ".skill-learner-off").touch()
    hooks.run("Stop")
    assert not (hooks.state / "journal" / f"{SESSION}.jsonl").exists()


@pytest.mark.process
def test_every_module_imports_without_posix_modules() -> None:
    names = sorted(
        ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")
        for path in (ROOT / "skill_learner").rglob("*.py")
        if path.name != "__main__.py" and "_data" not in path.parts  # a wheel's hooks/entry.py
    )
    assert len(names) > 150
    code = (
        "import sys, os, types, importlib, subprocess, tempfile, shutil, json\n"
        "import unittest.mock, asyncio, concurrent.futures, threading\n"
        "nt = types.ModuleType('nt'); nt.__dict__.update(sys.modules['posix'].__dict__)\n"
        "nt.O_BINARY = nt.O_NOINHERIT = 0\n"
        "nt.environ = dict(os.environ)\n"
        "sys.modules['nt'] = nt\n"
        "import click, yaml, rich.console, platformdirs, sqlite3, http.client, urllib.request\n"
        "try: import numpy\n"
        "except ImportError: pass\n"
        f"for name in {POSIX_ONLY!r}: sys.modules[name] = None\n"
        "failed = {}\n"
        f"for name in {names!r}:\n"
        "    try: importlib.import_module(name)\n"
        "    except Exception as fault: failed[name] = f'{type(fault).__name__}: {fault}'\n"
        "print(json.dumps(failed))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=False
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout) == {}


# -- paths, keys, names --------------------------------------------------------------------------

SPELLINGS = [
    rb"C:\Users\Ann\proj",
    rb"c:\Users\Ann\proj",
    b"C:/Users/Ann/proj",
    rb"\\?\C:\Users\Ann\proj",
    b"/c/Users/Ann/proj",
    b"/c:/Users/Ann/proj",
]
SHARES = [rb"\\server\share\proj", b"//server/share/proj", rb"\\?\UNC\server\share\proj"]


def test_all_spellings_of_a_folder_are_one_project() -> None:
    assert {windows_paths.normal(path) for path in SPELLINGS} == {b"C:/Users/Ann/proj"}
    assert len({project_key(windows_paths.normal(path)) for path in SPELLINGS}) == 1
    assert project_key(rb"C:\users\ann\PROJ") == project_key(b"C:/Users/Ann/proj")
    assert {windows_paths.normal(path) for path in SHARES} == {b"//server/share/proj"}
    assert project_key(SHARES[0]) == project_key(b"//SERVER/share/Proj")
    assert project_key(b"C:/Users/Ann/proj") != project_key(b"D:/Users/Ann/proj")
    assert project_key(b"C:/Users/Ann/proj").startswith("proj-")


def test_capitals_count_where_they_count() -> None:
    assert project_key(b"/home/ann/Proj") != project_key(b"/home/ann/proj")


@pytest.mark.parametrize(
    ("path", "absolute"),
    [
        (rb"C:\x", True),
        (b"c:/x", True),
        (rb"\\server\share", True),
        (rb"\x", True),
        (b"C:x", False),
        (b"x/y", False),
        (b"", False),
    ],
)
def test_absolute_paths_of_windows(path: bytes, absolute: bool) -> None:
    assert windows_paths.is_absolute(path) is absolute


def test_a_path_above_the_limit_is_opened_in_the_long_spelling() -> None:
    deep = b"/".join([b"C:", *[b"folder"] * 50])
    assert windows_paths.reachable(deep) == b"\\\\?\\" + deep.replace(b"/", b"\\")
    share = b"//server/share/" + b"x" * 250
    assert windows_paths.reachable(share).startswith(rb"\\?\UNC\server\share\x")
    assert windows_paths.reachable(b"C:/short") == b"C:/short"


@pytest.mark.parametrize(
    ("identifier", "name"),
    [
        (b"con", b"%63on"),
        (b"NUL.jsonl", b"%4eUL.jsonl"),
        (b"lpt1", b"%6cpt1"),
        (b"a:b", b"a%3ab"),
        (b"ends.", b"ends%2e"),
        (b"console", b"console"),
        (b"..", b"%2e%2e"),
    ],
)
def test_names_that_windows_keeps_are_never_file_names(identifier: bytes, name: bytes) -> None:
    assert safe_name(identifier) == name


# -- locks, files, processes, links of commands --------------------------------------------------


class FakeMsvcrt:
    """Locks one byte of a file for whoever asks first."""

    LK_UNLCK, LK_LOCK, LK_NBLCK = 0, 1, 2

    def __init__(self) -> None:
        self.held: set[tuple[int, int]] = set()
        self.refuse = 0

    def locking(self, descriptor: int, mode: int, size: int) -> None:
        assert size == 1
        place = os.fstat(descriptor).st_ino, os.lseek(descriptor, 0, os.SEEK_CUR)
        if mode == self.LK_UNLCK:
            self.held.remove(place)
            return
        if self.refuse or place in self.held:
            self.refuse = max(0, self.refuse - 1)
            raise OSError(36, "Resource deadlock avoided")
        self.held.add(place)


@pytest.fixture
def msvcrt(monkeypatch: pytest.MonkeyPatch) -> FakeMsvcrt:
    fake = FakeMsvcrt()
    monkeypatch.setitem(sys.modules, "msvcrt", fake)
    monkeypatch.setattr(files, "ON_WINDOWS", True)
    return fake


def test_a_lock_lies_behind_the_file_and_is_let_go(tmp_path: Path, msvcrt: FakeMsvcrt) -> None:
    lock = tmp_path / "a.lock"
    with files.locked(lock):
        assert {at for _, at in msvcrt.held} == {windows.LOCKED_BYTE}
        with pytest.raises(TimeoutError), files.locked(lock, timeout=0):
            pass
    assert msvcrt.held == set()
    with files.locked(lock, timeout=0):
        pass


def test_a_lock_that_is_taken_is_waited_for(tmp_path: Path, msvcrt: FakeMsvcrt) -> None:
    msvcrt.refuse = 3
    with files.locked(tmp_path / "a.lock"):
        assert msvcrt.refuse == 0


def test_lines_are_appended_whole_under_it(tmp_path: Path, msvcrt: FakeMsvcrt) -> None:
    path = tmp_path / "ledger"
    path.write_bytes(b"torn")
    files.append_line(path, b"one")
    files.append_line(path, b"two")
    assert path.read_bytes() == b"torn\none\ntwo\n"
    assert msvcrt.held == set()


def test_a_file_that_somebody_has_open_is_replaced_when_it_is_free(
    tmp_path: Path, msvcrt: FakeMsvcrt, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries: list[int] = []
    replace: Callable[..., None] = os.replace

    def busy_twice(*names: Any) -> None:
        tries.append(1)
        if len(tries) < 3:
            raise PermissionError(13, "Access is denied")
        replace(*names)

    monkeypatch.setattr(os, "replace", busy_twice)
    files.atomic_write(tmp_path / "x", b"new")
    assert (tmp_path / "x").read_bytes() == b"new"
    monkeypatch.setattr(windows, "BUSY_SECONDS", 0)
    tries[:] = []
    with pytest.raises(PermissionError):
        files.atomic_write(tmp_path / "x", b"newer")
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


@pytest.mark.parametrize(
    ("handle", "error", "code", "runs"),
    [(5, 0, 259, True), (5, 0, 1, False), (0, 5, 0, True), (0, 87, 0, False)],
    ids=["runs", "has ended", "somebody else's", "unknown"],
)
def test_a_process_is_asked_for_not_killed(
    monkeypatch: pytest.MonkeyPatch, handle: int, error: int, code: int, runs: bool
) -> None:
    import ctypes

    def tell(_: int, told: Any) -> int:
        told._obj.value = code
        return 1

    kernel = types.SimpleNamespace(
        OpenProcess=lambda *_: handle,
        CloseHandle=lambda _: None,
        GetLastError=lambda: error,
        GetExitCodeProcess=tell,
    )
    monkeypatch.setattr(ctypes, "windll", types.SimpleNamespace(kernel32=kernel), raising=False)
    monkeypatch.setattr(clients, "IS_WINDOWS", True)
    monkeypatch.setattr(os, "kill", lambda *_: pytest.fail("os.kill ends a process on Windows"))
    assert processes.process_runs(42) is runs


@pytest.mark.parametrize("junctions", [True, False])
def test_without_the_privilege_for_symlinks_skills_are_junctions_or_copies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, junctions: bool
) -> None:
    symlink = os.symlink

    def unprivileged(*_: Any, **__: Any) -> None:
        raise OSError(1314, "A required privilege is not held by the client")

    def junction(source: str, link: str) -> None:
        if not junctions:
            raise OSError(1, "Incorrect function")
        symlink(source.replace("\\", "/"), link)

    monkeypatch.setattr(files, "ON_WINDOWS", True)
    monkeypatch.setattr(os, "symlink", unprivileged)
    monkeypatch.setitem(sys.modules, "_winapi", types.SimpleNamespace(CreateJunction=junction))
    library = tmp_path / "library"
    for name in ("a", "b"):
        (library / name).mkdir(parents=True)
        (library / name / "SKILL.md").write_text(name)
    shown = tmp_path / "skills"
    wanted = "linked" if junctions else "copied"
    assert links.put_link(shown, "a", library / "a", library) == wanted
    assert links.put_link(shown, "a", library / "a", library) == "kept"
    assert (shown / "a" / "SKILL.md").read_text() == "a"
    assert links.put_link(shown, "a", library / "b", library) == wanted  # moved in the library
    assert (shown / "a" / "SKILL.md").read_text() == "b"
    assert links.take_link(shown, "a", library)
    assert list(shown.iterdir()) == []
    assert sorted(path.name for path in library.rglob("SKILL.md")) == ["SKILL.md"] * 2


# -- what is registered --------------------------------------------------------------------------


@pytest.mark.process
@pytest.mark.parametrize("gone", ["interpreter", "entry"])
def test_a_hook_whose_package_is_gone_leaves_quietly(hooks: WindowsSandbox, gone: str) -> None:
    """Python ends with 2 where the script is gone, which editors take for a refusal."""
    hooks.run("UserPromptSubmit")
    assert len(hooks.records()) == 1
    if gone == "entry":
        hooks.entry.unlink()
    else:
        hooks.interpreter = hooks.home / "gone" / "python.exe"
    assert hooks.run("UserPromptSubmit") == b""
    assert len(hooks.records()) == 1


def spawned(words: list[str]) -> str:
    """The command line that a program makes of words: quotes around those with spaces (libuv)."""
    return " ".join(f'"{word}"' if " " in word else word for word in words)


def cmd_words(line: str) -> list[str]:
    """The words behind `/c` as cmd reads them; a character that it would not take as it stands, and
    a first quote, which it would take away, are refused."""
    text = line.partition(" /c ")[2]
    assert not text.startswith('"')
    assert "%" not in text
    parts = text.split('"')
    assert all(c not in part for part in parts[::2] for c in "&|<>^()@,;=")
    return [
        word
        for number, part in enumerate(parts)
        for word in ([part] if number % 2 else part.split())
    ]


@pytest.mark.parametrize("folder", ["py", "Program Files (x86)", "O'Brien & Söhne", "a&b", "50%"])
def test_cmd_reads_each_word_of_the_guard_as_it_is(folder: str) -> None:
    python, entry = f"C:\\{folder}\\python.exe", f"C:\\{folder}\\hooks\\entry.py"
    launch = [python, "-I", "-S", entry, f"C:\\{folder}", "C:\\s"]
    words = windows_line.guarded(launch)
    if folder in ("a&b", "50%"):
        assert words is None
        (hook,) = get_target("claude-code").windows_entry("Stop", launch)["hooks"]
        assert [hook["command"], *hook["args"]] == [*launch, "claude-code", "Stop"]
        return
    assert words is not None
    assert cmd_words(spawned(words)) == ["if", "exist", python, "if", "exist", entry, *launch]


@pytest.mark.parametrize(
    ("folder", "quoted"), [("C:\\py\\3.12", False), ("C:\\a b", True), ("C:\\a$b", True)]
)
def test_codex_gets_no_quotes_where_none_are_needed(folder: str, quoted: bool) -> None:
    """PowerShell takes a line that begins with one for a text, cmd for the name of a program."""
    launch = [f"{folder}\\python.exe", "-I", "-S", f"{folder}\\hooks\\entry.py", folder, "C:\\s"]
    codex = get_target("codex")
    (hook,) = codex.windows_entry("Stop", launch)["hooks"]
    assert codex.is_our_hook(hook)
    assert ('"' in hook["command"]) is quoted
    if not quoted:
        assert hook["command"].split() == [*(windows_line.guarded(launch) or ()), "codex", "Stop"]


@pytest.mark.parametrize(
    "path",
    [
        r"C:\Users\Ann Lee\AppData\Python\python.exe",
        r"\\?\C:\very long\python.exe",
        r"C:\O'Brien\py$x&y\python.exe",
        "C:\\Üser\\日本\\python.exe",
    ],
)
def test_the_entries_carry_any_path(path: str) -> None:
    launch = [path, "-I", "-S", r"C:\x\hooks\entry.py", r"C:\x", r"C:\Users\Ann Lee\.skill_learner"]
    for name in TARGETS:
        target = get_target(name)
        entry = json.loads(json.dumps(target.windows_entry(target.EVENTS[0], launch)))
        (hook,) = entry.get("hooks", [entry])
        assert target.is_our_hook(hook)
        told = json.dumps(hook, ensure_ascii=False)
        assert json.dumps(path.replace("'", "''"), ensure_ascii=False)[1:-1] in told or (
            json.dumps(path, ensure_ascii=False)[1:-1] in told
        )
