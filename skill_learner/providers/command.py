"""Any program as a provider: the request as JSON on stdin, the answer as JSON on stdout.

    stdin:  {"version": 1, "model": "...", "max_tokens": N, "messages": [...], "tools": [...]}
    stdout: {"content": "...", "tool_calls": [{"name": "...", "arguments": {...}}],
             "usage": {"input_tokens": N, "output_tokens": N, "cost_usd": X}}

All keys of the answer are optional. Output that is no such object is taken as the content, so that
a program may also print the bare answer. Exit code 0 is success; what stands on stderr names the
failure otherwise.
"""

from __future__ import annotations

import json
import shlex
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_learner.child_process import run
from skill_learner.errors import (
    ConfigError,
    ProviderAnswerError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from skill_learner.models import Usage
from skill_learner.providers.base import ChatRequest, Completion, ToolCallAnswer
from skill_learner.providers.child_environment import child_environment

NAME = "command"


def split_command(command: str) -> list[str]:
    """Split as a POSIX shell splits words; nothing is expanded and no shell runs."""
    try:
        words = shlex.split(command)
    except ValueError as error:
        raise ConfigError(f"command: {error}: {command!r}", "close the quote") from error
    if not words:
        raise ConfigError(
            "provider is `command`, but `command` is empty",
            'set it, for example SKILL_LEARNER_COMMAND="my-llm --json"',
        )
    return words


class CommandBackend:
    """A `Backend` that runs the user's program."""

    name = NAME

    def __init__(self, *, command: str, model: str, env: Mapping[str, str], cwd: Path) -> None:
        self._argv = split_command(command)
        self._model = model
        self._env = env
        self._cwd = cwd

    def send(self, request: ChatRequest, timeout: float) -> Completion:
        question = {
            "version": 1,
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": [dict(message) for message in request.messages],
            "tools": [dict(tool) for tool in request.tools],
        }
        env = child_environment(self._env)
        text = json.dumps(question, ensure_ascii=False)
        program = self._argv[0]
        try:
            finished = run(self._argv, stdin=text, timeout=timeout, env=env, cwd=self._cwd)
        except TimeoutError as error:
            raise ProviderTimeoutError(f"command: {error}") from error
        except OSError as error:
            raise ProviderUnavailableError(
                f"command: {program} cannot be started: {error.strerror or error}",
                "give a full path in `command`, and check that it is executable",
            ) from error
        if finished.code != 0:
            said = " ".join(finished.stderr.split())[-300:] or "nothing on stderr"
            raise ProviderError(f"command: {program} ended with code {finished.code}: {said}")
        return self._completion(finished.stdout)

    def _completion(self, stdout: str) -> Completion:
        if not stdout.strip():
            raise ProviderAnswerError("command: the program printed no answer")
        try:
            answer = json.loads(stdout)
        except ValueError:
            return Completion(stdout)
        if not isinstance(answer, dict) or not answer.keys() & {"content", "tool_calls"}:
            return Completion(stdout)
        return Completion(
            content=_text(answer.get("content")),
            tool_calls=_tool_calls(answer.get("tool_calls")),
            usage=self._usage(answer.get("usage")),
        )

    def _usage(self, spent: object) -> Usage | None:
        if not isinstance(spent, dict):
            return None
        cost = spent.get("cost_usd")
        return Usage(
            provider=NAME,
            model=str(spent.get("model") or self._model),
            tokens_in=_count(spent.get("input_tokens")),
            tokens_out=_count(spent.get("output_tokens")),
            cost_usd=float(cost) if isinstance(cost, (int, float)) else None,
        )


def _tool_calls(value: object) -> tuple[ToolCallAnswer, ...]:
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise ProviderAnswerError("command: `tool_calls` must be a list of objects")
    calls = []
    for item in value:
        arguments: Any = item.get("arguments")
        if not isinstance(arguments, dict):
            raise ProviderAnswerError("command: a tool call's `arguments` must be an object")
        calls.append(ToolCallAnswer(str(item.get("name", "")), arguments))
    return tuple(calls)


def _text(value: object) -> str:
    if value is None or isinstance(value, str):
        return value or ""
    return json.dumps(value, ensure_ascii=False)


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0
