"""OpenAI's chat completions by its official SDK (extra `openai`), and any server that speaks them.

A base URL (setting `base_url`, or OPENAI_BASE_URL) points it at such a server; those often need no
key, know the older name of the token limit, and some know no tools at all.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from skill_learner.errors import ConfigError, ProviderError, ProviderUnavailableError
from skill_learner.models import Usage
from skill_learner.providers.base import (
    ChatRequest,
    Completion,
    ToolCallAnswer,
    TransientProviderError,
    find_key,
)
from skill_learner.providers.sdk import asked, import_sdk

NAME = "openai"
KEY_VARIABLES = ("OPENAI_API_KEY",)
DEFAULT_MODEL = "gpt-5.4"


class OpenAIBackend:
    """A `Backend` over chat completions."""

    name = NAME

    def __init__(self, *, model: str, env: Mapping[str, str], base_url: str = "") -> None:
        self._base_url = base_url or env.get("OPENAI_BASE_URL", "")
        self._key = find_key(env, KEY_VARIABLES)
        if self._base_url and not model:
            raise ConfigError(
                f"openai: a server of your own is set ({self._base_url}), but no model",
                "set `model` to a name that server knows (SKILL_LEARNER_MODEL)",
            )
        self._model = model or DEFAULT_MODEL
        self._client: Any = None

    @property
    def address(self) -> str:
        """The server that is asked, "" for the vendor's own."""
        return self._base_url

    def send(self, request: ChatRequest, timeout: float) -> Completion:
        if not self._key and not self._base_url:
            raise ProviderUnavailableError(
                "openai: no key in the environment",
                "set OPENAI_API_KEY, or OPENAI_BASE_URL for a server that needs none",
            )
        sdk = import_sdk(NAME)
        if self._client is None:
            self._client = sdk.OpenAI(
                api_key=self._key or "none", base_url=self._base_url or None, max_retries=0
            )
        client = self._client.with_options(timeout=timeout)
        arguments = self._arguments(request)
        try:
            answer = asked(NAME, sdk, lambda: client.chat.completions.create(**arguments))
        except TransientProviderError:
            raise
        except ProviderError as error:
            if "tool" not in error.message.lower() or "tools" not in arguments:
                raise
            arguments = self._without_tools(arguments)
            answer = asked(NAME, sdk, lambda: client.chat.completions.create(**arguments))
        return self._completion(answer)

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        limit = "max_tokens" if self._base_url else "max_completion_tokens"
        arguments: dict[str, Any] = {
            "model": self._model,
            limit: request.max_tokens,
            "messages": [dict(message) for message in request.messages],
        }
        if request.tools:
            arguments["tools"] = [_function(tool) for tool in request.tools]
        if len(request.tools) == 1:
            choice = {"type": "function", "function": {"name": request.tools[0]["name"]}}
            arguments["tool_choice"] = choice
        return arguments

    @staticmethod
    def _without_tools(arguments: dict[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in arguments.items() if not key.startswith("tool")}

    def _completion(self, answer: Any) -> Completion:
        if not answer.choices:
            return Completion("", (), self._usage(answer))
        choice = answer.choices[0]
        calls = []
        for call in choice.message.tool_calls or ():
            if call.type == "function":
                arguments = _arguments_object(call.function.arguments)
                if arguments is None:  # broken JSON: the reviewer reads it from the content
                    return Completion(call.function.arguments, (), self._usage(answer))
                calls.append(ToolCallAnswer(call.function.name, arguments))
        return Completion(
            content=choice.message.content or "",
            tool_calls=tuple(calls),
            usage=self._usage(answer),
            cut=choice.finish_reason == "length",
        )

    def _usage(self, answer: Any) -> Usage | None:
        spent = answer.usage
        if spent is None:
            return None
        model = answer.model or self._model
        return Usage(NAME, model, spent.prompt_tokens or 0, spent.completion_tokens or 0)


def _function(tool: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "type": "function",
        "function": {
            "name": tool["name"],
            "description": tool.get("description", ""),
            "parameters": tool["input_schema"],
        },
    }


def _arguments_object(text: str) -> dict[str, Any] | None:
    try:
        loaded = json.loads(text)
    except ValueError:
        return None
    return loaded if isinstance(loaded, dict) else None
