"""The real Codex client, kept on loopback, with a home and a project of its own."""

from __future__ import annotations

import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from codex_sandbox import CodexSandbox
from scripted_responses_api import ScriptedResponsesAPI

NEEDED = "SKILL_LEARNER_CLIENT_TESTS"
CLIENT = "SKILL_LEARNER_CODEX"
SHARED = Path(
    os.environ.get("SKILL_LEARNER_SHARED") or Path(__file__).resolve().parents[2].parent / "shared"
)
# Read at import: the fixture that gives every test a clean environment removes them.
_client_path, _required = os.environ.get(CLIENT, ""), os.environ.get(NEEDED) == "require"


@pytest.fixture(scope="session")
def codex_binary() -> Path:
    """The pinned client's executable, which scripts/test installs from npm where npm is present."""
    if _client_path and Path(_client_path).exists():
        return Path(_client_path).resolve()
    reason = f"no Codex client: {CLIENT} is not set (scripts/test sets it where npm is found)"
    if _required:
        pytest.fail(reason)
    pytest.skip(reason)


@pytest.fixture
def sandbox(tmp_path: Path, codex_binary: Path) -> Iterator[CodexSandbox]:
    home, project = tmp_path / "home", tmp_path / "work" / "proj éct"
    home.mkdir()
    project.mkdir(parents=True)
    git = shutil.which("git")
    assert git, "the client tests need git"
    subprocess.run([git, "init", "-q", str(project)], check=True)
    with ScriptedResponsesAPI() as api:
        codex = CodexSandbox(home=home, project=project, codex=codex_binary, api=api)
        codex.configure()
        yield codex


@pytest.fixture
def codex_payloads() -> Path:
    folder = SHARED / "codex" / "payloads"
    if not folder.is_dir():
        pytest.skip(f"no recorded payloads of Codex in {folder}")
    return folder
