"""Skills before the agent: links in its folder, an index in its notes, the rest untouched."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from skill_learner.install import installer
from skill_learner.install.installer import install, uninstall
from skill_learner.models import Skill
from skill_learner.paths import StatePaths
from skill_learner.project import project_key
from skill_learner.publish.publisher import PublishReport, publish, publish_user

TARGET = "claude-code"


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer.launcher, "compile_hot_modules", lambda root: None)


@pytest.fixture
def project(tmp_path: Path) -> Path:
    folder = Path(os.path.realpath(tmp_path)) / "project"
    folder.mkdir()
    return folder


@pytest.fixture
def skills(state: StatePaths) -> list[Skill]:
    found = []
    for name in ("fix-build", "run-tests"):
        folder = state.root / "skills" / name
        (folder / "scripts").mkdir(parents=True)
        (folder / "scripts/run.sh").write_text("echo\n")
        text = f"---\nname: {name}\ndescription: Use when {name}.\n---\nBody\n"
        (folder / "SKILL.md").write_text(text)
        found.append(
            Skill(name, f"Use when {name}.", "", "active", "p", str(folder / "SKILL.md"), "", True)
        )
    return found


def no_links(source: Path, link: Path) -> None:
    raise OSError("links are not allowed here")


def published(project: Path, skills: list[Skill], state: StatePaths) -> PublishReport:
    return publish(project, skills, state, token_budget=1_000)


def entries(project: Path) -> list[str]:
    return sorted(p.name for p in (project / ".claude/skills").iterdir())


def test_links_index_and_what_the_hook_reads(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    install(TARGET, "project", project, state)
    report = published(project, skills, state)
    assert report == PublishReport(linked=("fix-build", "run-tests"), index=True)
    link = project / ".claude/skills/fix-build"
    assert link.is_symlink()
    assert "Use when fix-build" in (link / "SKILL.md").read_text()
    assert "- fix-build: Use when fix-build." in (project / "CLAUDE.md").read_text()
    key = project_key(project)
    folder = state.root / "skills"
    assert (state.published_dir / key).read_text() == (
        f"fix-build\t{folder}/fix-build\nrun-tests\t{folder}/run-tests\n"
    )
    index = (state.published_dir / f"{key}.index.md").read_text()
    assert index.rstrip("\n") in (project / "CLAUDE.md").read_text()
    assert not published(project, skills, state).index


def test_a_skill_no_longer_given_goes(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    install(TARGET, "project", project, state)
    published(project, skills, state)
    shutil.rmtree(state.root / "skills/fix-build")  # archived meanwhile: the link dangles
    report = published(project, skills[1:], state)
    assert report.removed == ("fix-build",)
    assert entries(project) == ["run-tests", "skill-learner"]
    assert "fix-build" not in (project / "CLAUDE.md").read_text()


@pytest.mark.parametrize("kind", ["folder", "file", "link elsewhere"])
def test_an_entry_of_the_users_is_never_touched(
    project: Path, state: StatePaths, skills: list[Skill], kind: str
) -> None:
    install(TARGET, "project", project, state)
    entry = project / ".claude/skills/fix-build"
    if kind == "folder":
        entry.mkdir()
        (entry / "SKILL.md").write_text("mine")
    elif kind == "file":
        entry.write_text("mine")
    else:
        (project / "mine").mkdir()
        entry.symlink_to(project / "mine")
    report = published(project, skills, state)
    assert report.linked == ("run-tests",)
    assert report.skipped[0][0] == "fix-build"
    assert "is yours" in report.skipped[0][1]
    assert "fix-build" not in (state.published_dir / project_key(project)).read_text()
    published(project, [], state)
    uninstall(TARGET, None, project, state)
    assert entries(project) == ["fix-build"]


def test_copies_where_links_do_not_work(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    install(TARGET, "project", project, state)

    def copied(these: list[Skill]) -> PublishReport:
        return publish(project, these, state, token_budget=1_000, make_link=no_links)

    (state.root / "skills/fix-build/secret").symlink_to("/etc/hostname")
    assert copied(skills).linked == ("fix-build", "run-tests")
    copy = project / ".claude/skills/fix-build"
    assert (copy / "scripts/run.sh").read_text() == "echo\n"
    assert not (copy / "secret").exists()
    source = Path(skills[0].path)
    source.write_text(source.read_text() + "More\n")
    copied(skills)
    assert (copy / "SKILL.md").read_text().endswith("More\n")
    (copy / "SKILL.md").write_text("the user's now")
    assert copied(skills).skipped[0][0] == "fix-build"
    assert copied([]).removed == ("run-tests",)
    assert (copy / "SKILL.md").read_text() == "the user's now"


def test_the_names_that_cannot_be_linked_are_told(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    install(TARGET, "project", project, state)
    (state.root / "skills/run-tests/SKILL.md").unlink()
    seed = Skill("skill-learner", "x", "", "active", "p", skills[0].path, "", True)
    report = published(project, [*skills, seed], state)
    assert dict(report.skipped).keys() == {"run-tests", "skill-learner"}
    assert "name: skill-learner" in (project / ".claude/skills/skill-learner/SKILL.md").read_text()


def test_a_user_install_links_without_touching_the_projects_notes(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    install(TARGET, "user", project, state)
    report = published(project, skills, state)
    assert report.linked == ("fix-build", "run-tests")
    assert not report.index
    assert not (project / "CLAUDE.md").exists()
    uninstall(TARGET, "user", project, state)
    assert list(project.iterdir()) == []


def test_without_any_install_nothing_is_put_into_the_project(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    assert published(project, skills, state).linked == ()
    assert list(project.iterdir()) == []


def test_hooks_that_a_teammate_committed_are_an_install_too(
    project: Path, state: StatePaths, skills: list[Skill], tmp_path: Path
) -> None:
    install(TARGET, "project", project, StatePaths(tmp_path / "state of the teammate"))
    report = published(project, skills, state)
    assert report.linked == ("fix-build", "run-tests")
    assert "- fix-build" in (project / "CLAUDE.md").read_text()
    (project / "CLAUDE.md").unlink()
    assert not published(project, skills, state).index
    assert not (project / "CLAUDE.md").exists()


def test_user_wide_skills(
    project: Path, state: StatePaths, skills: list[Skill], hermetic_home: Path
) -> None:
    install(TARGET, "user", project, state)
    report = publish_user(skills, state, token_budget=1_000)
    assert report.linked == ("fix-build", "run-tests")
    assert (hermetic_home / ".claude/skills/fix-build").is_symlink()
    assert "- run-tests" in (hermetic_home / ".claude/CLAUDE.md").read_text()
    uninstall(TARGET, "user", project, state)
    assert not (hermetic_home / ".claude").exists()


def test_damaged_notes_are_left_and_noted_while_links_come(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    install(TARGET, "project", project, state)
    damaged = (project / "CLAUDE.md").read_bytes() * 2
    (project / "CLAUDE.md").write_bytes(damaged)
    report = published(project, skills, state)
    assert report.linked == ("fix-build", "run-tests")
    assert "a second begin marker" in report.notes[0]
    assert (project / "CLAUDE.md").read_bytes() == damaged


def test_a_skills_folder_that_leads_out_of_the_project_is_left(
    project: Path, state: StatePaths, skills: list[Skill], tmp_path: Path
) -> None:
    install(TARGET, "project", project, state)
    shutil.rmtree(project / ".claude/skills")
    outside = tmp_path / "outside"
    outside.mkdir()
    (project / ".claude/skills").symlink_to(outside)
    report = published(project, skills, state)
    assert "leads out of the project" in report.notes[0]
    assert list(outside.iterdir()) == []


def test_uninstall_is_exact_after_publishing(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    (project / "CLAUDE.md").write_bytes(b"# Mine")
    install(TARGET, "project", project, state)
    published(project, skills, state)
    install(TARGET, "project", project, state)
    assert "- fix-build" in (project / "CLAUDE.md").read_text()
    uninstall(TARGET, None, project, state)
    assert [p.name for p in project.iterdir()] == ["CLAUDE.md"]
    assert (project / "CLAUDE.md").read_bytes() == b"# Mine"
    assert (state.root / "skills/fix-build/SKILL.md").is_file()


@pytest.mark.process
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_git_sees_neither_links_nor_a_growing_index(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    def git(*arguments: str) -> str:
        command = ["git", "-C", str(project), *arguments]
        return subprocess.run(command, capture_output=True, text=True, check=True).stdout

    git("init", "--quiet")
    (project / "CLAUDE.md").write_text("# Ours\n")
    install(TARGET, "project", project, state)
    published(project, skills[:1], state)
    git("add", ".")
    git("commit", "--quiet", "-m", "all")
    assert git("ls-files").split() == [".claude/settings.json", "CLAUDE.md"]
    published(project, skills, state)
    assert git("status", "--porcelain").split() == ["M", "CLAUDE.md"]  # once: block becomes import
    git("commit", "--quiet", "-a", "-m", "import line")
    published(project, skills[:1], state)
    published(project, skills, state)
    assert git("status", "--porcelain") == ""
    assert "- run-tests" in (project / ".claude/skill-learner-index.md").read_text()
    uninstall(TARGET, None, project, state)
    assert git("status", "--porcelain", "--ignored").split("\n")[:2] == [
        " D .claude/settings.json",
        " M CLAUDE.md",
    ]
    assert (project / "CLAUDE.md").read_text() == "# Ours\n"


def test_the_folder_that_links_of_another_install_needed_goes_with_the_last(
    project: Path, state: StatePaths, skills: list[Skill]
) -> None:
    install(TARGET, "project", project, state)
    install(TARGET, "user", project, state)
    published(project, skills, state)
    uninstall(TARGET, None, project, state)
    assert entries(project) == ["fix-build", "run-tests"]
    uninstall(TARGET, "user", project, state)
    assert list(project.iterdir()) == []


@pytest.mark.process
@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_uninstall_reaches_what_the_hook_gave_to_other_worktrees(
    project: Path, state: StatePaths, skills: list[Skill], tmp_path: Path
) -> None:
    linked = tmp_path / "linked tree"
    for arguments in (
        ["init", "--quiet"],
        ["commit", "--quiet", "--allow-empty", "-m", "x"],
        ["worktree", "add", "--quiet", "-b", "side", str(linked)],
    ):
        subprocess.run(["git", "-C", str(project), *arguments], check=True, capture_output=True)
    install(TARGET, "project", project, state)
    published(project, skills, state)
    (linked / ".claude/skills").mkdir(parents=True)
    (linked / ".claude/skills/fix-build").symlink_to(state.root / "skills/fix-build")
    index = (state.published_dir / f"{project_key(project)}.index.md").read_bytes()
    (linked / ".claude/skill-learner-index.md").write_bytes(index)
    seed = project / ".claude/skills/skill-learner"
    shutil.copytree(seed, linked / ".claude/skills/skill-learner")
    uninstall(TARGET, None, project, state)
    assert [p.name for p in linked.iterdir()] == [".git"]
