"""The headless Claude Code client with the user's own login.

One process per request: structured output, no tools, no hooks, no transcript, no MCP servers, a
neutral working folder. The prompt goes in on stdin. `subtype: success` hides failures, so
`is_error` and the exit code decide.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_learner.child_process import Finished, run
from skill_learner.errors import (
    ProviderAnswerError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from skill_learner.models import Usage
from skill_learner.providers.base import ChatRequest, Completion, ToolCallAnswer
from skill_learner.providers.child_environment import child_environment

NAME = "claude-cli"

_KNOWN_PLACES = (
    "~/.local/bin/claude",
    "~/.claude/local/claude",
    "~/.npm-global/bin/claude",
    "/usr/local/bin/claude",
    "/opt/homebrew/bin/claude",
)
_LOGIN_VARIABLES = (
    "ANTHROPIC_API_KEY",
    "ANTHROPIC_AUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX",
    "CLAUDE_CODE_USE_FOUNDRY",
)
_NO_LOGIN_PHRASES = (
    "not logged in",
    "please run /login",
    "invalid api key",
    "oauth token",
    "authentication_error",
)


def find_client(env: Mapping[str, str]) -> Path | None:
    """The client's executable: on PATH, named by the client's own variable, or where its installers
    put it."""
    on_path = shutil.which("claude", path=env.get("PATH", os.defpath))
    if on_path:
        return Path(on_path)
    named = Path(env.get("CLAUDE_CODE_EXECPATH", ""))
    places = [named] if named.name.lower().startswith("claude") else []
    home = env.get("HOME") or os.path.expanduser("~")
    places += [Path(place.replace("~", home, 1)) for place in _KNOWN_PLACES]
    return next((place for place in places if os.access(place, os.X_OK) and place.is_file()), None)


def is_logged_in(env: Mapping[str, str]) -> bool:
    """Whether the client seems to have a login, by what lies on disk and in the environment.

    Nothing is read out of a credential: only that there is one. A login that has expired shows
    when the client is asked.
    """
    if any(env.get(name) for name in _LOGIN_VARIABLES):
        return True
    home = Path(env.get("HOME") or os.path.expanduser("~"))
    config_dir = Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else None
    folder = config_dir or home / ".claude"
    if (folder / ".credentials.json").is_file():
        return True
    state = _json_object((config_dir or home) / ".claude.json")
    settings = _json_object(folder / "settings.json")
    return bool(
        state.get("oauthAccount") or state.get("primaryApiKey") or settings.get("apiKeyHelper")
    )


class ClaudeCli:
    """A `Backend` over the client's `-p` mode."""

    name = NAME

    def __init__(self, *, model: str, env: Mapping[str, str], cwd: Path) -> None:
        self._model = model
        self._env = env
        self._cwd = cwd

    def send(self, request: ChatRequest, timeout: float) -> Completion:
        client = find_client(self._env)
        if client is None:
            raise ProviderUnavailableError(
                "claude-cli: the `claude` program is not on PATH nor in its usual places",
                "install Claude Code, or choose another provider: SKILL_LEARNER_PROVIDER=offline",
            )
        env = child_environment(self._env)
        env.setdefault("CLAUDE_CODE_MAX_RETRIES", "2")
        env.setdefault("DISABLE_AUTOUPDATER", "1")
        argv = [str(client), *self._arguments(request)]
        prompt = _as_prompt(request)
        try:
            finished = run(argv, stdin=prompt, timeout=timeout, env=env, cwd=self._cwd)
        except TimeoutError as error:
            raise ProviderTimeoutError(f"claude-cli: {error}") from error
        except OSError as error:
            raise ProviderUnavailableError(
                f"claude-cli: {client} cannot be started: {error}", "run `claude --version` by hand"
            ) from error
        return self._completion(finished, request)

    def _arguments(self, request: ChatRequest) -> list[str]:
        arguments = ["-p", "--output-format", "json"]
        if request.tools:
            schema = request.tools[0]["input_schema"]
            arguments += ["--json-schema", json.dumps(schema, separators=(",", ":"))]
        arguments += ["--tools", "", "--setting-sources", "user"]
        arguments += ["--settings", '{"disableAllHooks":true}', "--no-session-persistence"]
        arguments += ["--strict-mcp-config", "--disable-slash-commands"]
        if self._model:
            arguments += ["--model", self._model]
        if request.system:
            arguments += ["--system-prompt", request.system]
        return arguments

    def _completion(self, finished: Finished, request: ChatRequest) -> Completion:
        result = _result_object(finished.stdout)
        if result is None:
            said = _tail(finished.stderr) or _tail(finished.stdout) or "nothing"
            _raise_if_no_login(said)
            raise ProviderError(
                f"claude-cli: exit code {finished.code} and no result; it said: {said}"
            )
        text = str(result.get("result") or "")
        if result.get("is_error") or finished.code != 0:
            said = _tail(text) or str(result.get("subtype") or "no reason given")
            _raise_if_no_login(said)
            raise ProviderError(f"claude-cli: the client reports an error: {said}")
        usage = _usage(result, self._model)
        structured = result.get("structured_output")
        if isinstance(structured, dict) and request.tools:
            call = ToolCallAnswer(str(request.tools[0]["name"]), structured)
            return Completion("", (call,), usage)
        if not text:
            raise ProviderAnswerError("claude-cli: the client's result holds no answer")
        return Completion(text, (), usage)


