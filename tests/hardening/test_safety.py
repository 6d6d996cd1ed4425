"""What no setting and no folder may lead to: open files, sockets, shells, links out."""

from __future__ import annotations

import json
import os
import shlex
import socket
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from hook_sandbox import SESSION, HookSandbox

from skill_learner import SkillEngine
from skill_learner.cli.group import cli
from skill_learner.config import SkillLearnerConfig

Run = Callable[..., Any]
ROOT = Path(__file__).resolve().parents[2]


def work_of_a_day(hooks: HookSandbox, run: Run) -> None:
    """Hooks, a review that learns, and most commands."""
    run("init", "--target", "claude-code", "--provider", "offline")
    test, file = "pytest tests/test_cart.py", str(hooks.project / "settings.toml")
    error = "FAILED tests/test_cart.py - ValueError: currency code missing in settings.toml"
    edit = {"file_path": file, "old_string": "[shop]", "new_string": '[shop]\ncurrency = "EUR"'}
    calls = [
        ("PostToolUseFailure", "Bash", {"command": test}, {"error": f"Exit code 1\n{error}"}),
        ("PostToolUse", "Edit", edit, {"tool_response": {"filePath": file}}),
        ("PostToolUse", "Bash", {"command": test}, {"tool_response": {"stdout": "1 passed"}}),
    ]
    hooks.run("SessionStart", hooks.payload("SessionStart", source="startup"))
    words = hooks.payload("UserPromptSubmit", prompt="make the checkout tests pass")
    hooks.run("UserPromptSubmit", words)
    for number, (event, tool, given, more) in enumerate(calls):
        call = {"tool_name": tool, "tool_input": given, "tool_use_id": f"toolu_{number}", **more}
        hooks.run(event, hooks.payload(event, **call))
    hooks.run("SessionEnd", hooks.payload("SessionEnd", reason="other"))
    run("review")
    run("remember", "deploy needs a VPN")
    (name, *_) = [row["name"] for row in json.loads(run("list", "--all", "--json").stdout)]
    run("approve", name)
    for command in (
        ("list",), ("show", name), ("search", "currency"), ("stats",), ("status",), ("why",),
        ("history", name), ("doctor",), ("reindex",), ("pause", "1h"), ("resume",), ("undo", name),
    ):  # fmt: skip
        run(*command)


@pytest.mark.process
@pytest.mark.skipif(os.name == "nt", reason="permission bits")
@pytest.mark.parametrize("umask", [0, 0o002, 0o022])
def test_whatever_the_umask_the_state_is_the_users_alone(
    hooks: HookSandbox, run: Run, umask: int
) -> None:
    before = os.umask(umask)
    try:
        work_of_a_day(hooks, run)
    finally:
        os.umask(before)
    (hooks.state / "hook.sh").chmod(0o600)  # written by the sandbox itself
    paths = [path for path in all_below(hooks.state) if not path.is_symlink()]
    assert len(paths) > 30
    opened = {str(path): oct(path.stat().st_mode) for path in paths if path.stat().st_mode & 0o077}
    assert opened == {}


def all_below(folder: Path) -> list[Path]:
    return [folder, *folder.rglob("*")]


@pytest.mark.skipif(os.name == "nt", reason="permission bits")
@pytest.mark.parametrize("umask", [0, 0o022, 0o077])
@pytest.mark.parametrize(
    "first", ["remember 'deploy needs a VPN'", "pause 1h", "review --detached", "reindex", "engine"]
)
def test_whatever_comes_first_makes_the_state_the_users_alone(
    first: str, umask: int, hermetic_home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    place = hermetic_home / "of the user"
    place.mkdir(mode=0o755)
    place.chmod(0o755)
    state = place / "new" / "state"
    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", str(state))
    before = os.umask(umask)
    try:
        if first == "engine":
            with SkillEngine(SkillLearnerConfig.load()) as engine:
                engine.on_session_start("s")
                engine.on_turn_complete([{"role": "user", "content": "deploy needs a VPN"}])
        else:
            assert CliRunner().invoke(cli, shlex.split(first)).exit_code == 0
    finally:
        os.umask(before)
    assert place.stat().st_mode & 0o777 == 0o755
    made = all_below(state.parent)
    assert state in made
    assert {str(path) for path in made if path.stat().st_mode & 0o077} == set()


@pytest.mark.process
def test_nothing_opens_a_socket_without_a_provider(
    hooks: HookSandbox, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise AssertionError("a socket was opened")

    for name in ("socket", "create_connection", "getaddrinfo"):
        monkeypatch.setattr(socket, name, refuse)
    work_of_a_day(hooks, run)


@pytest.mark.process
def test_the_command_provider_runs_without_a_shell(
    hooks: HookSandbox, run: Run, settings: Callable[[str], None], tmp_path: Path
) -> None:
    told = tmp_path / "told"
    program = tmp_path / "model.py"
    program.write_text(
        f"import sys, json; open({str(told)!r}, 'w').write(json.dumps(sys.argv[1:]))\n"
        "print(json.dumps({'content': '{}'}))\n"
    )
    trap = tmp_path / "trap"
    words = f"{sys.executable} {program} $(touch\\ {trap}) ; '|' `id` $HOME *"
    settings(f"provider: command\ncommand: {json.dumps(words)}\nreview_when: always\n")
    hooks.run("UserPromptSubmit", hooks.payload("UserPromptSubmit", prompt="hello"))
    run("review", "--session", SESSION, code=6)
    assert json.loads(told.read_text()) == [f"$(touch {trap})", ";", "|", "`id`", "$HOME", "*"]
    assert not trap.exists()


@pytest.mark.process
def test_links_in_the_state_and_library_folders_lead_nowhere_out(
    hooks: HookSandbox, run: Run, tmp_path: Path
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    skill = outside / "SKILL.md"
    skill.write_text("---\nname: stranger\ndescription: Use when x.\n---\nmine\n")
    (hooks.state / "skills").mkdir()
    (hooks.state / "skills" / "stranger").symlink_to(outside)
    (hooks.state / "journal").mkdir()
    (hooks.state / "journal" / f"{SESSION}.jsonl").symlink_to(outside / "journal")
    before = {path.name: path.read_bytes() for path in outside.iterdir()}
    hooks.run("UserPromptSubmit")
    assert "OSError" in hooks.log() or "Error" in hooks.log()
    for command in (("reject", "stranger"), ("approve", "stranger"), ("undo", "stranger")):
        assert run(*command, code=4).output
    run("purge", "--yes")
    run("doctor", "--fix")
    assert {path.name: path.read_bytes() for path in outside.iterdir()} == before


def test_a_skill_that_brings_scripts_brings_them_as_bytes(
    hooks: HookSandbox, run: Run, tmp_path: Path
) -> None:
    trap = tmp_path / "trap"
    source = tmp_path / "given" / "evil"
    (source / "scripts").mkdir(parents=True)
    (source / "SKILL.md").write_text(
        f"---\nname: evil\ndescription: Use when evil.\n---\n`touch {trap}`\n$(touch {trap})\n"
    )
    script = source / "scripts" / "run.sh"
    script.write_text(f"#!/bin/sh\ntouch {trap}\n")
    script.chmod(0o755)
    run("import", str(tmp_path / "given"))
    run("show", "evil")
    run("search", "evil")
    run("doctor")
    assert not trap.exists()
