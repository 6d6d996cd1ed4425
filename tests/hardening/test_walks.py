"""What happens to users over time, walked through by command and hook as they would."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox

Run = Callable[..., Any]
INIT = ("init", "--target", "claude-code", "--provider", "offline")

pytestmark = pytest.mark.process


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


@pytest.fixture
def repository(hooks: HookSandbox) -> Path:
    shutil.rmtree(hooks.project / ".git")
    git(hooks.project, "init", "-q")
    (hooks.project / "README").write_text("x\n")
    git(hooks.project, "add", "README")
    git(hooks.project, "commit", "-q", "-m", "first")
    return hooks.project


def files_of(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def learned(run: Run) -> str:
    """A skill of this project that is active."""
    run("remember", "npm test needs a database")
    (name,) = [row["name"] for row in json.loads(run("list", "--candidates", "--json").stdout)]
    run("approve", name)
    return str(name)


def test_a_user_with_skills_and_hooks_by_hand(repository: Path, run: Run) -> None:
    mine = repository / ".claude" / "skills" / "deploy"
    mine.mkdir(parents=True)
    (mine / "SKILL.md").write_text("---\nname: deploy\ndescription: mine\n---\nby hand\n")
    (repository / ".claude" / "settings.json").write_text('{"hooks": {"Stop": []}, "model": "o"}')
    (repository / "CLAUDE.md").write_text("# Mine")
    before = files_of(repository)
    run(*INIT)
    name = learned(run)
    assert (repository / ".claude" / "skills" / name / "SKILL.md").is_file()
    assert (mine / "SKILL.md").read_bytes() == before[".claude/skills/deploy/SKILL.md"]
    status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"], cwd=repository, capture_output=True, check=True
    )
    assert name.encode() not in status.stdout
    run("uninstall", "--target", "claude-code")
    assert files_of(repository) == before


def test_what_was_not_there_is_told_by_its_right_name(repository: Path, run: Run) -> None:
    run(*INIT)
    told = run("uninstall", "--target", "claude-code", "--user").output
    assert "nothing of skill-learner was found in what `init --user` writes" in told
    run("uninstall", "--target", "claude-code")
    assert str(repository) in run("uninstall", "--target", "claude-code").output


def test_a_monorepo_is_one_project_whichever_folder_a_session_starts_in(
    hooks: HookSandbox, repository: Path, run: Run
) -> None:
    package = repository / "packages" / "a"
    package.mkdir(parents=True)
    told = run(*INIT, "--project-dir", str(package)).output
    assert "lies below the top of its repository" in told
    hooks.run("UserPromptSubmit", environ=hooks.environ(CLAUDE_PROJECT_DIR=str(package)))
    (record,) = hooks.records()
    assert record["p"] == str(repository)
    stations = json.loads(run("why", "--project-dir", str(repository), "--json").stdout)["stations"]
    assert stations[0]["what"].startswith("claude-code fired")


def test_worktrees_get_the_skills_and_lose_them_with_the_install(
    hooks: HookSandbox, repository: Path, run: Run, tmp_path: Path
) -> None:
    run(*INIT)
    name = learned(run)
    tree = tmp_path / "tree"
    git(repository, "worktree", "add", "-q", str(tree))
    environ = hooks.environ(CLAUDE_PROJECT_DIR=str(tree))
    hooks.run("SessionStart", hooks.payload("SessionStart", source="startup"), environ)
    assert (tree / ".claude" / "skills" / name / "SKILL.md").is_file()
    hooks.run("UserPromptSubmit", environ=environ)
    assert hooks.records()[-1]["p"] == str(repository)
    run("uninstall", "--target", "claude-code")
    assert not os.path.lexists(tree / ".claude" / "skills" / name)


def test_a_moved_project_takes_its_skills_along(
    hooks: HookSandbox, repository: Path, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(*INIT)
    name = learned(run)
    moved = tmp_path / "elsewhere"
    monkeypatch.chdir(tmp_path)
    repository.rename(moved)
    assert "folder gone" in run("status", "--all").output
    assert str(repository) in run("doctor", "--project-dir", str(moved), code=None).output
    run("project", "relink", str(repository), str(moved))
    assert (moved / ".claude" / "skills" / name / "SKILL.md").is_file()
    assert "folder gone" not in run("status", "--all").output
    run("uninstall", "--target", "claude-code", "--project-dir", str(moved))
    assert {path.name for path in moved.iterdir()} == {".git", "README"}


def test_a_removed_environment_is_told_once_a_session_and_mended_by_init(
    hooks: HookSandbox, repository: Path, run: Run
) -> None:
    run(*INIT)
    launcher = hooks.state / "hook.sh"
    lines = launcher.read_text().splitlines()
    gone = ["i='/gone/bin/python'" if line.startswith("i=") else line for line in lines]
    launcher.write_text("\n".join(gone) + "\n")
    told = json.loads(hooks.run("SessionStart", hooks.payload("SessionStart", source="startup")))
    assert "init --target claude-code" in told["systemMessage"]
    for event in ("UserPromptSubmit", "PostToolUse", "Stop", "SessionEnd"):
        assert hooks.run(event) == b""
    assert not (hooks.state / "journal").exists()
    assert "/gone/bin/python" in run("doctor", code=1).output
    run(*INIT)
    hooks.run("UserPromptSubmit")
    assert len(hooks.records()) == 1


def test_an_upgrade_to_another_place_is_one_init_and_no_second_entry(
    hooks: HookSandbox, repository: Path, run: Run
) -> None:
    """Another version or environment: the registered lines stay, only the launcher changes."""
    run(*INIT)
    settings = repository / ".claude" / "settings.json"
    before = settings.read_bytes()
    launcher = hooks.state / "hook.sh"
    launcher.write_bytes(launcher.read_bytes().replace(b"-I -S", b"-I"))
    run(*INIT)
    assert settings.read_bytes() == before
    assert b"-I -S" in launcher.read_bytes()
