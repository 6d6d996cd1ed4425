from __future__ import annotations

import importlib
import subprocess
import sys

import click
import pytest
from click.testing import CliRunner

import skill_learner
from skill_learner.cli.group import cli
from skill_learner.cli.main import COMMANDS
from skill_learner.errors import ConfigError


@pytest.mark.parametrize("name", COMMANDS)
def test_each_command_has_its_module_and_its_help(name: str) -> None:
    module = importlib.import_module(f"skill_learner.cli.{COMMANDS[name][0]}")
    assert isinstance(module.command, click.Command)
    result = CliRunner().invoke(cli, [name, "--help"])
    assert result.exit_code == 0
    assert module.command.help
    assert module.command.help.splitlines()[0] in " ".join(result.output.split())


def test_help_lists_every_command() -> None:
    output = CliRunner().invoke(cli, ["--help"]).output
    assert [name for name in COMMANDS if f"\n  {name} " not in output] == []


def test_a_mistyped_command_is_guessed() -> None:
    result = CliRunner().invoke(cli, ["stauts"])
    assert result.exit_code == 2
    assert "did you mean stats or status?" in result.output


def raising(problem: BaseException, monkeypatch: pytest.MonkeyPatch) -> None:
    @click.command()
    def broken() -> None:
        raise problem

    module = importlib.import_module("skill_learner.cli.status")
    monkeypatch.setattr(module, "command", broken)


@pytest.mark.parametrize(
    ("problem", "code", "words"),
    [
        (ConfigError("a.yaml:3: bad", "write it so"), 2, "error: a.yaml:3: bad\nhint: write it so"),
        (PermissionError(13, "Permission denied", "/x/y"), 1, "error: Permission denied: /x/y"),
        (
            OSError(28, "No space left", "/x/y"),
            1,
            "No space left: /x/y\nhint: make room on that disk",
        ),
        (TimeoutError("/x.lock is locked"), 1, "hint: another skill-learner is at work"),
        (RuntimeError("odd\x1b[2J"), 70, "error: unexpected RuntimeError: odd�[2J"),
    ],
)
def test_errors_are_words_on_stderr(
    problem: Exception, code: int, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    raising(problem, monkeypatch)
    result = CliRunner().invoke(cli, ["status"])
    assert result.exit_code == code
    assert words in result.stderr
    assert result.stdout == ""
    assert "Traceback" not in result.stderr


def test_debug_shows_the_place(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILL_LEARNER_DEBUG", "1")
    raising(RuntimeError("odd"), monkeypatch)
    assert isinstance(CliRunner().invoke(cli, ["status"]).exception, RuntimeError)


LOADED = "import sys; {0}; print('\\n'.join(sys.modules))"


def modules_after(statement: str) -> set[str]:
    program = [sys.executable, "-c", LOADED.format(statement)]
    return set(subprocess.run(program, capture_output=True, text=True, check=True).stdout.split())


@pytest.mark.process
def test_importing_the_package_loads_nothing_else() -> None:
    extra = modules_after("import skill_learner") - modules_after("pass")
    assert extra == {"skill_learner"}


@pytest.mark.process
def test_version_needs_neither_click_nor_rich_nor_yaml() -> None:
    statement = "sys.argv = ['x', '--version']; import skill_learner.cli.main as m; m.main()"
    loaded = modules_after(statement)
    assert skill_learner.__version__ in loaded
    assert not {"click", "rich", "yaml", "dataclasses"} & {n.split(".")[0] for n in loaded}


@pytest.mark.process
def test_help_needs_neither_rich_nor_yaml() -> None:
    loaded = modules_after(
        "import skill_learner.cli.group as g; g.cli(['-h'], standalone_mode=False)"
    )
    assert "click" in loaded
    assert not {"rich", "yaml"} & {name.split(".")[0] for name in loaded}


@pytest.mark.process
def test_module_and_errors_by_the_real_door(tmp_path: object) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "skill_learner", "show", "nothing-like-this"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 4
    assert done.stderr.startswith("error: ")
    assert done.stdout == ""


@pytest.mark.parametrize("name", skill_learner.__all__)
def test_each_public_name_resolves(name: str) -> None:
    assert getattr(skill_learner, name) is not None
    assert name in dir(skill_learner)


def test_an_unknown_public_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="SkillEnginee"):
        skill_learner.SkillEnginee  # noqa: B018 # the access is what is tested
