"""A project folder, a state folder, and the words to install into them."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from folder_contents import Contents, contents_of


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "my project"
    folder.mkdir()
    return folder


Git = Callable[..., str]


@pytest.fixture
def git() -> Git:
    """Runs git in a folder; the test is skipped where git is absent."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")

    def run(folder: Path, *arguments: str) -> str:
        command = ["git", "-c", "protocol.file.allow=always", "-C", str(folder), *arguments]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        return done.stdout

    return run


@pytest.fixture
def repository(project: Path, git: Git) -> Path:
    git(project, "init", "--quiet")
    return project


@pytest.fixture
def snapshot() -> Callable[[Path], Contents]:
    return contents_of
