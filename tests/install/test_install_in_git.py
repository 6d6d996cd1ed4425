"""What git sees of an install: nothing that the user would have to commit or ignore by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skill_learner import git as git_questions
from skill_learner.install import installer
from skill_learner.install.installer import install, uninstall
from skill_learner.models import Skill
from skill_learner.paths import StatePaths
from skill_learner.project import load_project, project_key, project_root, worktree_root
from skill_learner.publish.publisher import publish

pytestmark = pytest.mark.process

TARGET = "claude-code"
Git = Callable[..., str]
Snapshot = Callable[[Path], dict[str, "bytes | str | None"]]
IMPORT = b"@.claude/skill-learner-index.md"


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer.launcher, "compile_hot_modules", lambda root: None)


def untracked(git: Git, folder: Path) -> list[str]:
    lines = git(folder, "status", "--porcelain", "--untracked-files=all").splitlines()
    return sorted(line[3:] for line in lines)


def commit(git: Git, folder: Path, name: str, text: str) -> None:
    (folder / name).write_text(text)
    git(folder, "add", name)
    git(folder, "commit", "--quiet", "-m", "x")


def test_taking_out_what_is_committed_is_said_to_concern_everyone(
    repository: Path, state: StatePaths, git: Git
) -> None:
    install(TARGET, "project", repository, state)
    settings = ".claude/settings.json"
    commit(git, repository, settings, (repository / settings).read_text())
    notes = uninstall(TARGET, None, repository, state).notes
    (note,) = [one for one in notes if "tracked by git" in one]
    assert settings in note


def test_only_what_may_be_shared_shows_in_the_status(
    repository: Path, state: StatePaths, git: Git, snapshot: Snapshot
) -> None:
    before = snapshot(repository)
    install(TARGET, "project", repository, state)
    assert untracked(git, repository) == [".claude/settings.json", "CLAUDE.md"]
    exclude = (repository / ".git/info/exclude").read_text()
    assert "/.claude/skills/skill-learner\n" in exclude
    uninstall(TARGET, None, repository, state)
    assert untracked(git, repository) == []
    assert snapshot(repository)[".git/info/exclude"] == before[".git/info/exclude"]


@pytest.mark.parametrize(
    ("link", "leads_to", "folder"),
    [(".claude/skills", "../shared", "shared"), (".claude", "agent", "agent/skills")],
)
def test_what_lies_behind_a_link_is_kept_out_of_git_too(
    repository: Path, state: StatePaths, git: Git, link: str, leads_to: str, folder: str
) -> None:
    (repository / folder).mkdir(parents=True)
    (repository / link).parent.mkdir(exist_ok=True)
    (repository / link).symlink_to(leads_to)
    before = untracked(git, repository)
    install(TARGET, "project", repository, state)
    file = state.root / "skills" / "bake-bread" / "SKILL.md"
    file.parent.mkdir(parents=True)
    file.write_text("---\nname: bake-bread\n---\n")
    skill = Skill("bake-bread", "Use when baking.", "", "active", "p", str(file), "", True)
    publish(repository, [skill], state, token_budget=500)
    assert (repository / folder / "bake-bread").is_symlink()
    assert (repository / folder / "skill-learner" / "SKILL.md").is_file()
    settings = ".claude/settings.json" if link == ".claude/skills" else "agent/settings.json"
    assert set(untracked(git, repository)) == {*before, settings, "CLAUDE.md"}
    uninstall(TARGET, None, repository, state)
    assert ".claude/skills" not in (repository / ".git/info/exclude").read_text()


@pytest.mark.parametrize("present", [b"*.log", b"*.log\n", b"", None])
def test_the_exclude_file_is_restored(
    repository: Path, state: StatePaths, present: bytes | None
) -> None:
    exclude = repository / ".git/info/exclude"
    exclude.unlink()
    if present is None:
        exclude.parent.rmdir()
    else:
        exclude.write_bytes(present)
    install(TARGET, "project", repository, state)
    assert b"skill-learner" in exclude.read_bytes()
    uninstall(TARGET, None, repository, state)
    assert (exclude.read_bytes() if exclude.exists() else None) == present
    assert exclude.parent.exists() == (present is not None)


def test_tracked_notes_get_one_constant_line(repository: Path, state: StatePaths, git: Git) -> None:
    commit(git, repository, "CLAUDE.md", "# Ours\n")
    install(TARGET, "project", repository, state)
    block = (repository / "CLAUDE.md").read_bytes().split(b"begin -->\n")[1]
    assert block == IMPORT + b"\n<!-- skill-learner:end -->\n"
    assert b"Learned skills" in (repository / ".claude/skill-learner-index.md").read_bytes()
    assert untracked(git, repository) == [".claude/settings.json", "CLAUDE.md"]
    uninstall(TARGET, None, repository, state)
    assert untracked(git, repository) == []
    assert not (repository / ".claude").exists()


def test_tracked_notes_behind_a_link_count_too(
    repository: Path, state: StatePaths, git: Git
) -> None:
    commit(git, repository, "AGENTS.md", "# Ours\n")
    (repository / "CLAUDE.md").symlink_to("AGENTS.md")
    install(TARGET, "project", repository, state)
    assert IMPORT in (repository / "AGENTS.md").read_bytes()


def test_below_the_top_of_a_repository(repository: Path, state: StatePaths, git: Git) -> None:
    below = repository / "packages/ä b"
    below.mkdir(parents=True)
    report = install(TARGET, "project", below, state)
    assert any("below the top of its repository" in n and "--user" in n for n in report.notes)
    names = [name for name in untracked(git, repository) if "skill" in name]
    assert names == []
    record = load_project(state, project_key(repository))
    assert record is not None
    assert [i.root for i in record.installs] == [str(below)]
    install(TARGET, "project", repository, state)
    uninstall(TARGET, None, below, state)
    exclude = (repository / ".git/info/exclude").read_text()
    assert "packages" not in exclude
    assert "/.claude/skills/skill-learner\n" in exclude
    uninstall(TARGET, None, repository, state)
    assert "skill-learner" not in (repository / ".git/info/exclude").read_text()


def test_a_linked_worktree_shares_project_and_exclude_file(
    repository: Path, state: StatePaths, git: Git, tmp_path: Path
) -> None:
    commit(git, repository, "a", "")
    linked = tmp_path / "linked"
    git(repository, "worktree", "add", "--quiet", str(linked))
    assert project_root(linked) == repository
    assert worktree_root(linked) == linked.resolve()
    install(TARGET, "project", linked, state)
    assert untracked(git, linked) == [".claude/settings.json", "CLAUDE.md"]
    assert "skill-learner" in (repository / ".git/info/exclude").read_text()
    uninstall(TARGET, None, linked, state)
    assert untracked(git, linked) == []
    assert "skill-learner" not in (repository / ".git/info/exclude").read_text()


def test_a_submodule_is_a_project_of_its_own(
    repository: Path, state: StatePaths, git: Git, tmp_path: Path
) -> None:
    library = tmp_path / "library"
    library.mkdir()
    git(library, "init", "--quiet")
    commit(git, library, "b", "")
    git(repository, "submodule", "--quiet", "add", str(library), "sub")
    inner = repository / "sub"
    assert project_root(inner) == inner
    install(TARGET, "project", inner, state)
    assert untracked(git, inner) == [".claude/settings.json", "CLAUDE.md"]
    exclude = repository / ".git/modules/sub/info/exclude"
    assert "skill-learner" in exclude.read_text()
    uninstall(TARGET, None, inner, state)
    assert untracked(git, inner) == []


def test_without_git_the_rest_still_works(
    repository: Path, state: StatePaths, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    report = install(TARGET, "project", repository, state)
    assert any("git did not answer" in note for note in report.notes)
    assert (repository / ".claude/settings.json").is_file()
    uninstall(TARGET, None, repository, state)
    assert not (repository / ".claude").exists()


def test_variables_of_git_do_not_lead_us_elsewhere(
    repository: Path, git: Git, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GIT_DIR", str(tmp_path / "elsewhere"))
    monkeypatch.setenv("GIT_INDEX_FILE", str(tmp_path / "index"))
    assert git_questions.git_exclude_file(repository) == repository / ".git/info/exclude"
    monkeypatch.delenv("GIT_DIR")
    monkeypatch.delenv("GIT_INDEX_FILE")
    commit(git, repository, "star[1]*.md", "x")
    assert git_questions.is_git_tracked(repository, "star[1]*.md")
    assert not git_questions.is_git_tracked(repository, "*.md")
    assert not git_questions.is_git_tracked(tmp_path, "x")


def test_outside_a_repository_git_is_not_started(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    started: list[object] = []
    monkeypatch.setattr(git_questions.subprocess, "run", lambda *call, **_: started.append(call))
    assert git_questions.git_exclude_file(tmp_path) is None
    assert git_questions.git_worktrees(tmp_path) == []
    assert not started


def test_a_program_that_the_repository_names_is_not_started(
    repository: Path, git: Git, tmp_path: Path
) -> None:
    commit(git, repository, "a", "")
    trap = tmp_path / "trap"
    trap.write_text(f"#!/bin/sh\ntouch '{tmp_path}/sprung'\n")
    trap.chmod(0o755)
    git(repository, "config", "core.fsmonitor", str(trap))
    assert git_questions.is_git_tracked(repository, "a")
    assert not (tmp_path / "sprung").exists()