def _as_prompt(request: ChatRequest) -> str:
    """The client takes one prompt: a conversation becomes one text with its parts named."""
    conversation = request.conversation
    if len(conversation) == 1:
        return str(conversation[0].get("content", ""))
    names = {"user": "REQUEST", "assistant": "YOUR EARLIER ANSWER"}
    parts = []
    for message in conversation:
        name = names.get(str(message.get("role")), "NOTE")
        parts.append(f"===== {name} =====\n{message.get('content', '')}")
    return "\n\n".join(parts)


def _result_object(stdout: str) -> dict[str, Any] | None:
    try:
        loaded = json.loads(stdout)
    except ValueError:
        return None
    if isinstance(loaded, list):  # `--verbose` in the user's settings makes it a list of events
        results = [item for item in loaded if isinstance(item, dict)]
        loaded = next((item for item in reversed(results) if item.get("type") == "result"), None)
    if isinstance(loaded, dict) and loaded.keys() & {"result", "structured_output", "is_error"}:
        return loaded
    return None


def _usage(result: Mapping[str, Any], model: str) -> Usage:
    spent = result.get("usage")
    spent = spent if isinstance(spent, dict) else {}
    tokens_in = sum(
        _count(spent.get(key))
        for key in ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
    )
    by_model = result.get("modelUsage")
    if isinstance(by_model, dict) and by_model and not model:
        model = max(by_model, key=lambda name: _output_tokens(by_model[name]))
    cost = result.get("total_cost_usd")
    return Usage(
        provider=NAME,
        model=model,
        tokens_in=tokens_in,
        tokens_out=_count(spent.get("output_tokens")),
        cost_usd=float(cost) if isinstance(cost, (int, float)) else None,
    )


def _output_tokens(entry: object) -> int:
    return _count(entry.get("outputTokens")) if isinstance(entry, dict) else 0


def _count(value: object) -> int:
    return value if isinstance(value, int) and value > 0 else 0


def _raise_if_no_login(said: str) -> None:
    if any(phrase in said.lower() for phrase in _NO_LOGIN_PHRASES):
        raise ProviderUnavailableError(
            f"claude-cli: the client is not logged in: {said}",
            "start `claude` and run /login; what was not reviewed is caught up afterwards",
        )


def _tail(text: str, size: int = 300) -> str:
    return " ".join(text.split())[-size:]


def _json_object(path: Path) -> dict[str, Any]:
    try:
        loaded = json.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return loaded if isinstance(loaded, dict) else {}
