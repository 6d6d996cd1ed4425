"""What init writes for Cursor: hooks.json as it wants it, the index once, a line shells bear."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from cursor_sandbox import CursorSandbox

from skill_learner.cli.group import cli
from skill_learner.install.installer import install, uninstall
from skill_learner.install.status import installation_status, settings_warnings
from skill_learner.targets import cursor as target

HOOKS = ".cursor/hooks.json"
GATES = {
    "preToolUse",
    "beforeShellExecution",
    "beforeMCPExecution",
    "beforeReadFile",
    "beforeTabFileRead",
    "subagentStart",
}


def put(cursor: CursorSandbox, text: str) -> Path:
    path: Path = cursor.project / HOOKS
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(text.encode())
    return path


# -- hooks.json ---------------------------------------------------------------------------------


def test_no_gate_is_registered_and_every_event_is_known(cursor: CursorSandbox) -> None:
    cursor.install("cursor")
    written = json.loads((cursor.project / HOOKS).read_bytes())
    assert written["version"] == 1
    assert isinstance(written["version"], int)
    assert set(written["hooks"]) == set(target.EVENTS)
    assert not GATES & set(written["hooks"])
    assert target.settings_faults(written) == []
    for entries in written["hooks"].values():
        (entry,) = entries
        assert set(entry) == {"command", "timeout"}


@pytest.mark.parametrize("text", ['{"version": 1}', '{\n  "version": 1,\n  "hooks": {}\n}\n'])
def test_a_bare_file_of_the_users_is_given_back(cursor: CursorSandbox, text: str) -> None:
    path = put(cursor, text)
    cursor.install("cursor")
    cursor.install("cursor")
    assert path.read_text() != text
    uninstall("cursor", None, cursor.project, cursor.state)
    assert path.read_text() == text


def test_foreign_entries_stay_byte_for_byte(cursor: CursorSandbox) -> None:
    mine = (
        '{\r\n    "hooks": {\r\n'
        '        "stop": [ {"command": "./mine.sh", "loop_limit": null} ],\r\n'
        '        "afterFileEdit": [{"command": "fmt", "matcher": "Write"}]\r\n    },\r\n'
        '    "x": 1.50\r\n}'
    )
    path = put(cursor, mine)
    cursor.install("cursor")
    text = path.read_bytes().decode()
    for part in (
        '{"command": "./mine.sh", "loop_limit": null}',
        '"fmt", "matcher": "Write"}]',
        "1.50",
    ):
        assert part in text
    written = json.loads(text)
    assert written["version"] == 1
    assert [target.is_our_hook(entry) for entry in written["hooks"]["stop"]] == [False, True]
    path.write_bytes(path.read_bytes().replace(b"1.50", b"1.75"))
    uninstall("cursor", None, cursor.project, cursor.state)
    assert path.read_bytes().decode() == mine.replace("1.50", "1.75")


def test_older_and_doubled_entries_of_ours_become_one(cursor: CursorSandbox) -> None:
    old = target.settings_entry("stop")
    old["command"] = old["command"].replace("set -- cursor", "v=1; set -- cursor")
    beside = {"command": "other"}
    path = put(cursor, json.dumps({"version": 1, "hooks": {"stop": [old, beside, old]}}))
    cursor.install("cursor")
    assert json.loads(path.read_bytes())["hooks"]["stop"] == [target.settings_entry("stop"), beside]


VOID: list[tuple[Any, str]] = [
    ({"version": "1.0", "hooks": {}}, "`version` is '1.0'"),
    ({"version": True, "hooks": {}}, "`version` is True"),
    ({"version": 1, "hooks": []}, "`hooks` is not an object"),
    ({"version": 1, "hooks": {"sessionStarted": []}}, "`hooks.sessionStarted`: Cursor has no such"),
    ({"version": 1, "hooks": {"stop": {}}}, "`hooks.stop` is not a list"),
    ({"version": 1, "hooks": {"stop": [7]}}, "`hooks.stop`, entry 1: is not an object"),
    ({"version": 1, "hooks": {"stop": [{}]}}, "has no `command`"),
    ({"version": 1, "hooks": {"stop": [{"command": " "}]}}, "has no `command`"),
    ({"version": 1, "hooks": {"stop": [{"type": "http", "command": "x"}]}}, "unknown type 'http'"),
    ({"version": 1, "hooks": {"stop": [{"hooks": [{"command": "x"}]}]}}, "nested as in Claude"),
    ([], "not a JSON object"),
]


@pytest.mark.parametrize(("settings", "fault"), VOID)
def test_what_makes_cursor_drop_the_file_is_named(settings: Any, fault: str) -> None:
    assert fault in "; ".join(target.settings_faults(settings))


def test_a_prompt_hook_is_no_fault() -> None:
    entry = {"type": "prompt", "prompt": "is this safe?"}
    assert target.settings_faults({"version": 1, "hooks": {"stop": [entry]}}) == []


def test_the_users_own_fault_is_said_before_writing_and_by_doctor(cursor: CursorSandbox) -> None:
    put(cursor, '{"version": 1, "hooks": {"notification": [{"command": "x"}]}}')
    (warning,) = settings_warnings("cursor", "project", cursor.project)
    assert "hooks.notification" in warning
    arguments = ["--target", "cursor", "--project-dir", str(cursor.project)]
    shown = CliRunner().invoke(cli, ["init", *arguments, "--dry-run"])
    assert shown.exit_code == 0
    assert "hooks.notification" in shown.stderr
    cursor.install("cursor")
    (found,) = [s for s in installation_status(cursor.state, cursor.project) if s.installed]
    assert any("hooks.notification" in problem for problem in found.problems)
    shown = CliRunner().invoke(cli, ["doctor", *arguments[2:], "--json"])
    assert shown.exit_code == 1
    assert "hooks.notification" in shown.stdout


# -- index --------------------------------------------------------------------------------------


def git(cursor: CursorSandbox, *arguments: str) -> None:
    subprocess.run(["git", "-C", str(cursor.project), *arguments], check=True, capture_output=True)


def front_matter(path: Path) -> list[str]:
    lines = path.read_text().split("\n")
    assert lines[0] == "---"
    return lines[1 : lines.index("---", 1)]


def test_the_rule_is_always_applied(cursor: CursorSandbox) -> None:
    cursor.install("cursor")
    rule = cursor.project / ".cursor/rules/skill-learner.mdc"
    assert "alwaysApply: true" in front_matter(rule)
    assert rule.read_text().count("\n") == 5  # front matter and one line
    assert "`.cursorrules`" in rule.read_text()


@pytest.mark.process
def test_where_git_tracks_cursorrules_the_index_stands_in_the_rule(cursor: CursorSandbox) -> None:
    git(cursor, "init", "-q")
    notes = cursor.project / ".cursorrules"
    notes.write_text("# Ours\n")
    git(cursor, "add", ".cursorrules")
    cursor.install("cursor")
    assert "## Learned skills" not in notes.read_text()
    assert ".cursor/rules/skill-learner.mdc" in notes.read_text()
    assert "## Learned skills" in (cursor.project / ".cursor/rules/skill-learner.mdc").read_text()
    shown = subprocess.run(
        ["git", "-C", str(cursor.project), "status", "--porcelain", "-uall"],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    assert "skill-learner" not in shown
    uninstall("cursor", None, cursor.project, cursor.state)
    assert notes.read_text() == "# Ours\n"


@pytest.mark.process
def test_beside_claude_code_the_rule_leads_to_where_its_index_stands(
    cursor: CursorSandbox,
) -> None:
    git(cursor, "init", "-q")
    (cursor.project / "CLAUDE.md").write_text("# Ours\n")
    git(cursor, "add", "CLAUDE.md")
    cursor.install("cursor", "claude-code")
    rule = (cursor.project / ".cursor/rules/skill-learner.mdc").read_text()
    assert "`.claude/skill-learner-index.md`" in rule


# -- line ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("event", target.EVENTS)
def test_the_line_is_one_simple_command_without_a_comment(event: str) -> None:
    line = target.command_line(event)
    words = shlex.split(line, comments=True)
    assert words[:2] == ["sh", "-c"]
    assert len(words) == 3
    assert words == shlex.split(line)
    assert line.isascii()
    assert "\n" not in line


NASTY = [
    "C:\\Program Files\\Python\\python.exe",
    "C:\\Users\\O'Brien\\$env:TEMP\\a & b; c | d\\`x`\\hooks\\entry.py",
    "C:\\Üser \u2018x\u2019 \u201a\u201b # no comment\\%PATH%",
]


def powershell_words(command: str) -> list[str]:
    """The words of a command by PowerShell's rule for single quotes: nothing is expanded, a doubled
    quote is one, and each of the curly single quotes is a quote as well."""
    quotes = "'\u2018\u2019\u201a\u201b"
    assert command.startswith("& ")
    words, at = [], 2
    while at < len(command):
        assert command[at] in quotes
        word, at = "", at + 1
        while True:
            if command[at] in quotes:
                if at + 1 < len(command) and command[at + 1] in quotes:
                    word, at = word + command[at + 1], at + 2
                    continue
                break
            word, at = word + command[at], at + 1
        words.append(word)
        at += 1
        assert command[at : at + 1] in ("", " ")
        at += 1
    return words


def test_powershell_gets_every_word_as_it_is() -> None:
    launch = [NASTY[0], "-I", "-S", *NASTY[1:]]
    entry = target.windows_entry("stop", launch)
    call, _, after = entry["command"].rpartition("; ")
    assert powershell_words(call) == [*launch, "cursor", "stop"]
    assert after == "exit 0"  # also where the interpreter or the package is gone


@pytest.mark.process
@pytest.mark.skipif(shutil.which("pwsh") is None, reason="PowerShell is not installed")
def test_powershell_itself_gets_every_word_as_it_is(tmp_path: Path) -> None:
    script = tmp_path / "O'Brien $x & \u2019" / "words.py"
    script.parent.mkdir()
    script.write_text("import sys; print(*sys.argv[1:], sys.stdin.read(), sep='\\n')")
    python = shutil.which("python3")
    assert python is not None
    command = target.windows_entry("stop", [python, str(script), NASTY[1]])["command"]
    done = subprocess.run(
        ["pwsh", "-NoProfile", "-Command", command],
        input="payload",
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split("\n")[:4] == [NASTY[1], "cursor", "stop", "payload"]


# -- scopes -------------------------------------------------------------------------------------


def test_for_all_projects(cursor: CursorSandbox, snapshot: Callable[[Path], set[str]]) -> None:
    install("cursor", "user", cursor.project, cursor.state)
    assert snapshot(cursor.home) == {
        ".cursor/hooks.json",
        ".cursor/skills/skill-learner/SKILL.md",
    }
    assert snapshot(cursor.project) == set()
    (found,) = [s for s in installation_status(cursor.state, cursor.project) if s.installed]
    assert (found.scope, found.complete) == ("user", True)
    uninstall("cursor", "user", cursor.project, cursor.state)
    assert snapshot(cursor.home) == set()


@pytest.fixture
def snapshot() -> Callable[[Path], set[str]]:
    """Names of all files below a folder, but for the state folder's."""

    def take(folder: Path) -> set[str]:
        names = (p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file())
        return {name for name in names if not name.startswith(".skill_learner/")}

    return take


def test_the_command_line_knows_cursor(cursor: CursorSandbox) -> None:
    arguments = ["--target", "cursor", "--project-dir", str(cursor.project)]

    def run(*words: str) -> Any:
        return CliRunner().invoke(cli, list(words), catch_exceptions=False)

    done = run("init", *arguments, "--rules", "mdc", "--provider", "offline")
    assert done.exit_code == 0, done.output
    assert "hooks.json" in done.output
    assert "## Learned" in (cursor.project / ".cursor/rules/skill-learner.mdc").read_text()
    refused = run("init", *arguments, "--local")
    assert refused.exit_code == 3
    assert "no settings of the scope local" in refused.output
    done = run("status", *arguments[2:], "--json")
    (row,) = json.loads(done.stdout)["installs"]
    assert (row["target"], row["complete"]) == ("cursor", True)
    assert run("doctor", *arguments[2:]).exit_code == 0
    assert run("uninstall", *arguments).exit_code == 0
    assert list(cursor.project.iterdir()) == []
