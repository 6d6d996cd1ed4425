from __future__ import annotations

import json
import os
import shlex
import sys
from pathlib import Path

import pytest

from skill_learner.errors import (
    ConfigError,
    ProviderAnswerError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from skill_learner.providers.base import ChatRequest
from skill_learner.providers.command import CommandBackend, split_command

pytestmark = pytest.mark.process

REQUEST = ChatRequest(
    ({"role": "system", "content": "s"}, {"role": "user", "content": "ü"}),
    ({"name": "submit_review", "description": "d", "input_schema": {"type": "object"}},),
    777,
)


def backend(tmp_path: Path, code: str, *more: str) -> CommandBackend:
    program = tmp_path / "my program.py"
    program.write_text(f"import json, os, sys, time\n{code}\n")
    command = shlex.join([sys.executable, str(program), *more])
    return CommandBackend(command=command, model="m", env=dict(os.environ), cwd=tmp_path)


def test_request_and_answer_are_json(tmp_path: Path) -> None:
    code = (
        "question = json.load(sys.stdin)\n"
        "usage = {'input_tokens': 5, 'output_tokens': 6, 'cost_usd': 0.5}\n"
        "call = {'name': 'submit_review', 'arguments': {'question': question,"
        " 'marker': os.environ['SKILL_LEARNER_REVIEW'], 'argv': sys.argv[1:]}}\n"
        "print(json.dumps({'content': 'hi', 'tool_calls': [call], 'usage': usage}))"
    )

    answer = backend(tmp_path, code, "two words", "$HOME; rm -rf x").send(REQUEST, 20)

    (call,) = answer.tool_calls
    assert call.arguments["argv"] == ["two words", "$HOME; rm -rf x"]  # no shell expanded it
    assert call.arguments["marker"] == "1"
    asked = call.arguments["question"]
    assert asked["messages"][1] == {"role": "user", "content": "ü"}
    assert (asked["version"], asked["model"], asked["max_tokens"]) == (1, "m", 777)
    assert asked["tools"][0]["name"] == "submit_review"
    assert answer.content == "hi"
    assert answer.usage is not None
    assert (answer.usage.tokens_in, answer.usage.tokens_out, answer.usage.cost_usd) == (5, 6, 0.5)


def test_a_bare_answer_is_the_content(tmp_path: Path) -> None:
    text = json.dumps({"outcome": "x", "skills": [], "nothing_because": "y"})
    assert backend(tmp_path, f"print({text!r})").send(REQUEST, 20).content.strip() == text
    assert backend(tmp_path, "print('plain words')").send(REQUEST, 20).content == "plain words\n"


def test_failure_names_code_and_stderr(tmp_path: Path) -> None:
    failing = backend(tmp_path, "sys.stderr.write('no such model'); sys.exit(3)")
    with pytest.raises(ProviderError, match="code 3: no such model"):
        failing.send(REQUEST, 20)


@pytest.mark.parametrize(
    "output",
    ["", '{"tool_calls": {"a": 1}}', '{"tool_calls": [{"name": "x", "arguments": "text"}]}'],
)
def test_output_of_another_shape_is_a_fault(tmp_path: Path, output: str) -> None:
    with pytest.raises(ProviderAnswerError):
        backend(tmp_path, f"print({output!r}, end='')").send(REQUEST, 20)


def test_a_timeout_ends_it(tmp_path: Path) -> None:
    with pytest.raises(ProviderTimeoutError):
        backend(tmp_path, "time.sleep(300)").send(REQUEST, 1.0)


def test_a_missing_program_is_unavailable(tmp_path: Path) -> None:
    missing = CommandBackend(command="/nonexistent/llm", model="", env={}, cwd=tmp_path)
    with pytest.raises(ProviderUnavailableError, match="/nonexistent/llm"):
        missing.send(REQUEST, 5)


@pytest.mark.parametrize("command", ["", "   ", "llm 'unclosed"])
def test_a_command_that_cannot_be_split_is_refused(command: str) -> None:
    with pytest.raises(ConfigError):
        split_command(command)
