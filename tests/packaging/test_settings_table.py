"""docs/settings.md tells of every setting, its default, and whether a project may set it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from skill_learner.config import SkillLearnerConfig
from skill_learner.config_project import PROJECT_KEYS

ROOT = Path(__file__).resolve().parents[2]
_ROW = re.compile(r"^\| `(\w+)` \|(.*?)\|(.*)\|$", re.MULTILINE)
_PATHS = {"state_dir": "`~/.skill_learner`", "skills_dir": "`<state_dir>/skills`"}


@pytest.fixture
def rows() -> dict[str, tuple[str, str]]:
    text = (ROOT / "docs" / "settings.md").read_text(encoding="utf-8")
    return {key: (default.strip(), told.strip()) for key, default, told in _ROW.findall(text)}


def told(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str) and value:
        return f"`{value}`"
    return str(value) if isinstance(value, int | float) else ""


def test_every_setting_stands_there_with_its_default(rows: dict[str, tuple[str, str]]) -> None:
    defaults = {key: told(value) for key, value in SkillLearnerConfig().values().items()} | _PATHS
    assert {key: default for key, (default, _) in rows.items()} == defaults


def test_the_keys_of_a_project_are_marked(rows: dict[str, tuple[str, str]]) -> None:
    marked = {key for key, (_, meaning) in rows.items() if meaning.startswith("*project*")}
    assert marked == PROJECT_KEYS
