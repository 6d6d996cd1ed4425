"""Git's words, all at once or as they come."""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from remote_homes import empty_repository

from skill_learner.errors import RemoteUnavailableError
from skill_learner.remotes import git_program
from skill_learner.remotes.git_program import GitFailedError, GitProgram

pytestmark = pytest.mark.process


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """With a commit of 400 files, of which one has a name with a line end."""
    folder = empty_repository(tmp_path / "bare.git")
    files = [f"M 644 inline {n}\ndata 1\nx\n" for n in range(399)]
    files.append('M 644 inline "a\\nb"\ndata 1\nx\n')
    stream = "commit refs/heads/main\ncommitter a <a@b> 1 +0000\ndata 0\n" + "".join(files)
    GitProgram(folder).run("fast-import", "--quiet", data=stream.encode())
    return folder


def slow_git(folder: Path, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    program = folder / "bin" / "git"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}{os.pathsep}{os.environ['PATH']}")


def test_the_pieces_are_what_is_told_at_once(
    repository: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(git_program, "_PIECE_BYTES", 1000)
    arguments = ("ls-tree", "-r", "-z", "main")
    pieces = [*GitProgram(repository).pieces(*arguments)]
    assert len(pieces) > 10
    assert b"".join(pieces) == GitProgram(repository).run(*arguments)


def test_a_failure_is_told_after_the_last_piece(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_git(tmp_path, "echo some; seq 100000 >&2; echo fatal: no more >&2; exit 3", monkeypatch)
    pieces = GitProgram(tmp_path).pieces("ls-tree")
    assert next(pieces) == b"some\n"
    with pytest.raises(GitFailedError, match="fatal: no more") as raised:
        next(pieces)
    assert raised.value.status == 3


def test_a_git_that_goes_on_for_too_long_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_git(tmp_path, "echo some; exec sleep 60", monkeypatch)
    began = time.monotonic()
    with pytest.raises(RemoteUnavailableError, match=r"ls-tree did not end within 0\.3 s"):
        list(GitProgram(tmp_path, seconds=0.3).pieces("ls-tree"))
    assert time.monotonic() - began < 30


def test_a_git_that_nobody_listens_to_any_more_is_ended(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    slow_git(tmp_path, f"echo $$ > {tmp_path}/pid; echo some; exec sleep 60", monkeypatch)
    pieces = GitProgram(tmp_path).pieces("ls-tree")
    assert next(pieces) == b"some\n"
    pieces.close()
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "pid").read_text()), 0)


def test_without_a_git_it_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RemoteUnavailableError, match="git cannot be started"):
        list(GitProgram(tmp_path).pieces("ls-tree"))
    with pytest.raises(RemoteUnavailableError, match="git cannot be started"):
        GitProgram(tmp_path).run("ls-tree")
