"""The reference validator of the skill format, where there is one: from Python 3.11 on."""

from __future__ import annotations

from pathlib import Path

import pytest

try:
    from skills_ref.validator import validate
except ImportError:
    validate = None


def spec_faults(folder: Path) -> list[str]:
    """What the reference finds wrong with a skill's folder; skips the test without it."""
    if validate is None:
        pytest.skip("skills_ref has no version for this Python")
    faults: list[str] = validate(folder)
    return faults
