"""Payloads that were recorded from Codex."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(
    os.environ.get("SKILL_LEARNER_SHARED") or Path(__file__).resolve().parents[2].parent / "shared"
)


@pytest.fixture
def codex_payloads() -> Path:
    folder = SHARED / "codex" / "payloads"
    if not folder.is_dir():
        pytest.skip(f"no recorded payloads of Codex in {folder}")
    return folder
