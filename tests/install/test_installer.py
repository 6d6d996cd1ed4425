"""init and uninstall on real folders: what is written, what stays, and what is refused."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from skill_spec import spec_faults

from skill_learner import files
from skill_learner.errors import InstallError
from skill_learner.install import installer
from skill_learner.install.installer import install, installed, uninstall
from skill_learner.install.launcher_file import read_launcher
from skill_learner.install.places import Scope
from skill_learner.paths import StatePaths
from skill_learner.project import load_project, project_key
from skill_learner.targets import claude_code

TARGET = "claude-code"
Snapshot = Callable[[Path], dict[str, "bytes | str | None"]]
SEED = ".claude/skills/skill-learner/SKILL.md"
FOREIGN_SETTINGS = b'{\r\n\t"model": "opus",\r\n\t"hooks": {"Stop": [{"hooks": []}]}\r\n}'


@pytest.fixture(autouse=True)
def no_compiling(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installer.launcher, "compile_hot_modules", lambda root: None)


def settings_of(path: Path) -> dict[str, Any]:
    value: dict[str, Any] = json.loads(path.read_bytes().removeprefix(b"\xef\xbb\xbf"))
    return value


def test_a_bare_project_gets_everything_and_gives_it_back(
    project: Path, state: StatePaths, hermetic_home: Path, snapshot: Snapshot
) -> None:
    report = install(TARGET, "project", project, state)
    assert sorted(p for p in snapshot(project) if (project / p).is_file()) == [
        ".claude/settings.json",
        SEED,
        "CLAUDE.md",
    ]
    hooks = settings_of(project / ".claude/settings.json")["hooks"]
    assert hooks == {event: [claude_code.settings_entry(event)] for event in claude_code.EVENTS}
    assert {Path(path).name for path, _ in report.rows} >= {"hook.sh", "CLAUDE.md", "settings.json"}
    launcher = read_launcher()
    assert launcher is not None
    assert launcher.is_alive
    assert launcher.state_dir == str(state.root)
    assert (hermetic_home / ".skill_learner/hook.sh").stat().st_mode & 0o777 == 0o600
    record = load_project(state, project_key(project))
    assert record is not None
    assert [(i.target, i.scope, i.root) for i in record.installs] == [
        (TARGET, "project", str(project))
    ]

    uninstall(TARGET, None, project, state)
    assert snapshot(project) == {}
    assert installed(state) == []
    assert read_launcher() is None


def test_twice_is_byte_identical_to_once(
    project: Path, state: StatePaths, snapshot: Snapshot
) -> None:
    install(TARGET, "project", project, state)
    once = snapshot(project)
    report = install(TARGET, "project", project, state)
    assert snapshot(project) == once
    assert {what for _, what in report.rows} == {"unchanged"}


def test_dry_run_writes_nothing(
    project: Path, state: StatePaths, hermetic_home: Path, snapshot: Snapshot
) -> None:
    report = install(TARGET, "project", project, state, dry_run=True)
    assert report.dry_run
    assert (str(project / "CLAUDE.md"), "created: index of learned skills") in report.rows
    assert snapshot(project) == {}
    assert snapshot(hermetic_home) == {}


@pytest.mark.parametrize("scope", ["project", "local", "user"])
@pytest.mark.parametrize("settings", [FOREIGN_SETTINGS, b"", b"{}", b"\xef\xbb\xbf{}\n", None])
@pytest.mark.parametrize("notes", [b"# Mine", b"\xef\xbb\xbfa\r\nb\r\n", None])
def test_files_are_byte_identical_after_uninstall(
    project: Path,
    state: StatePaths,
    hermetic_home: Path,
    snapshot: Snapshot,
    *,
    scope: Scope,
    settings: bytes | None,
    notes: bytes | None,
) -> None:
    root = hermetic_home if scope == "user" else project
    settings_name = "settings.local.json" if scope == "local" else "settings.json"
    notes_path = root / (".claude/CLAUDE.md" if scope == "user" else "CLAUDE.md")
    if settings is not None:
        (root / ".claude").mkdir()
        (root / ".claude" / settings_name).write_bytes(settings)
    if notes is not None:
        notes_path.parent.mkdir(exist_ok=True)
        notes_path.write_bytes(notes)
    before = snapshot(root)
    install(TARGET, scope, project, state)
    install(TARGET, scope, project, state)
    assert len(settings_of(root / ".claude" / settings_name)["hooks"]) == len(claude_code.EVENTS)
    assert b"skill-learner:begin" in notes_path.read_bytes()
    uninstall(TARGET, scope, project, state, purge=True)
    assert snapshot(root) == before


def test_only_ours_goes_when_others_changed_the_files(project: Path, state: StatePaths) -> None:
    (project / "CLAUDE.md").write_bytes(b"# Mine\n")
    install(TARGET, "project", project, state)
    path = project / ".claude/settings.json"
    changed = settings_of(path)
    changed["model"] = "haiku"
    path.write_text(json.dumps(changed))
    with (project / "CLAUDE.md").open("ab") as handle:
        handle.write(b"Added later.\n")
    uninstall(TARGET, None, project, state)
    assert settings_of(path) == {"model": "haiku"}
    assert (project / "CLAUDE.md").read_bytes() == b"# Mine\nAdded later.\n"


def test_init_again_after_a_foreign_change_still_leads_back_to_it(
    project: Path, state: StatePaths
) -> None:
    install(TARGET, "project", project, state)
    path = project / ".claude/settings.json"
    path.write_bytes(path.read_bytes().replace(b'{\n  "hooks"', b'{\n  "model": "x",\n  "hooks"'))
    install(TARGET, "project", project, state)
    uninstall(TARGET, None, project, state)
    assert path.read_bytes() == b'{\n  "model": "x"\n}\n'


def test_uninstall_without_any_record(
    project: Path, state: StatePaths, snapshot: Snapshot, tmp_path: Path
) -> None:
    (project / "CLAUDE.md").write_bytes(b"# Mine\n")
    install(TARGET, "project", project, state)
    uninstall(TARGET, None, project, StatePaths(tmp_path / "another state"))
    left = snapshot(project)
    assert left.pop("CLAUDE.md") == b"# Mine\n"
    assert all(content is None for content in left.values())


def test_uninstall_where_nothing_is_installed_changes_nothing(
    project: Path, state: StatePaths, snapshot: Snapshot, hermetic_home: Path
) -> None:
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_bytes(b'{ "a" : 1 }')
    before = snapshot(project)
    report = uninstall(TARGET, None, project, state)
    assert snapshot(project) == before
    assert {what for _, what in report.rows} <= {"unchanged"}
    assert snapshot(hermetic_home) == {}


def test_hooks_of_an_older_version_are_replaced(project: Path, state: StatePaths) -> None:
    (project / ".claude").mkdir()
    path = project / ".claude/settings.json"
    old = claude_code.settings_entry("Stop")
    old["hooks"][0] |= {"timeout": 3, "statusMessage": "learning"}
    gone = {"hooks": [{"type": "command", "command": claude_code.command_line("PostToolBatch")}]}
    path.write_text(json.dumps({"hooks": {"Stop": [old, old], "PostToolBatch": [gone]}}))
    install(TARGET, "project", project, state)
    hooks = settings_of(path)["hooks"]
    assert hooks == {event: [claude_code.settings_entry(event)] for event in claude_code.EVENTS}
    uninstall(TARGET, None, project, state)
    assert not path.exists()


# -- refusals: nothing at all is written --------------------------------------------------------


DANGLING = {
    "dangling notes": "CLAUDE.md",
    "dangling folder": ".claude",
    "dangling skills": ".claude/skills",
}


def make_refusing(project: Path, case: str) -> None:
    settings, notes = project / ".claude/settings.json", project / "CLAUDE.md"
    if case != "dangling folder":
        settings.parent.mkdir()
    outside = project.parent / "outside.md"
    outside.write_text("not yours")
    if case == "comment in the settings":
        settings.write_text('{\n  // mine\n  "a": 1\n}')
    elif case == "damaged markers":
        notes.write_text("<!-- skill-learner:begin -->\n")
    elif case in DANGLING:
        (project / DANGLING[case]).symlink_to("nowhere")
    elif case == "notes lead out":
        notes.symlink_to(outside)
    elif case == "settings lead out":
        settings.symlink_to(outside.with_name("elsewhere.json"))
        outside.with_name("elsewhere.json").write_text("{}")
    elif case == "skills lead out":
        (project / ".claude/skills").symlink_to(project.parent)
    elif case == "notes are a folder":
        notes.mkdir()
    elif case == "folder is a file":
        (project / ".claude/skills").write_text("")


REFUSALS = {
    "comment in the settings": "settings.json:2:3: comments are not allowed",
    "damaged markers": "CLAUDE.md:1: a begin marker without its end",
    "dangling notes": "does not exist",
    "dangling folder": ".claude: is a link to ",
    "dangling skills": ".claude/skills: is a link to ",
    "notes lead out": "leads out of the project",
    "settings lead out": "leads out of the project",
    "skills lead out": "leads out of the project",
    "notes are a folder": "CLAUDE.md",
    "folder is a file": "cannot be",
}


@pytest.mark.parametrize("case", REFUSALS)
def test_what_is_not_safe_is_refused_before_the_first_write(
    case: str, project: Path, state: StatePaths, hermetic_home: Path, snapshot: Snapshot
) -> None:
    make_refusing(project, case)
    before = snapshot(project.parent)
    with pytest.raises(InstallError):
        install(TARGET, "project", project, state, dry_run=True)
    with pytest.raises(InstallError) as caught:
        install(TARGET, "project", project, state)
    assert REFUSALS[case] in caught.value.message
    assert snapshot(project.parent) == before
    assert snapshot(hermetic_home) == {}


@pytest.mark.parametrize("name", ["CLAUDE.md", ".claude"])
def test_what_is_read_only_is_refused(
    name: str, project: Path, state: StatePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    (project / "CLAUDE.md").write_text("")
    (project / ".claude").mkdir()
    real = os.access
    monkeypatch.setattr(
        os, "access", lambda path, mode: real(path, mode) and os.fspath(path) != str(project / name)
    )
    with pytest.raises(InstallError, match=r"read-only|cannot be written to"):
        install(TARGET, "project", project, state)
    assert not (project / ".claude/settings.json").exists()


def test_a_missing_project_folder_is_an_error(tmp_path: Path, state: StatePaths) -> None:
    with pytest.raises(InstallError, match="there is no such folder"):
        install(TARGET, "project", tmp_path / "nowhere", state)
    with pytest.raises(InstallError) as caught:
        install("emacs", "project", tmp_path, state)
    assert "claude-code" in caught.value.hint


# -- links, the user's own things ---------------------------------------------------------------


def test_links_within_the_project_are_written_through(project: Path, state: StatePaths) -> None:
    (project / "AGENTS.md").write_bytes(b"# Agents\n")
    (project / "CLAUDE.md").symlink_to("AGENTS.md")
    (project / "config").mkdir()
    (project / "config/claude.json").write_bytes(b"{}")
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").symlink_to("../config/claude.json")
    install(TARGET, "project", project, state)
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / ".claude/settings.json").is_symlink()
    assert b"skill-learner:begin" in (project / "AGENTS.md").read_bytes()
    assert "hooks" in settings_of(project / "config/claude.json")
    uninstall(TARGET, None, project, state)
    assert (project / "CLAUDE.md").is_symlink()
    assert (project / "AGENTS.md").read_bytes() == b"# Agents\n"
    assert (project / "config/claude.json").read_bytes() == b"{}"


def test_the_users_own_links_may_lead_anywhere(
    project: Path, state: StatePaths, hermetic_home: Path, tmp_path: Path
) -> None:
    dotfiles = tmp_path / "dotfiles.json"
    dotfiles.write_bytes(b'{"model": "x"}\n')
    (hermetic_home / ".claude").mkdir()
    (hermetic_home / ".claude/settings.json").symlink_to(dotfiles)
    install(TARGET, "user", project, state)
    assert "hooks" in settings_of(dotfiles)
    uninstall(TARGET, "user", project, state)
    assert dotfiles.read_bytes() == b'{"model": "x"}\n'


def test_a_skill_of_the_users_with_our_name_is_left_alone(project: Path, state: StatePaths) -> None:
    (project / SEED).parent.mkdir(parents=True)
    (project / SEED).write_text("---\nname: skill-learner\n---\nmine")
    report = install(TARGET, "project", project, state)
    assert any("is yours" in note for note in report.notes)
    uninstall(TARGET, None, project, state)
    assert (project / SEED).read_text().endswith("mine")


def test_a_seed_skill_that_the_user_edited_is_left_alone(project: Path, state: StatePaths) -> None:
    install(TARGET, "project", project, state)
    with (project / SEED).open("a") as handle:
        handle.write("mine\n")
    report = install(TARGET, "project", project, state)
    assert any("is yours" in note for note in report.notes)
    report = uninstall(TARGET, None, project, state)
    assert (project / SEED).read_text().endswith("mine\n")
    assert any("edited" in note for note in report.notes)


def test_the_seed_skill_is_valid_and_says_how(project: Path, state: StatePaths) -> None:
    install(TARGET, "project", project, state)
    assert spec_faults((project / SEED).parent) == []
    text = (project / SEED).read_text()
    assert 'skill-learner search "' in text
    assert 'skill-learner remember "' in text


# -- several installs ---------------------------------------------------------------------------


def test_scopes_share_files_until_the_last_one_goes(
    project: Path, state: StatePaths, snapshot: Snapshot
) -> None:
    (project / "CLAUDE.md").write_bytes(b"# Mine")
    before = snapshot(project)
    install(TARGET, "project", project, state)
    report = install(TARGET, "local", project, state)
    assert any("Also installed" in note for note in report.notes)
    uninstall(TARGET, "project", project, state)
    assert b"skill-learner:begin" in (project / "CLAUDE.md").read_bytes()
    assert (project / SEED).exists()
    assert read_launcher() is not None
    uninstall(TARGET, "local", project, state)
    assert snapshot(project) == before
    assert read_launcher() is None


def test_both_scopes_go_at_once(project: Path, state: StatePaths, snapshot: Snapshot) -> None:
    install(TARGET, "local", project, state)
    install(TARGET, "project", project, state)
    uninstall(TARGET, None, project, state)
    assert snapshot(project) == {}


def test_a_user_install_outlives_the_projects(
    project: Path, state: StatePaths, hermetic_home: Path
) -> None:
    install(TARGET, "user", project, state)
    install(TARGET, "project", project, state)
    report = uninstall(TARGET, None, project, state)
    assert any("--user" in note for note in report.notes)
    assert "hooks" in settings_of(hermetic_home / ".claude/settings.json")
    assert read_launcher() is not None


def test_hooks_that_are_switched_off_are_pointed_out(project: Path, state: StatePaths) -> None:
    (project / ".claude").mkdir()
    (project / ".claude/settings.local.json").write_text('{"disableAllHooks": true}')
    report = install(TARGET, "project", project, state)
    assert any("disableAllHooks" in n and "settings.local.json" in n for n in report.notes)


def test_another_state_folder_keeps_its_launcher(
    project: Path, state: StatePaths, tmp_path: Path
) -> None:
    other = StatePaths(tmp_path / "other state")
    install(TARGET, "project", project, other)
    launcher = read_launcher()
    assert launcher is not None
    assert launcher.state_dir == str(other.root)
    uninstall(TARGET, None, project, state)
    assert read_launcher() is not None
    uninstall(TARGET, None, project, other)
    assert read_launcher() is None


# -- purge --------------------------------------------------------------------------------------


def test_the_library_stays_without_purge(project: Path, state: StatePaths) -> None:
    install(TARGET, "project", project, state)
    (state.root / "skills/x").mkdir(parents=True)
    report = uninstall(TARGET, None, project, state)
    assert (state.root / "skills/x").is_dir()
    assert any("--purge" in note for note in report.notes)
    uninstall(TARGET, None, project, state, purge=True)
    assert not state.root.exists()


def test_purge_leaves_what_is_not_ours(project: Path, state: StatePaths) -> None:
    install(TARGET, "project", project, state)
    (state.root / "diary.txt").write_text("dear")
    report = uninstall(TARGET, None, project, state, purge=True)
    assert [p.name for p in state.root.iterdir()] == ["diary.txt"]
    assert any("diary.txt" in note for note in report.notes)


def test_purge_waits_for_the_last_install(
    project: Path, state: StatePaths, tmp_path: Path, snapshot: Snapshot
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    install(TARGET, "project", project, state)
    install(TARGET, "project", other, state)
    before = snapshot(project)
    with pytest.raises(InstallError, match="other installs still use"):
        uninstall(TARGET, None, project, state, purge=True)
    assert snapshot(project) == before


@pytest.mark.parametrize("kind", ["home", "foreign", "repository"])
def test_purge_refuses_a_folder_that_is_not_a_state_folder(
    project: Path, hermetic_home: Path, tmp_path: Path, kind: str
) -> None:
    root = hermetic_home if kind == "home" else tmp_path / "documents"
    (root / "journal").mkdir(parents=True)
    if kind == "foreign":
        (root / "journal").rename(root / "letters")
    elif kind == "repository":
        (root / ".git").mkdir()
    with pytest.raises(InstallError, match="does not look like a state folder"):
        uninstall(TARGET, None, project, StatePaths(root), purge=True)
    assert root.is_dir()


# -- crashes ------------------------------------------------------------------------------------


class Crash(BaseException):
    pass


def crash_at(count: int, monkeypatch: pytest.MonkeyPatch) -> Callable[[], bool]:
    """Let the `count`-th atomic write fail; the returned function tells whether it came to that."""
    real, calls = files.atomic_write, [0]

    def write(path: Path, data: bytes, mode: int | None = None, **more: Any) -> None:
        calls[0] += 1
        if calls[0] == count:
            raise Crash
        real(path, data, mode)

    monkeypatch.setattr(files, "atomic_write", write)
    return lambda: calls[0] >= count


@pytest.mark.parametrize("count", range(1, 8))
@pytest.mark.parametrize("before", [b"# Mine", None])
def test_a_crash_leaves_old_or_new_files_and_a_second_run_repairs(
    count: int,
    before: bytes | None,
    project: Path,
    state: StatePaths,
    snapshot: Snapshot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    if before is not None:
        (project / "CLAUDE.md").write_bytes(before)
        (project / ".claude").mkdir()
        (project / ".claude/settings.json").write_bytes(FOREIGN_SETTINGS)
    old = snapshot(project)
    install(TARGET, "project", project, state)
    new = snapshot(project)
    uninstall(TARGET, None, project, state, purge=True)
    assert snapshot(project) == old

    with monkeypatch.context() as patch:
        crashed = crash_at(count, patch)
        try:
            install(TARGET, "project", project, state)
        except Crash:
            assert crashed()
        else:
            assert not crashed()
    torn = snapshot(project)
    assert all(torn[name] in (old.get(name), new[name]) for name in torn)
    if count % 2:
        install(TARGET, "project", project, state)
        assert snapshot(project) == new
    uninstall(TARGET, None, project, state)
    assert snapshot(project) == old


@pytest.mark.parametrize("count", range(1, 4))
def test_a_crash_of_uninstall_is_made_good_by_the_next(
    count: int,
    project: Path,
    state: StatePaths,
    snapshot: Snapshot,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    (project / "CLAUDE.md").write_bytes(b"# Mine")
    (project / ".claude").mkdir()
    (project / ".claude/settings.json").write_bytes(FOREIGN_SETTINGS)
    old = snapshot(project)
    install(TARGET, "project", project, state)
    with monkeypatch.context() as patch:
        crash_at(count, patch)
        with pytest.raises(Crash):
            uninstall(TARGET, None, project, state)
    uninstall(TARGET, None, project, state)
    assert snapshot(project) == old
