"""What `init` writes for Codex, and what Codex, asked, says of it."""

from __future__ import annotations

import json
import os
import subprocess
import time
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skill_learner.cli.installs import install_warnings, installs_here
from skill_learner.config import SkillLearnerConfig
from skill_learner.install import installer
from skill_learner.install.index_text import render_index
from skill_learner.install.installer import install, uninstall
from skill_learner.install.places import places_for
from skill_learner.install.status import ScopeStatus, installation_status
from skill_learner.models import Skill
from skill_learner.paths import StatePaths
from skill_learner.publish.publisher import publish
from skill_learner.targets import codex as target
from skill_learner.targets import get_target


@pytest.fixture
def state(hermetic_home: Path, monkeypatch: pytest.MonkeyPatch) -> StatePaths:
    monkeypatch.setattr(installer.launcher, "compile_hot_modules", lambda root: None)
    return StatePaths(hermetic_home / ".skill_learner")


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "my project"
    folder.mkdir()
    return folder


def status(state: StatePaths, project: Path) -> ScopeStatus:
    every = installation_status(state, project)
    return next(s for s in every if (s.target, s.scope) == ("codex", "project"))


def skill(folder: Path, name: str) -> Skill:
    path = folder / name / "SKILL.md"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("x")
    words = "Use when " + "the build of the site stops with an error of the pipeline " * 3
    return Skill(name, words, "", "active", "user", str(path), "", True)


# -- notes --------------------------------------------------------------------------------------


def test_the_index_tells_how_codex_loads_a_skill() -> None:
    block, own = target.index_texts(render_index(["- one: first"]), "block")
    assert own is None
    assert "by reading its SKILL.md" in block
    assert "Skill tool" not in block
    assert target.own_index(render_index([]).encode(), b"").decode() in (
        target.index_texts(render_index([]), "file")[1] or ""
    )


def test_an_index_beyond_what_codex_reads_stands_in_a_file(
    project: Path, state: StatePaths, tmp_path: Path
) -> None:
    notes = project / "AGENTS.md"
    house = b"# House rules\n" + b"x" * (target.NOTES_LIMIT - 3000) + b"\n"
    notes.write_bytes(house)
    install("codex", "project", project, state)
    index = project / target.INDEX_IMPORT
    assert not index.exists()
    assert b"## Learned skills" in notes.read_bytes()

    skills = [skill(tmp_path / "library", f"skill-{n}") for n in range(30)]
    publish(project, skills, state, token_budget=5000)
    assert b"## Learned skills" not in notes.read_bytes()
    assert target.INDEX_IMPORT.encode() in notes.read_bytes()
    assert len(notes.read_bytes()) < target.NOTES_LIMIT
    assert "- skill-29: " in index.read_text()
    assert status(state, project).problems == ()
    uninstall("codex", "project", project, state)
    assert notes.read_bytes() == house
    assert not index.exists()


def test_a_block_that_codex_no_longer_reads_is_a_problem(project: Path, state: StatePaths) -> None:
    notes = project / "AGENTS.md"
    notes.write_bytes(b"x" * target.NOTES_LIMIT + b"\n")
    install("codex", "project", project, state)
    (problem,) = status(state, project).problems
    assert "reads no more" in problem
    notes.write_bytes(notes.read_bytes().lstrip(b"x"))
    assert status(state, project).problems == ()


# -- what Codex says ----------------------------------------------------------------------------

FAKE = """#!/usr/bin/env python3
import json, os, sys
assert os.environ["SKILL_LEARNER_REVIEW"] == "1"
with open({log!r}, "a") as log:
    log.write(" ".join(sys.argv[1:]) + "\\n")
for line in sys.stdin:
    asked = json.loads(line)
    if asked.get("method") == "hooks/list":
        print(json.dumps({{"method": "noise"}}), flush=True)
        print(json.dumps({{"id": asked["id"], "result": {result}}}), flush=True)
    elif "id" in asked:
        print(json.dumps({{"id": asked["id"], "result": {{}}}}), flush=True)
"""


