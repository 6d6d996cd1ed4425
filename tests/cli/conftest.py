from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from skill_learner.cli.group import cli
from skill_learner.config import SkillLearnerConfig
from skill_learner.models import CreateSkill, Skill, SkillState
from skill_learner.project import project_key, project_root
from skill_learner.wiring import build_library

Run = Callable[..., Result]
RunJson = Callable[..., Any]
Add = Callable[..., Skill]


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project folder that the commands stand in."""
    folder = tmp_path / "pröject one"
    (folder / ".git").mkdir(parents=True)
    (folder / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def run(project: Path) -> Run:
    """Run a command as in a pipe; it must succeed unless `code` says otherwise."""

    def invoke(*arguments: str, code: int = 0, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(cli, arguments, input=stdin)
        assert result.exit_code == code, result.output
        return result

    return invoke


@pytest.fixture
def run_json(run: Run) -> RunJson:
    def invoke(*arguments: str) -> Any:
        return json.loads(run(*arguments, "--json").stdout)

    return invoke


@pytest.fixture
def add_skill(project: Path) -> Add:
    """Put a skill into the library, as a review does."""

    def add(name: str, state: SkillState = "active", body: str = "Do it.\n", **more: str) -> Skill:
        draft = CreateSkill(
            name=name,
            description=more.get("description", f"Use when {name} matters."),
            body=body,
            evidence=(),
        )
        return build_library(SkillLearnerConfig.load()).create(
            draft,
            state=state,
            scope=more.get("scope", project_key(project_root(project))),
            project_slug="project",
            origin="offline",
            session="s1",
        )

    return add
