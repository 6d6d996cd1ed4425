"""The real Claude Code client, kept on loopback, with a home and a project of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from client_sandbox import Sandbox
from scripted_messages_api import ScriptedMessagesAPI

NEEDED = "SKILL_LEARNER_CLIENT_TESTS"
CLIENT = "SKILL_LEARNER_CLAUDE"
# Read at import: the fixture that gives every test a clean environment removes them.
_client_path, _required = os.environ.get(CLIENT, ""), os.environ.get(NEEDED) == "require"


@pytest.fixture(scope="session")
def claude_binary() -> Path:
    """The pinned client's executable, which scripts/test installs from npm where npm is present."""
    if _client_path and Path(_client_path).exists():
        return Path(_client_path).resolve()
    reason = f"no Claude Code client: {CLIENT} is not set (scripts/test sets it where npm is found)"
    if _required:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def sandbox(tmp_path: Path, claude_binary: Path) -> Iterator[Sandbox]:
    home, project = tmp_path / "home", tmp_path / "work" / "proj éct"
    home.mkdir()
    project.mkdir(parents=True)
    git = shutil.which("git")
    assert git, "the client tests need git"
    subprocess.run([git, "init", "-q", str(project)], check=True)
    with ScriptedMessagesAPI() as api:
        yield Sandbox(home=home, project=project, claude=claude_binary, api=api)
