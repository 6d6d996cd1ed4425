"""Many skills of a git remote: their files are read while they are taken, or not at all."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from remote_homes import MakeHome

from skill_learner.remotes import git as git_module
from skill_learner.remotes import git_reading, open_remote
from skill_learner.remotes.git_program import GitFailedError, GitProgram

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "git"


def test_of_many_skills_the_files_are_read_while_they_are_taken(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_module, "_MANY", 3)
    monkeypatch.setattr(git_reading, "_BATCH_BYTES", 100)
    one, two = make_home("one"), make_home("two")
    for number in range(9):
        one.add(f"skill-{number}")
    one.sync()
    ran: list[str] = []
    run = GitProgram.run

    def noted(self: GitProgram, *arguments: str, **more: Any) -> bytes:
        ran.append(arguments[0])
        return run(self, *arguments, **more)

    monkeypatch.setattr(GitProgram, "run", noted)
    remote = open_remote(two.settings, two.config.paths.remotes_dir / "copy", "m-00000000")
    pulled = remote.pull("")
    assert [len(skill.files or {}) for skill in pulled.skills] == [2] * 9
    assert "cat-file" not in ran[ran.index("ls-tree") :]
    assert {path for skill in pulled.skills for path in skill.files or {}} == {
        *("SKILL.md", ".provenance.json")
    }
    assert ran.count("cat-file") > 3
    two.sync()
    assert len(two.names()) == 9


@pytest.mark.parametrize(
    ("how", "told"),
    [
        ("refused", "could not be read: bad object"),
        ("cut off", "is missing in the copy"),
        ("another object", "is missing in the copy"),
        ("another size", "is missing in the copy"),
    ],
)
def test_a_copy_that_turns_out_damaged_while_skills_are_taken_is_fetched_again(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch, how: str, told: str
) -> None:
    """The ids and sizes of its files are known, but not what they held."""
    monkeypatch.setattr(git_module, "_MANY", 3)
    one, two = make_home("one"), make_home("two")
    for number in range(4):
        one.add(f"skill-{number}")
    one.sync()
    run = GitProgram.run

    def unreadable(self: GitProgram, *arguments: str, **more: Any) -> bytes:
        raw = run(self, *arguments, **more)
        if "--buffer" not in arguments:
            return raw
        if how == "refused":
            raise GitFailedError("cat-file", "bad object")
        if how == "cut off":
            return raw[:-9]
        return b"x" + raw[1:] if how == "another object" else raw.replace(b"---", b"----", 1)

    with monkeypatch.context() as damaged:
        damaged.setattr(GitProgram, "run", unreadable)
        for dry_run in (True, False):
            report = two.synchroniser().sync(dry_run=dry_run)
            assert told in report.error
            assert report.outcomes == []
    assert two.names() == []
    two.sync()
    assert len(two.names()) == 4


def test_a_file_that_is_missing_in_the_copy_is_seen_before_anything_is_taken(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_module, "_MANY", 1)
    one, two = make_home("one"), make_home("two")
    one.add("deploy")
    one.sync()
    pieces, listed = GitProgram.pieces, []

    def missing_once(self: GitProgram, *arguments: str) -> Iterator[bytes]:
        raw = b"".join(pieces(self, *arguments))
        listed.append(raw)
        if len(listed) == 1:
            raw = re.sub(rb" +\d+\t", b"     BAD\t", raw)
        yield raw

    monkeypatch.setattr(GitProgram, "pieces", missing_once)
    two.sync()
    assert two.names() == ["deploy"]
    assert len(listed) == 2