class FakeCodex:
    """A program `codex` on PATH that answers hooks/list with what it is given."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.log = folder / "log"
        self._program = folder / "bin" / "codex"
        self._program.parent.mkdir()
        monkeypatch.setenv("PATH", f"{self._program.parent}:{os.environ['PATH']}")
        monkeypatch.setattr(target, "_ANSWERS", {})

    def says(self, result: Any) -> None:
        text = FAKE.format(log=str(self.log), result=repr(result))
        self.is_program(text)

    def is_program(self, text: str) -> None:
        self._program.write_text(text)
        self._program.chmod(0o755)


@pytest.fixture
def fake(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> FakeCodex:
    return FakeCodex(tmp_path, monkeypatch)


pytestmark = pytest.mark.process


@pytest.mark.parametrize(
    ("states", "reason"),
    [
        ({}, None),
        ({"trustStatus": "managed"}, None),
        ({"trustStatus": "untrusted"}, "8 of 8 hooks are not trusted yet"),
        ({"trustStatus": "modified"}, "8 of 8 hooks are changed since they were trusted"),
        ({"enabled": False}, "8 of 8 hooks are switched off"),
        ({"command": "other"}, "Codex does not read"),
        ({"sourcePath": "/elsewhere/hooks.json"}, "Codex does not read"),
    ],
)
def test_what_codex_says_of_our_hooks(
    states: dict[str, Any],
    reason: str | None,
    fake: FakeCodex,
    project: Path,
    state: StatePaths,
) -> None:
    install("codex", "project", project, state)
    settings = places_for(get_target("codex"), "project", project).settings
    hooks = json.loads(settings.read_text())["hooks"].values()
    listed = [
        {"sourcePath": str(settings), "enabled": True, "trustStatus": "trusted", **hook, **states}
        for groups in hooks
        for group in groups
        for hook in group["hooks"]
    ]
    fake.says({"data": [{"cwd": "/", "hooks": listed}]})
    found = status(state, project).not_run
    assert (found == ()) if reason is None else (reason in found[0])
    assert status(state, project).not_run == found
    assert fake.log.read_text() == "app-server\n", "asked once a process"


@pytest.mark.parametrize("result", [None, 7, {}, {"data": None}, {"data": [7, {"hooks": 7}]}])
def test_an_answer_of_another_shape_says_nothing(result: Any, fake: FakeCodex) -> None:
    fake.says(result)
    found = target.hooks_not_run("/work/.codex/hooks.json", "/work")
    assert found == [] or "does not read" in found[0]


@pytest.mark.parametrize(
    "text", ["#!/bin/sh\nexit 1\n", "#!/bin/sh\necho nonsense\n", "#!/nowhere\n"]
)
def test_a_codex_that_cannot_be_asked_says_nothing(text: str, fake: FakeCodex) -> None:
    fake.is_program(text)
    assert target.hooks_not_run("/work/.codex/hooks.json", "/work") == []


def test_a_codex_that_hangs_is_ended(fake: FakeCodex, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(target, "_PATIENCE", 0.3)
    fake.is_program("#!/bin/sh\nexec sleep 60\n")
    began = time.monotonic()
    assert target.hooks_not_run("/work/.codex/hooks.json", "/work") == []
    assert time.monotonic() - began < 10


def test_nobody_is_asked_where_nothing_is_installed(
    fake: FakeCodex, project: Path, state: StatePaths
) -> None:
    fake.says({"data": []})
    assert status(state, project).not_run == ()
    assert not fake.log.exists()


# -- where it reaches ---------------------------------------------------------------------------


def repository(folder: Path) -> Path:
    git = ["git", "-C", str(folder)]
    subprocess.run([*git, "init", "-q"], check=True)
    subprocess.run([*git, "commit", "-q", "--allow-empty", "-m", "x"], check=True)
    tree = folder.parent / "tree"
    subprocess.run([*git, "worktree", "add", "-q", str(tree), "-b", "t"], check=True)
    (folder / "docs").mkdir()
    return tree


def test_sessions_below_and_in_worktrees_are_reached(project: Path, state: StatePaths) -> None:
    tree = repository(project)
    config = replace(SkillLearnerConfig(), state_dir=state.root)
    install("codex", "project", project, state)
    assert "no editor is set up here" in install_warnings(config, tree)[0]
    (tree / ".codex").mkdir()
    for folder in (project, project / "docs", tree):
        assert install_warnings(config, folder) == [], folder
        assert [s.root for s in installs_here(config, folder)] == [str(project)]
    install("claude-code", "project", project, state)
    uninstall("codex", "project", project, state)
    assert "does not read the settings" in install_warnings(config, project / "docs")[0]
    assert "no editor is set up here" in install_warnings(config, tree)[0]


def test_an_install_below_the_top_says_how_far_it_reaches(project: Path, state: StatePaths) -> None:
    repository(project)
    notes = install("codex", "project", project / "docs", state).notes
    assert any("or below, not elsewhere in the repository" in note for note in notes)


# -- init ---------------------------------------------------------------------------------------


def test_init_says_how_to_trust(project: Path, state: StatePaths) -> None:
    report = install("codex", "project", project, state)
    assert target.APPROVAL in report.notes
    assert not any("trust" in note for note in install("cursor", "project", project, state).notes)


def test_every_shell_takes_the_line_as_one_command() -> None:
    """So that the parent of the hook's process is Codex, whose pid tells whether it lives."""
    probe = target.command_line("Stop").replace(
        'h="${HOME:-}/.skill_learner/hook.sh"', 'echo "$PPID"; exit 0; h=""'
    )
    for shell in ("sh", "bash", "dash"):
        done = subprocess.run([shell, "-c", probe], capture_output=True, text=True, check=True)
        assert int(done.stdout) == os.getpid(), shell
