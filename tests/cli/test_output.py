from __future__ import annotations

import json
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


def test_json_keeps_letters_and_survives_odd_file_names(
    capsys: pytest.CaptureFixture[str],
) -> None:
    output.show_json({"a": "ö", "b": "x\udcff"})
    shown = capsys.readouterr().out
    assert "ö" in shown
    assert json.loads(shown)["a"] == "ö"


def test_progress_without_a_terminal_is_lines_on_stderr(
    capsys: pytest.CaptureFixture[str],
) -> None:
    with output.progress("work") as step:
        step("one")
    captured = capsys.readouterr()
    assert (captured.out, captured.err) == ("", "one\n")


def test_a_time_that_never_was() -> None:
    assert output.when(None) == "never"
