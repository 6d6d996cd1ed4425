"""The real clients, each in a home and a project of its own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from claude_sandbox import ClaudeSandbox
from client_sandbox import ClientSandbox, client_sandbox
from codex_sandbox import CodexSandbox
from scripted_messages_api import ScriptedMessagesAPI
from scripted_responses_api import ScriptedResponsesAPI


@pytest.fixture
def claude(tmp_path: Path) -> Iterator[ClaudeSandbox]:
    yield from client_sandbox(ClaudeSandbox, ScriptedMessagesAPI, tmp_path)


@pytest.fixture
def codex(tmp_path: Path) -> Iterator[CodexSandbox]:
    for sandbox in client_sandbox(CodexSandbox, ScriptedResponsesAPI, tmp_path):
        sandbox.configure()
        yield sandbox


@pytest.fixture(params=["claude", "codex"])
def sandbox(request: pytest.FixtureRequest) -> ClientSandbox:
    """Each client in turn."""
    found: ClientSandbox = request.getfixturevalue(request.param)
    return found
