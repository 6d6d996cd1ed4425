"""What a user sets in the environment holds for hooks that start in it, and for no others."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox

from skill_learner.config import SkillLearnerConfig
from skill_learner.config_values import checked_value
from skill_learner.errors import ConfigError
from skill_learner.hook_runtime import state_folder
from skill_learner.hook_runtime.offer import Offering
from skill_learner.privacy import PrivacyRules

Run = Callable[..., Any]

WORDS = [
    "1",
    "true",
    "True",
    "YES",
    "on",
    "oN",
    "0",
    "false",
    "no",
    "OFF",
    "2",
    "",
    "maybe",
    " on ",
]


def recorded(hooks: HookSandbox) -> int:
    return len(hooks.records()) if (hooks.state / "journal").exists() else 0


def reads(hooks: HookSandbox, file: str) -> bytes:
    return hooks.payload(
        "PostToolUse", tool_name="Read", tool_input={"file_path": file}, tool_use_id=file
    )


@pytest.mark.process
@pytest.mark.parametrize(
    "variable",
    [
        "OFF=1",
        "NUDGE_INTERVAL=1",
        "SKILLS_DIR=/tmp/other",
        "IGNORE_PATHS=.env",
        "INJECT=off",
        "PAYLOAD_CAP=5000",
    ],
)
@pytest.mark.parametrize("command", ["status", "pause 1h"])
def test_a_variable_of_one_command_is_no_setting_of_the_hooks(
    variable: str,
    command: str,
    hooks: HookSandbox,
    run: Run,
    settings: Callable[[str], None],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    settings("nudge_interval: 7\nignore_tools: [Secret]\n")
    run(*command.split())
    before = (hooks.state / "hook.conf").read_text()
    assert "nudge_interval=7" in before
    name, _, value = variable.partition("=")
    monkeypatch.setenv(f"SKILL_LEARNER_{name}", value)
    run(*command.split())
    after = (hooks.state / "hook.conf").read_text()
    assert [line for line in after.splitlines() if not line.startswith("paused_until")] == [
        line for line in before.splitlines() if not line.startswith("paused_until")
    ]


def test_the_state_folder_of_the_environment_is_told_its_own(
    hooks: HookSandbox, run: Run, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    other = tmp_path / "other state"
    other.mkdir(mode=0o700)
    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", str(other))
    run("status")
    assert "skills=" not in (other / "hook.conf").read_text()
    assert not (hooks.state / "hook.conf").exists()


@pytest.mark.process
@pytest.mark.parametrize(
    ("name", "value", "file", "kept"),
    [
        ("IGNORE_PATHS", ".env, ~/keys", "/srv/shop/.env", False),
        ("IGNORE_PATHS", ".env, ~/keys", "{home}/keys/id", False),
        ("IGNORE_PATHS", ".env, ~/keys", "~/keys/id", False),
        ("IGNORE_PATHS", ".env, ~/keys", "/srv/shop/README", True),
        ("IGNORE_PATHS", "", "/srv/shop/README", True),
        ("IGNORE_TOOLS", "Write,Re*", "/srv/shop/README", False),
        ("IGNORE_TOOLS", "Write", "/srv/shop/README", True),
        ("IGNORE_PROJECTS", "{project}", "/srv/shop/README", False),
        ("IGNORE_PROJECTS", "~/elsewhere", "/srv/shop/README", True),
    ],
)
def test_what_the_hooks_own_environment_ignores_is_not_recorded(
    name: str, value: str, file: str, kept: bool, hooks: HookSandbox, run: Run
) -> None:
    run("status")  # a command without the variable takes nothing away from it
    places = {"home": hooks.home, "project": hooks.project}
    environ = hooks.environ(**{f"SKILL_LEARNER_{name}": value.format(**places)})
    hooks.run("PostToolUse", reads(hooks, file.format(**places)), environ)
    assert recorded(hooks) == kept


@pytest.mark.process
def test_the_environment_stands_for_the_files_rules_of_its_kind(
    hooks: HookSandbox, run: Run, settings: Callable[[str], None]
) -> None:
    settings("ignore_paths: [.env]\nignore_tools: [Secret]\n")
    run("status")
    environ = hooks.environ(SKILL_LEARNER_IGNORE_PATHS="keys")
    hooks.run("PostToolUse", reads(hooks, "/srv/shop/.env"), environ)
    assert recorded(hooks) == 1
    hooks.run("PostToolUse", reads(hooks, "/srv/shop/keys"), environ)
    secret = json.loads(reads(hooks, "/srv/shop/x")) | {"tool_name": "Secret"}
    hooks.run("PostToolUse", json.dumps(secret).encode(), environ)
    assert recorded(hooks) == 1


@pytest.mark.parametrize(
    "path", [".env", "~/keys", "/srv/shop/a b/", "C:\\keys\\", "~other/x", "~"]
)
def test_hooks_read_rules_of_the_environment_as_commands_do(
    path: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skill_learner.hook_runtime import privacy as hot

    monkeypatch.setenv("HOME", "/home/u")
    environ = {
        b"HOME": b"/home/u",
        b"SKILL_LEARNER_IGNORE_PATHS": path.encode(),
        b"SKILL_LEARNER_IGNORE_PROJECTS": path.encode(),
    }
    told = PrivacyRules(projects=(path,), paths=(path,)).hook_lines()
    conf = "\n".join(told).encode()
    assert hot.ignores(b"", environ) == hot.ignores(conf, {})


@pytest.mark.parametrize("chosen", ["/srv/skills", "~/mine", "{state}/skills", "/srv/skills/"])
def test_offers_come_from_the_library_that_the_environment_names(
    chosen: str, hooks: HookSandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skill_learner.events import HookCall, HookEvent

    chosen = chosen.format(state=hooks.state)
    monkeypatch.setenv("SKILL_LEARNER_SKILLS_DIR", chosen)
    config = SkillLearnerConfig.load()
    environ = {b"HOME": str(hooks.home).encode(), b"SKILL_LEARNER_SKILLS_DIR": chosen.encode()}
    call = HookCall(str(hooks.state).encode(), HookEvent("claude-code", "Stop", "x"), environ)
    offering = Offering(call)
    assert (offering.skills, offering.index) == (
        str(config.skills_dir).encode(),
        str(config.index_db).encode(),
    )


@pytest.mark.process
@pytest.mark.parametrize("word", WORDS)
def test_commands_launcher_and_hook_read_the_same_words_as_off(
    word: str, hooks: HookSandbox, tmp_path: Path
) -> None:
    try:
        is_off = bool(word) and checked_value("off", "bool", word, "environment")
    except ConfigError:
        is_off = False
    hooks.run("PostToolUse", environ=hooks.environ(SKILL_LEARNER_OFF=word))
    assert recorded(hooks) == (not is_off)
    assert state_folder.switch({b"SKILL_LEARNER_OFF": word.encode()}) == is_off


@pytest.mark.process
@pytest.mark.parametrize("word", [word for word in WORDS if word == word.strip()])
def test_a_launcher_that_is_switched_off_starts_nothing(
    word: str, hooks: HookSandbox, tmp_path: Path
) -> None:
    trace = tmp_path / "python was started"
    interpreter = tmp_path / "python"
    interpreter.write_text(f"#!/bin/sh\n: >'{trace}'\n")
    interpreter.chmod(0o755)
    hooks.interpreter = interpreter
    hooks.write_launcher()
    hooks.run("PostToolUse", environ=hooks.environ(SKILL_LEARNER_OFF=word))
    assert trace.exists() == (word.lower().encode() not in state_folder.ON)


@pytest.mark.process
@pytest.mark.parametrize(("word", "kept"), [("false", 1), ("No", 1), ("off", 1), ("x", 0)])
def test_the_environment_switches_on_what_the_file_switched_off(
    word: str, kept: int, hooks: HookSandbox, run: Run, settings: Callable[[str], None]
) -> None:
    settings("off: true\n")
    run("status")
    hooks.run("PostToolUse", environ=hooks.environ(SKILL_LEARNER_OFF=word))
    assert recorded(hooks) == kept
