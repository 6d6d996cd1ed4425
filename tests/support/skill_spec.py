"""The reference validator of the skill format, where there is one for this Python (from 3.11 on)."""

from __future__ import annotations

from pathlib import Path

import pytest


def spec_faults(folder: Path) -> list[str]:
    """What the reference finds wrong with a skill's folder; skips the test without it."""
    validator = pytest.importorskip("skills_ref.validator")
    faults: list[str] = validator.validate(folder)
    return faults
