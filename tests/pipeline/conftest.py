"""A state folder, journals as hooks write them, and services made of real parts."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skill_learner.config import SkillLearnerConfig
from skill_learner.files import ensure_private_dir
from skill_learner.hook_runtime.project_key import project_key
from skill_learner.interfaces import Reviewer
from skill_learner.jobs import JobStore, Wish
from skill_learner.journal import journal_path
from skill_learner.paths import StatePaths
from skill_learner.pipeline import PipelineServices
from skill_learner.wiring import build_services


@pytest.fixture
def config(tmp_path: Path) -> SkillLearnerConfig:
    return SkillLearnerConfig.from_dict({"state_dir": tmp_path / "state", "provider": "offline"})


@pytest.fixture
def paths(config: SkillLearnerConfig) -> StatePaths:
    ensure_private_dir(config.paths.root)
    return config.paths


@pytest.fixture
def jobs(paths: StatePaths) -> JobStore:
    return JobStore(paths)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = tmp_path / "project"
    folder.mkdir()
    return folder


def wish(session: str = "s1", reason: str = "nudge", **more: Any) -> Wish:
    values = {"project": "/p", "project_key": "p-1", "editor": "claude-code"}
    return Wish(session=session, reason=reason, **{**values, **more})


@pytest.fixture
def make_wish() -> Callable[..., Wish]:
    return wish


class JournalWriter:
    """Appends records in the hook's own form."""

    def __init__(self, paths: StatePaths, project: Path) -> None:
        self.paths = paths
        self.project = project
        self.key = project_key(os.fsencode(project))
        self._calls = 0

    def event(self, session: str, event: str, **payload: Any) -> Path:
        path = journal_path(self.paths, session)
        ensure_private_dir(path.parent)
        data = {"session_id": session, "hook_event_name": event, "cwd": str(self.project)}
        record = {
            "v": 1,
            "t": time.time(),
            "e": event,
            "ed": "claude-code",
            "k": self.key,
            "p": str(self.project),
            "c": 0,
            "d": {**data, **payload},
        }
        with path.open("ab") as handle:
            handle.write(b"\n" + json.dumps(record).encode())
        return path

    def prompt(self, session: str, text: str) -> Path:
        return self.event(session, "UserPromptSubmit", prompt=text)

    def bash(self, session: str, command: str, output: str, *, failed: bool = False) -> Path:
        self._calls += 1
        common = {
            "tool_name": "Bash",
            "tool_input": {"command": command},
            "tool_use_id": f"toolu_{session}_{self._calls}",
        }
        if failed:
            return self.event(
                session, "PostToolUseFailure", error=f"Exit code 1\n{output}", **common
            )
        response = {"stdout": output, "stderr": "", "interrupted": False}
        return self.event(session, "PostToolUse", tool_response=response, **common)

    def edit(self, session: str, file: str, old: str, new: str) -> Path:
        self._calls += 1
        place = str(self.project / file)
        return self.event(
            session,
            "PostToolUse",
            tool_name="Edit",
            tool_input={"file_path": place, "old_string": old, "new_string": new},
            tool_use_id=f"toolu_{session}_{self._calls}",
            tool_response={"filePath": place, "oldString": old, "newString": new},
        )

    def fixed_failure(self, session: str, *, ended: str = "Stop") -> Path:
        """A session in which a test fails, a file is changed, and the test passes."""
        self.prompt(session, "make the checkout tests pass")
        error = "FAILED tests/test_cart.py - ValueError: currency code missing in settings.toml"
        self.bash(session, "pytest tests/test_cart.py", error, failed=True)
        self.edit(session, "settings.toml", "[shop]", '[shop]\ncurrency = "EUR"')
        self.bash(session, "pytest tests/test_cart.py", "1 passed in 0.02s")
        return self.event(session, ended)

    def routine(self, session: str) -> Path:
        """A session in which nothing went wrong."""
        self.prompt(session, "list the files")
        self.bash(session, "ls", "README.md")
        return self.event(session, "Stop")

    def request(self, reason: str, session: str = "", key: str | None = None) -> Path:
        ensure_private_dir(self.paths.requests_dir)
        file = self.paths.requests_dir / f"{time.time_ns()}-{os.getpid()}"
        lines = {
            "reason": reason,
            "session": session,
            "project": str(self.project),
            "key": self.key if key is None else key,
            "editor": "claude-code",
        }
        file.write_text("".join(f"{name}={value}\n" for name, value in lines.items()))
        return file


@pytest.fixture
def journal(paths: StatePaths, project: Path) -> JournalWriter:
    return JournalWriter(paths, project)


class Published:
    """Stands for the editor's files: remembers what was published."""

    def __init__(self) -> None:
        self.calls: list[tuple[str, str]] = []

    def __call__(self, project: str, key: str) -> None:
        self.calls.append((project, key))


@pytest.fixture
def published() -> Published:
    return Published()


@pytest.fixture
def make_services(
    config: SkillLearnerConfig, paths: StatePaths, published: Published
) -> Callable[..., PipelineServices]:
    """Real parts; settings and reviewer may be given."""

    def make(reviewer: Reviewer | None = None, **settings: Any) -> PipelineServices:
        values = {"state_dir": config.state_dir, "provider": "offline", **settings}
        given = SkillLearnerConfig.from_dict(values)
        services = build_services(given, None)
        chosen = services.make_reviewer if reviewer is None else (lambda settings: reviewer)
        return replace(services, make_reviewer=chosen, publish=published)

    return make
