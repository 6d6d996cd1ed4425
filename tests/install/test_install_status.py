"""What is said of an install: complete, switched off, alive, last fired."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skill_learner.install import installer
from skill_learner.install.installer import install
from skill_learner.install.launcher_file import launcher_path
from skill_learner.install.places import Scope
from skill_learner.install.status import ScopeStatus, installation_status
from skill_learner.paths import StatePaths
from skill_learner.project import project_key, register, relink


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer.launcher, "compile_hot_modules", lambda root: None)


def status(state: StatePaths, project: Path, scope: Scope = "project") -> ScopeStatus:
    every = installation_status(state, project)
    found = {s.scope: s for s in every if s.target == "claude-code"}
    assert set(found) == {"project", "local", "user"}
    return found[scope]


def test_nothing_is_installed(project: Path, state: StatePaths) -> None:
    found = status(state, project)
    assert not found.installed
    assert not found.complete
    assert found.problems == ()
    assert not state.root.exists()


@pytest.mark.parametrize("scope", ["project", "local", "user"])
def test_a_whole_install(project: Path, state: StatePaths, scope: Scope) -> None:
    install("claude-code", scope, project, state)
    found = status(state, project, scope)
    assert found.installed
    assert found.complete
    assert found.on_record
    assert found.launcher_alive
    assert found.problems == ()
    assert len(found.files) == 3
    other = status(state, project, "user" if scope == "project" else "project")
    assert not other.installed


@pytest.mark.parametrize(
    ("here", "for_user"),
    [("cursor", "claude-code"), ("cursor", "codex"), ("codex", "cursor"), ("claude-code", "codex")],
)
def test_an_install_stays_whole_when_another_editor_comes_for_the_user(
    project: Path, state: StatePaths, here: str, for_user: str
) -> None:
    install(here, "project", project, state)
    install(for_user, "user", project, state)
    every = {(s.target, s.scope): s for s in installation_status(state, project)}
    for found in (every[here, "project"], every[for_user, "user"]):
        assert found.complete, found


def test_a_hook_that_went_missing(project: Path, state: StatePaths) -> None:
    install("claude-code", "project", project, state)
    path = project / ".claude/settings.json"
    path.write_bytes(path.read_bytes().replace(b'"PreCompact"', b'"Precompact"'))
    found = status(state, project)
    assert found.missing == ("PreCompact",)
    assert found.installed
    assert not found.complete


def test_a_launcher_whose_python_is_gone(project: Path, state: StatePaths) -> None:
    install("claude-code", "project", project, state)
    text = launcher_path().read_text()
    start = text.index("\ni=") + 3
    launcher_path().write_text(
        text[:start] + "'/gone/it'\\''s/python'" + text[text.index("\n", start) :]
    )
    found = status(state, project)
    assert not found.launcher_alive
    assert "/gone/it's/python" in found.problems[0]
    launcher_path().unlink()
    assert "hook.sh is missing" in status(state, project).problems[0]


def test_settings_that_do_not_parse(project: Path, state: StatePaths) -> None:
    install("claude-code", "project", project, state)
    (project / ".claude/settings.json").write_text("{,}")
    (project / "CLAUDE.md").write_text("<!-- skill-learner:begin -->")
    problems = status(state, project).problems
    assert "settings.json:1:2" in problems[0]
    assert "CLAUDE.md:1" in problems[1]


def test_all_hooks_switched_off(project: Path, state: StatePaths, hermetic_home: Path) -> None:
    install("claude-code", "project", project, state)
    (hermetic_home / ".claude").mkdir()
    settings = hermetic_home / ".claude/settings.json"
    settings.write_text('{"disableAllHooks": true}')
    assert status(state, project).disabled_by == (str(settings),)


def test_when_a_hook_last_fired(project: Path, state: StatePaths) -> None:
    assert status(state, project).last_fired is None
    state.journal_dir.mkdir(parents=True)
    key = project_key(project)
    for name, at, editor, owner in (
        ("a", 1000, "claude-code", key),
        ("b", 3000, "claude-code", "another"),
        ("c", 4000, "cursor", key),
    ):
        journal = state.journal_dir / f"{name}.jsonl"
        journal.write_text(f'\n{{"v":1,"t":1,"e":"Stop","ed":"{editor}","k":"{owner}","d":{{}}}}')
        os.utime(journal, (at, at))
    assert status(state, project).last_fired == 1000
    assert status(state, project, "user").last_fired == 3000


def test_a_moved_projects_hooks_fired_under_its_earlier_key(
    project: Path, state: StatePaths, tmp_path: Path
) -> None:
    old, new = project, tmp_path / "moved"
    register(state, old)
    state.journal_dir.mkdir(parents=True)
    journal = state.journal_dir / "a.jsonl"
    record = f'{{"v":1,"t":1,"e":"Stop","ed":"claude-code","k":"{project_key(old)}","d":{{}}}}'
    journal.write_text("\n" + record)
    os.utime(journal, (1000, 1000))
    old.rename(new)
    relink(state, old, new)
    assert status(state, new).last_fired == 1000
