"""The registered line, its recogniser, and the launcher it sources."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from skill_learner.errors import InstallError
from skill_learner.hook_runtime.launcher import launch_arguments, render_hook_sh
from skill_learner.targets import TARGETS, get_target
from skill_learner.targets.claude_code import (
    EVENTS,
    command_line,
    exec_form,
    is_our_command,
    is_our_hook,
    settings_entry,
)

CHECKOUT = Path(__file__).resolve().parents[2]
GOLDEN = (
    'h="${HOME:-}/.skill_learner/hook.sh"; [ -r "$h" ] || exit 0; '
    'set -- claude-code PostToolUse; . "$h"'
)


def test_line_is_byte_stable() -> None:
    assert command_line("PostToolUse") == GOLDEN


def test_settings_entry_is_one_group_without_matcher() -> None:
    assert settings_entry("PostToolUse") == {"hooks": [{"type": "command", "command": GOLDEN}]}


def test_registration_data_says_what_init_registers() -> None:
    data = json.loads((CHECKOUT / "hooks" / "claude-code.json").read_bytes())
    assert data == {"hooks": {event: [settings_entry(event)] for event in EVENTS}}


def test_no_event_stands_twice() -> None:
    assert len(set(EVENTS)) == len(EVENTS) == 10


@pytest.mark.parametrize("event", EVENTS)
def test_ours_is_recognised(event: str) -> None:
    assert is_our_command(command_line(event))
    assert is_our_hook(settings_entry(event)["hooks"][0])


def test_another_version_is_recognised() -> None:
    line = command_line("Stop").replace("set -- claude-code", "v=7; set -- claude-code")
    assert is_our_command(line)


@pytest.mark.parametrize(
    "command",
    [
        "",
        "echo done",
        "cat ~/.skill_learner/hook.sh",
        f"my-wrapper '{GOLDEN}'",
        GOLDEN + "; echo mine",
        GOLDEN.replace("claude-code", "cursor"),
    ],
)
def test_foreign_commands_are_not_ours(command: str) -> None:
    assert not is_our_command(command)


def test_exec_form_looks_first_whether_there_is_anything_to_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COMSPEC", "C:\\Windows\\system32\\cmd.exe")
    launch = launch_arguments(
        tmp_path / "python.exe", tmp_path / "hooks" / "entry.py", tmp_path / "state", tmp_path
    )
    hook = exec_form("Stop", launch)
    assert hook == {
        "type": "command",
        "command": "C:\\Windows\\system32\\cmd.exe",
        "args": [
            "/d",
            "/c",
            "if",
            "exist",
            str(tmp_path / "python.exe"),
            "if",
            "exist",
            str(tmp_path / "hooks" / "entry.py"),
            str(tmp_path / "python.exe"),
            "-I",
            "-S",
            str(tmp_path / "hooks" / "entry.py"),
            str(tmp_path),
            str(tmp_path / "state"),
            "claude-code",
            "Stop",
        ],
    }
    assert is_our_hook(hook)
    assert not is_our_hook(hook | {"args": ["-m", "other", "claude-code"]})


def test_windows_paths_are_recognised() -> None:
    args = [
        "-I",
        "-S",
        r"C:\Py\skill_learner\_data\hooks\entry.py",
        "r",
        "s",
        "claude-code",
        "Stop",
    ]
    assert is_our_hook({"type": "command", "command": r"C:\Py\python.exe", "args": args})


def test_line_breaks_in_paths_are_refused(tmp_path: Path) -> None:
    good = tmp_path / "x"
    with pytest.raises(InstallError, match="line break"):
        render_hook_sh(tmp_path / "a\nb", good, good, good)


def test_relative_paths_are_refused(tmp_path: Path) -> None:
    good = tmp_path / "x"
    with pytest.raises(InstallError, match="not absolute"):
        render_hook_sh(Path("python3"), good, good, good)


def test_targets_by_name() -> None:
    assert get_target("claude-code").NAME == "claude-code"
    with pytest.raises(InstallError) as fault:
        get_target("emacs")
    assert all(name in fault.value.hint for name in TARGETS)


@pytest.mark.process
@pytest.mark.parametrize("event", ["SessionStart", "PostToolUse", "Stop"])
def test_gone_interpreter_is_told_by_session_start_alone(tmp_path: Path, event: str) -> None:
    state = tmp_path / ".skill_learner"
    state.mkdir()
    script = render_hook_sh(tmp_path / "gone" / "python", tmp_path / "entry.py", state, tmp_path)
    (state / "hook.sh").write_bytes(script)
    done = subprocess.run(
        ["/bin/sh", "-c", command_line(event)],
        input=b"{}",
        env={"HOME": str(tmp_path)},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    if event == "SessionStart":
        message = json.loads(done.stdout)["systemMessage"]
        assert "skill-learner init --target claude-code" in message
        assert "uninstall --target claude-code" in message
    else:
        assert done.stdout == b""


@pytest.mark.process
@pytest.mark.parametrize("environ", [{}, {"HOME": "/nonexistent/home"}])
def test_without_launcher_nothing_happens(environ: dict[str, str]) -> None:
    done = subprocess.run(
        ["/bin/sh", "-c", command_line("SessionStart")],
        input=b"{}",
        env=environ,
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
