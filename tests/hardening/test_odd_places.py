"""What stands where a file is expected may be no file."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result
from hook_sandbox import HookSandbox

from skill_learner.files import read_plain
from skill_learner.targets import TARGETS, get_target

Run = Callable[..., Result]
NOTES = "CLAUDE.md"


@pytest.fixture
def project(hooks: HookSandbox) -> Path:
    return hooks.project


@pytest.mark.process
@pytest.mark.parametrize("place", [NOTES, ".claude/settings.json", "skill-learner.yaml"])
@pytest.mark.parametrize("command", [("init", "--yes"), ("uninstall",)], ids=lambda c: c[0])
def test_a_pipe_that_nobody_feeds_is_refused_and_not_waited_for(
    project: Path, place: str, command: tuple[str, ...]
) -> None:
    pipe = project / place
    pipe.parent.mkdir(exist_ok=True)
    os.mkfifo(pipe)
    done = subprocess.run(
        [sys.executable, "-m", "skill_learner", *command, "--target", "claude-code"],
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    if place == "skill-learner.yaml":  # no settings file stands there
        assert done.returncode == 0
        return
    assert done.returncode == 3
    assert f"{pipe}: cannot be read (it is no plain file)" in done.stderr


def test_only_a_plain_file_is_read(tmp_path: Path) -> None:
    (tmp_path / "file").write_bytes(b"x\r\n")
    (tmp_path / "link").symlink_to("file")
    assert read_plain(tmp_path / "link") == b"x\r\n"
    with pytest.raises(IsADirectoryError):
        read_plain(tmp_path)
    with pytest.raises(OSError, match="no plain file"):
        read_plain(Path(os.devnull))
    with pytest.raises(FileNotFoundError):
        read_plain(tmp_path / "gone")


@pytest.mark.parametrize("target", TARGETS)
@pytest.mark.parametrize("first", ["project", "user"])
@pytest.mark.parametrize("out", ["project", "user"])
def test_the_home_folder_may_be_a_project_too(
    hooks: HookSandbox, run: Run, monkeypatch: pytest.MonkeyPatch, target: str, first: str, out: str
) -> None:
    """Each install has its own notes; what both have stays as long as one of them does."""
    (hooks.state / "hook.sh").unlink()
    monkeypatch.chdir(hooks.home)

    def files() -> set[str]:
        return {
            str(path.relative_to(hooks.home))
            for path in hooks.home.rglob("*")
            if path.is_file() and hooks.state not in path.parents
        }

    option = {"project": (), "user": ("--user",)}
    for scope in (first, *({"project", "user"} - {first})):
        run("init", "--target", target, "--yes", *option[scope])
    run("uninstall", "--target", target, *option[out])
    assert files()
    run("uninstall", "--target", target, *option[({"project", "user"} - {out}).pop()])
    assert files() == set()


@pytest.mark.parametrize("target", TARGETS)
def test_a_folder_in_a_files_place_is_named(project: Path, run: Run, target: str) -> None:
    settings = project / get_target(target).SETTINGS_FILE["project"]
    settings.mkdir(parents=True)
    assert str(settings) in run("init", "--target", target, "--yes", code=3).stderr


def test_an_error_names_the_place_and_not_the_draft(project: Path, run: Run) -> None:
    run("init", "--target", "claude-code", "--yes")
    conf = Path.home() / ".skill_learner" / "hook.conf"
    conf.unlink()
    conf.mkdir()
    told = run("status", code=1).stderr
    assert f"Is a directory: {conf}\n" in told
    assert "see what stands there" in told


@pytest.mark.process
@pytest.mark.parametrize("text", ["nudge_interval: 2024-13-45", "nudge_interval: " + "1" * 400])
def test_a_bad_settings_file_stops_its_own_projects_commands_only(
    text: str, hooks: HookSandbox, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    (other / ".git").mkdir(parents=True)
    (other / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(other)
    run("init", "--target", "claude-code", "--yes")
    (other / "skill-learner.yaml").write_text(f"{text}\n")
    assert "skill-learner.yaml:1: " in run("status", code=2).stderr
    monkeypatch.chdir(hooks.project)
    for command in ("status", "pause 1h", "resume", "review --detached"):
        run(*command.split())
    assert not (hooks.state / "review.log").exists()
