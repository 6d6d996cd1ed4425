"""Projects: identity, records, and what a move carries over."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skill_learner.errors import InstallError
from skill_learner.install import installer, records
from skill_learner.install.installer import install, uninstall
from skill_learner.paths import StatePaths
from skill_learner.project import (
    ProjectInstall,
    list_projects,
    load_project,
    project_key,
    project_root,
    register,
    relink,
)
from skill_learner.tally import unreviewed


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer.launcher, "compile_hot_modules", lambda root: None)


def test_a_folder_outside_of_git_is_its_own_project(project: Path) -> None:
    assert project_root(project) == project
    below = project / "a"
    below.mkdir()
    assert project_root(below) == below
    assert project_key(project).startswith("my-project-")
    assert project_key(project) != project_key(below)


def test_records_are_kept_and_told(project: Path, state: StatePaths) -> None:
    assert list_projects(state) == []
    first = register(state, project)
    added = ProjectInstall("claude-code", "local", str(project))
    second = register(state, project, add=added, made_dirs=("/x",))
    register(state, project, add=added, made_dirs=("/x",))
    (known,) = list_projects(state)
    assert known.installs == (added,)
    assert known.made_dirs == ("/x",)
    assert known.first_seen == first.first_seen <= second.last_seen
    register(state, project, drop=added)
    (known,) = list_projects(state)
    assert known.installs == ()
    file = state.projects_dir / f"{project_key(project)}.json"
    assert file.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    "damage", ["", "{", "[]", '{"key": "x"}', '{"key":1,"path":2,"installs":3}']
)
def test_a_damaged_record_is_no_record(project: Path, state: StatePaths, damage: str) -> None:
    key = register(state, project).key
    (state.projects_dir / f"{key}.json").write_text(damage)
    assert list_projects(state) == []
    assert register(state, project).path == str(project)


def test_a_moved_project_keeps_what_is_known_of_it(
    project: Path, state: StatePaths, tmp_path: Path
) -> None:
    (project / "CLAUDE.md").write_bytes(b"# Mine")
    install("claude-code", "project", project, state)
    old = project_key(project)
    state.tally_dir.mkdir()
    (state.tally_dir / old).write_bytes(b"." * 7)
    (state.tally_dir / f"{old}.base").write_text("3")
    state.published_dir.mkdir()
    (state.published_dir / old).write_text("a\t/b\n")
    (state.published_dir / f"{old}.index.md").write_text("index")
    state.news_dir.mkdir()
    others = [
        (state.published_dir, "{}.errors"),
        (state.tally_dir, "{}.wait"),
        (state.news_dir, "{}"),
        (state.news_dir, ".{}.json"),
    ]
    for folder, name in others:
        (folder / name.format(old)).write_text("known")
    moved = tmp_path / "moved"
    os.rename(project, moved)
    moved = moved.resolve()
    new = project_key(moved)
    (state.tally_dir / new).write_bytes(b"..")  # a session ran there before the relink

    done = relink(state, project, moved)

    assert done.scopes == {old: new}
    assert done.record.aliases == (old,)
    assert [i.root for i in done.record.installs] == [str(moved)]
    assert list_projects(state) == [done.record]
    assert load_project(state, old) == done.record
    assert unreviewed(state, new) == 6
    assert not (state.tally_dir / old).exists()
    assert (state.published_dir / new).read_text() == "a\t/b\n"
    assert [(folder / name.format(new)).read_text() for folder, name in others] == ["known"] * 4
    assert [path for path in state.root.rglob("*") if old in path.name] == []
    (record,) = records.load_all(state)
    assert record.root == str(moved)
    assert {f.path for f in record.files} >= {str(moved / "CLAUDE.md")}
    uninstall("claude-code", None, moved, state)
    assert (moved / "CLAUDE.md").read_bytes() == b"# Mine"
    assert not (moved / ".claude").exists()


def test_a_project_moved_twice_remembers_both_keys(
    project: Path, state: StatePaths, tmp_path: Path
) -> None:
    keys = [register(state, project).key]
    place = project
    for name in ("second", "third"):
        new = (tmp_path / name).resolve()
        os.rename(place, new)
        done = relink(state, keys[-1] if name == "third" else place, new)
        keys.append(done.record.key)
        place = new
    assert done.scopes == {keys[0]: keys[2], keys[1]: keys[2]}


def test_what_was_not_moved_is_refused(project: Path, state: StatePaths, tmp_path: Path) -> None:
    register(state, project)
    other = tmp_path / "other"
    other.mkdir()
    with pytest.raises(InstallError, match="still stands there"):
        relink(state, project, other)
    with pytest.raises(InstallError, match="no such folder"):
        relink(state, project, tmp_path / "nowhere")
    with pytest.raises(InstallError, match="no project is known"):
        relink(state, tmp_path / "unknown", other)
    assert relink(state, project, project).scopes == {}


def test_the_error_names_projects_that_are_gone(
    project: Path, state: StatePaths, tmp_path: Path
) -> None:
    register(state, project)
    project.rmdir()
    with pytest.raises(InstallError) as caught:
        relink(state, "unknown", tmp_path)
    assert str(project) in caught.value.hint


def test_uninstall_of_a_folder_that_is_gone_forgets_it(project: Path, state: StatePaths) -> None:
    install("claude-code", "project", project, state)
    os.rename(project, project.with_name("away"))
    report = uninstall("claude-code", None, project, state)
    assert records.load_all(state) == []
    assert any("relink" in note for note in report.notes)
