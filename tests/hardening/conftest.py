"""A home with hooks as init installs them, and commands run as in a pipe."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from hook_sandbox import HookSandbox

from skill_learner.cli.group import cli

Run = Callable[..., Result]
RunJson = Callable[..., Any]


@pytest.fixture
def hooks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> HookSandbox:
    sandbox = HookSandbox(tmp_path)
    monkeypatch.setenv("HOME", str(sandbox.home))
    monkeypatch.chdir(sandbox.project)
    return sandbox


@pytest.fixture
def run(hooks: HookSandbox) -> Run:
    """Run a command; it must end with `code` (None: with any)."""

    def invoke(*arguments: str, code: int | None = 0, stdin: str | None = None) -> Result:
        result = CliRunner().invoke(cli, arguments, input=stdin)
        assert code in (None, result.exit_code), result.output
        return result

    return invoke


@pytest.fixture
def run_json(run: Run) -> RunJson:
    def invoke(*arguments: str, code: int = 0) -> Any:
        return json.loads(run(*arguments, "--json", code=code).stdout)

    return invoke


@pytest.fixture
def settings(hooks: HookSandbox) -> Callable[[str], None]:
    """Write the user's settings file."""

    def write(text: str) -> None:
        from skill_learner.config import user_settings_file

        file = user_settings_file()
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")

    return write
