"""Cursor, played by these tests, with its hooks installed in a home of its own."""

from __future__ import annotations

from pathlib import Path

import pytest
from cursor_sandbox import SHARED, CursorSandbox

from skill_learner.install import installer


@pytest.fixture
def cursor(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> CursorSandbox:
    monkeypatch.setattr(installer.launcher, "compile_hot_modules", lambda root: None)
    sandbox = CursorSandbox(tmp_path)
    monkeypatch.setenv("HOME", str(sandbox.home))
    return sandbox


@pytest.fixture(scope="session")
def payloads() -> Path:
    """The folder of Cursor's documented and recorded payloads."""
    folder = SHARED / "cursor" / "payloads"
    if not folder.is_dir():
        pytest.skip(f"{folder}: not there (set SKILL_LEARNER_SHARED)")
    return folder
