"""A state folder of another program version, or another user's."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox

from skill_learner.errors import StateError
from skill_learner.paths import StatePaths
from skill_learner.state_format import FORMAT, MIGRATIONS, open_state

Run = Callable[..., Any]


@pytest.fixture
def paths(tmp_path: Path) -> StatePaths:
    root = tmp_path / "state"
    root.mkdir()
    return StatePaths(root)


def test_every_step_to_the_format_of_today_is_there() -> None:
    assert set(MIGRATIONS) == set(range(1, FORMAT))


def test_a_folder_from_before_the_number_is_the_first_format(paths: StatePaths) -> None:
    open_state(paths)
    assert paths.format.read_text() == f"{FORMAT}\n"
    assert paths.format.stat().st_mode & 0o777 == 0o600
    open_state(StatePaths(paths.root / "not there"))
    assert not (paths.root / "not there").exists()


@pytest.mark.parametrize("text", [f"{FORMAT + 1}\n", "999999", "", "two", "1.5"])
def test_a_newer_or_unknown_format_is_refused_and_nothing_changes(
    hooks: HookSandbox, run: Run, text: str
) -> None:
    (hooks.state / "format").write_text(text)
    before = {path: path.read_bytes() for path in hooks.state.rglob("*") if path.is_file()}
    for command in (("list",), ("status",), ("review",), ("remember", "x"), ("doctor",)):
        assert "error: " in run(*command, code=9).output
    after = {path: path.read_bytes() for path in hooks.state.rglob("*") if path.is_file()}
    assert after == before


@pytest.mark.process
def test_hooks_go_on_recording_beside_a_newer_program(hooks: HookSandbox) -> None:
    (hooks.state / "format").write_text("999")
    hooks.run("UserPromptSubmit")
    assert len(hooks.records()) == 1


class Steps:
    """Two migrations of a file, which may be cut off."""

    def __init__(self) -> None:
        self.cut_at = ""
        self.ran: list[str] = []

    def first(self, paths: StatePaths) -> None:
        self._change(paths, "first")

    def second(self, paths: StatePaths) -> None:
        self._change(paths, "second")

    def _change(self, paths: StatePaths, name: str) -> None:
        self.ran.append(name)
        for part in ("a", "b"):
            if self.cut_at == f"{name} {part}":
                raise KeyboardInterrupt
            file = paths.root / f"{part}.json"
            done = json.loads(file.read_text()) if file.exists() else []
            if name not in done:
                file.write_text(json.dumps([*done, name]))

    def run(self, paths: StatePaths) -> None:
        open_state(paths, current=3, migrations={1: self.first, 2: self.second})


@pytest.mark.parametrize("cut_at", ["first a", "first b", "second a", "second b"])
def test_an_interrupted_migration_is_made_whole_by_the_next_start(
    paths: StatePaths, cut_at: str
) -> None:
    steps = Steps()
    steps.cut_at = cut_at
    with pytest.raises(KeyboardInterrupt):
        steps.run(paths)
    steps.cut_at = ""
    steps.run(paths)
    for part in ("a", "b"):
        assert json.loads((paths.root / f"{part}.json").read_text()) == ["first", "second"]
    assert paths.format.read_text() == "3\n"
    ran = len(steps.ran)
    steps.run(paths)
    assert len(steps.ran) == ran


@pytest.mark.skipif(os.name == "nt", reason="owners are numbers on POSIX")
def test_another_users_folder_is_refused(
    hooks: HookSandbox, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "geteuid", lambda: hooks.state.stat().st_uid + 1)
    assert "belongs to another user" in run("status", code=9).output
    with pytest.raises(StateError):
        open_state(StatePaths(hooks.state))
    assert not (hooks.state / "format").exists()


def test_a_purge_knows_every_name_in_the_state_folder(paths: StatePaths) -> None:
    """Whatever the product puts there goes with it, and nothing of anybody else."""
    from skill_learner.install.purge import purge_state

    properties = [name for name, value in vars(StatePaths).items() if isinstance(value, property)]
    assert len(properties) > 18
    for name in properties:
        getattr(paths, name).mkdir()
    for name in (".request-123", ".x.json.abcdefgh.sl-draft", "usage.sqlite-wal", "format.lock"):
        (paths.root / name).touch()
    (paths.root / "mine.txt").touch()
    _, notes = purge_state(paths)
    assert [path.name for path in paths.root.iterdir()] == ["mine.txt"]
    assert "mine.txt" in notes[0]
