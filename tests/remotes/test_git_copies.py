"""The copy that a git remote works on: taken from a folder as a clone takes it, or fetched."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from remote_homes import Home, MakeHome, git, home_maker, unsound

from skill_learner.remotes import git_copy
from skill_learner.remotes.git_program import GitFailedError, GitProgram

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "git"


@pytest.fixture
def commands(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The git commands that are run."""
    found: list[str] = []
    run = GitProgram.run

    def told(self: GitProgram, *arguments: str, **more: Any) -> bytes:
        found.append(arguments[0])
        return run(self, *arguments, **more)

    monkeypatch.setattr(GitProgram, "run", told)
    return found


def with_skills(home: Home) -> None:
    for name in ("deploy", "rollback"):
        home.add(name)
    home.sync()


def how_taken(commands: list[str]) -> set[str]:
    return {"clone", "fetch"} & set(commands)


def copy_of(home: Home) -> Path:
    return home.config.paths.remotes_dir / "team.git"


def test_a_folder_is_copied_and_shares_no_file_with_the_copy(
    make_home: MakeHome, bare: Path, commands: list[str]
) -> None:
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    del commands[:]
    two.sync()
    assert how_taken(commands) == {"clone"}
    assert two.names() == ["deploy", "rollback"]
    files = [path for path in copy_of(two).rglob("*") if path.is_file()]
    assert any("objects" in path.parts for path in files)
    assert {path.stat().st_nlink for path in files} == {1}
    refs = git(copy_of(two), "for-each-ref", "--format=%(refname)").split()
    assert refs == ["refs/remotes/origin/shared"]
    two.patch("deploy", "First step.", "First by two.")
    two.sync()
    one.sync()
    assert "First by two." in one.library.get("deploy").body
    assert "clone" not in commands[commands.index("clone") + 1 :]


def test_damage_in_the_copy_is_none_of_the_remote(make_home: MakeHome, bare: Path) -> None:
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    two.sync()
    for path in [*copy_of(two).glob("objects/??/*"), *copy_of(two).glob("objects/pack/*")]:
        path.chmod(0o600)
        path.write_bytes(path.read_bytes()[:5])
    assert unsound(bare) == []
    one.patch("deploy", "First step.", "First by one.")
    one.sync()
    two.sync()
    assert "First by one." in two.library.get("deploy").body


def shallow(bare: Path) -> None:
    whole = bare.rename(bare.with_name("whole.git"))
    git(bare.parent, "clone", "--quiet", "--bare", "--depth=1", f"file://{whole}", str(bare))


def borrowing(bare: Path) -> None:
    whole = bare.rename(bare.with_name("whole.git"))
    git(bare.parent, "clone", "--quiet", "--bare", "--shared", str(whole), str(bare))


def linked(bare: Path) -> None:
    (bare / "objects" / "info" / "link").symlink_to("/etc/hostname")


def piped(bare: Path) -> None:
    os.mkfifo(bare / "objects" / "info" / "pipe")


def large(bare: Path) -> None:
    (bare / "objects" / "info" / "large").write_bytes(b"x" * 1_000_000)


def many(bare: Path) -> None:
    for number in range(501):
        (bare / "objects" / "info" / f"{number}").touch()


@pytest.mark.parametrize("odd", [shallow, borrowing, linked, piped, large, many])
def test_what_a_copy_would_not_be_whole_or_quick_of_is_fetched(
    make_home: MakeHome,
    bare: Path,
    commands: list[str],
    monkeypatch: pytest.MonkeyPatch,
    odd: Callable[[Path], None],
) -> None:
    monkeypatch.setattr(git_copy, "_MOST_COPIED_BYTES", 500_000)
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    odd(bare)
    del commands[:]
    two.sync()
    assert how_taken(commands) == {"fetch"}
    assert two.names() == ["deploy", "rollback"]


def test_a_repository_with_a_work_tree_is_copied_too(
    make_home: MakeHome, bare: Path, tmp_path: Path, commands: list[str]
) -> None:
    with_skills(make_home("one"))
    git(tmp_path, "clone", "--quiet", str(bare), "clone")
    two = home_maker(str(tmp_path / "clone"), tmp_path)("two", direction="pull")
    del commands[:]
    two.sync()
    assert how_taken(commands) == {"clone"}
    assert two.names() == ["deploy", "rollback"]


@pytest.mark.parametrize("fails", ["clone", "update-ref", "rename"])
def test_a_copy_that_cannot_be_made_is_fetched(
    make_home: MakeHome, commands: list[str], monkeypatch: pytest.MonkeyPatch, fails: str
) -> None:
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    run = GitProgram.run

    def failing(self: GitProgram, *arguments: str, **more: Any) -> bytes:
        if arguments[0] == fails:
            raise GitFailedError(fails, "no")
        return run(self, *arguments, **more)

    def no_rename(*_: object) -> None:
        raise OSError("no")

    monkeypatch.setattr(GitProgram, "run", failing)
    if fails == "rename":
        monkeypatch.setattr(os, "rename", no_rename)
    two.sync(direction="pull")
    monkeypatch.undo()
    assert two.names() == ["deploy", "rollback"]
    assert not copy_of(two).with_name("team.git.new").exists()


def test_what_a_kill_left_of_a_copy_is_taken_away(make_home: MakeHome) -> None:
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    left = copy_of(two).with_name("team.git.new")
    (left / "objects").mkdir(parents=True)
    (left / "HEAD").touch()
    two.sync()
    assert two.names() == ["deploy", "rollback"]
    assert not left.exists()


def test_a_remote_that_is_damaged_gives_nothing_until_it_is_sound(
    make_home: MakeHome, bare: Path, tmp_path: Path
) -> None:
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    sound = shutil.copytree(bare, tmp_path / "sound.git")
    git(bare, "repack", "-adq")
    for path in bare.glob("objects/pack/*.pack"):
        path.chmod(0o600)
        data = path.read_bytes()
        path.write_bytes(data[:40] + bytes(byte ^ 0xFF for byte in data[40:-40]) + data[-40:])
    report = two.synchroniser().sync()
    assert "could not be" in report.error
    assert two.names() == []
    shutil.rmtree(bare)
    sound.rename(bare)
    two.sync()
    assert two.names() == ["deploy", "rollback"]
