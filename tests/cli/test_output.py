from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from skill_learner.cli import output


def test_control_characters_never_reach_the_terminal() -> None:
    text = "a\x1b]0;owned\x07b\u202ec\udcffd\te\n\x9b"
    assert output.printable(text) == "a�]0;owned�b�c�d\te\n�"


def test_a_pipe_gets_whole_aligned_lines(capsys: pytest.CaptureFixture[str]) -> None:
    output.show_table(("name", "text"), [("a", "x" * 300), ("longer", "two\nlines"), ("b", "")])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["name    text", f"a       {'x' * 300}", "longer  two lines", "b       -"]


def test_a_terminal_gets_a_table_with_names_as_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, hermetic_home: Path
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    inside = str(hermetic_home / "x")
    output.show_table(("name", "n"), [("[red]x[/red]", 3), (inside, 4)])
    shown = capsys.readouterr().out
    assert "[red]x[/red]" in shown
    assert "~/x " in shown
    assert inside not in shown
    assert len(shown.splitlines()) > 2


@pytest.mark.parametrize(("width", "folded"), [(80, True), (100, True), (300, False)])
def test_a_long_name_leaves_the_other_columns_room(
    width: int,
    folded: bool,
    capsys: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(output, "is_terminal", lambda: True)
    monkeypatch.setenv("COLUMNS", str(width))
    name = "rebuild-" * 7 + "cache"
    columns = ("name", "state", "scope", "uses", "description")
    rows = [
        (name, "active", "shop-0123456789abcdef", 3, "Use when the cache of the build is stale."),
        ("short", "candidate", "user", 0, "Use when it is short."),
    ]
    output.show_table(columns, rows)
    lines = [
        [cell.strip() for cell in line.replace("┃", "│").strip("│").split("│")]
        for line in capsys.readouterr().out.splitlines()
        if "│" in line or "┃" in line
    ]
    assert [line[1] for line in lines if line[1]] == ["state", "active", "candidate"]
    assert "".join(line[0] for line in lines) == f"name{name}short"
    assert (name in [line[0] for line in lines]) is not folded
    assert len(lines) < 12
    words = {word for line in lines for word in line[4].split()}
    assert {"cache", "stale.", "build"} <= words


def test_json_keeps_letters_and_survives_odd_file_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.show_json({"a": "ö", "b": "x\udcff"})
    shown = capsys.readouterr().out
    assert "ö" in shown
    assert json.loads(shown)["a"] == "ö"


@pytest.mark.process
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1:strict", "utf-8", "utf-16"])
def test_any_encoding_of_the_output_is_written_in(encoding: str, hermetic_home: Path) -> None:
    def run(*arguments: str) -> str:
        done = subprocess.run(
            [sys.executable, "-m", "skill_learner", *arguments],
            env={"HOME": str(hermetic_home), "PATH": os.defpath, "PYTHONIOENCODING": encoding},
            cwd=hermetic_home,
            capture_output=True,
            check=True,
        )
        # where ASCII is all that is asked for, click writes UTF-8
        return done.stdout.decode(encoding.partition(":")[0].replace("ascii", "utf-8"))

    run("remember", "--name", "db", "\u65e5\u672c\u8a9e: npm test needs a database")
    name = json.loads(run("list", "--candidates", "--json"))[0]["name"]
    for command in (["show", name], ["list", "--candidates"], ["show", name, "--evidence"]):
        assert name in run(*command)
    shown = json.loads(run("show", name, "--json"))
    assert "\u65e5\u672c\u8a9e" in shown["body"]
    assert "\u65e5\u672c\u8a9e" in json.dumps(json.loads(run("export")), ensure_ascii=False)


def by_shell(command: str, home: Path) -> subprocess.CompletedProcess[str]:
    line = f'"{sys.executable}" -m skill_learner {command}'
    env = {"HOME": str(home), "PATH": os.defpath}
    return subprocess.run(
        ["sh", "-c", line], env=env, cwd=home, capture_output=True, text=True, check=False
    )


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="streams are closed by a shell of POSIX")
@pytest.mark.parametrize(
    "command", ["list", "list --json", "init --target claude-code --project-dir .", "-V", "--help"]
)
def test_an_output_that_is_closed_stops_no_work(command: str, hermetic_home: Path) -> None:
    done = by_shell(f"{command} <&- >&-", hermetic_home)
    assert (done.returncode, done.stderr) == (0, "")
    assert by_shell(f"{command} >&- 2>&-", hermetic_home).returncode == 0


@pytest.mark.process
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("command", ["list", "list --json", "-V", "--help", "init --help"])
def test_an_output_that_takes_nothing_is_told_in_one_line(
    command: str, hermetic_home: Path
) -> None:
    done = by_shell(f"{command} > /dev/full", hermetic_home)
    assert (done.returncode, done.stderr) == (1, "error: No space left on device\n")


def test_progress_without_a_terminal_is_lines_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with output.progress("work") as step:
        step("one")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "one\n")


def test_a_time_that_never_was() -> None:
    assert output.when(None) == "never"


def test_a_text_that_needs_no_change_is_told_as_one_that_does() -> None:
    for point in (*range(0x2800), *range(0xD7F0, 0xE010), *range(0xFE00, 0x10000)):
        character = chr(point)
        assert output.printable(character) == output.printable(f"{character}\0")[:-1]
