"""The sandbox of `hook_sandbox`, and the payloads that a real client sent."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hook_sandbox import CHECKOUT, HookSandbox


@pytest.fixture
def hooks(tmp_path: Path) -> HookSandbox:
    return HookSandbox(tmp_path)


@pytest.fixture
def make_hooks() -> type[HookSandbox]:
    return HookSandbox


@pytest.fixture(scope="session")
def recorded_payloads() -> Path:
    shared = os.environ.get("SKILL_LEARNER_SHARED") or str(CHECKOUT.parent / "shared")
    folder = Path(shared) / "claude-code" / "payloads"
    if not folder.is_dir():
        pytest.skip(f"no recorded payloads at {folder}")
    return folder
