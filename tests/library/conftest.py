"""A library in a temporary folder, and drafts for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skill_learner.models import CreateSkill, Skill, SkillState
from skill_learner.skills.library import SkillLibrary


@pytest.fixture
def library(tmp_path: Path) -> SkillLibrary:
    return SkillLibrary(tmp_path / "skills")


Create = Callable[..., Skill]


@pytest.fixture
def create(library: SkillLibrary) -> Create:
    def make(
        name: str = "fix-build",
        body: str = "# Fix\n\nRun first.\nRun second.\n",
        *,
        state: SkillState = "candidate",
        scope: str = "shop-1",
        session: str = "s1",
    ) -> Skill:
        draft = CreateSkill(name, "Use when the build fails", body, (), 1.0, "trigger", "remedy")
        return library.create(
            draft,
            state=state,
            scope=scope,
            project_slug=scope.split("-", maxsplit=1)[0],
            origin="offline",
            session=session,
        )

    return make


@pytest.fixture
def hand_write(library: SkillLibrary) -> Callable[..., Path]:
    def write(name: str, text: str = "", file: str = "SKILL.md") -> Path:
        folder = library.skills_dir / name
        folder.mkdir(parents=True)
        path = folder / file
        path.write_text(text or f"---\nname: {name}\ndescription: Use by hand.\n---\nMine.\n")
        return path

    return write
