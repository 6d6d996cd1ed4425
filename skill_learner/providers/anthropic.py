"""The Anthropic Messages API by its official SDK (extra `anthropic`)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from skill_learner.errors import ProviderError, ProviderUnavailableError
from skill_learner.models import Usage
from skill_learner.providers.base import ChatRequest, Completion, ToolCallAnswer, find_key
from skill_learner.providers.sdk import asked, import_sdk

NAME = "anthropic"
KEY_VARIABLES = ("ANTHROPIC_API_KEY",)
TOKEN_VARIABLES = ("ANTHROPIC_AUTH_TOKEN",)
DEFAULT_MODEL = "claude-sonnet-5-5"


class AnthropicBackend:
    """A `Backend`; ANTHROPIC_BASE_URL, or the setting `base_url`, points it at another server."""

    name = NAME

    def __init__(self, *, model: str, env: Mapping[str, str], base_url: str = "") -> None:
        self._model = model or DEFAULT_MODEL
        self._key = find_key(env, KEY_VARIABLES)
        self._token = find_key(env, TOKEN_VARIABLES)
        self._base_url = base_url or env.get("ANTHROPIC_BASE_URL", "")
        self._client: Any = None

    @property
    def address(self) -> str:
        """The server that is asked, "" for the vendor's own."""
        return self._base_url

    def send(self, request: ChatRequest, timeout: float) -> Completion:
        if not self._key and not self._token:
            raise ProviderUnavailableError(
                "anthropic: no key in the environment", "set ANTHROPIC_API_KEY"
            )
        sdk = import_sdk(NAME)
        if self._client is None:
            self._client = sdk.Anthropic(
                api_key=self._key or None,
                auth_token=self._token if not self._key else None,
                base_url=self._base_url or None,
                max_retries=0,
            )
        client = self._client.with_options(timeout=timeout)
        arguments = self._arguments(request)
        try:
            message = asked(NAME, sdk, lambda: client.messages.create(**arguments))
        except ProviderError as error:
            if "tool_choice" not in error.message or "tool_choice" not in arguments:
                raise
            # Some models think before they answer and then refuse to be held to one tool.
            arguments["tool_choice"] = {"type": "auto"}
            message = asked(NAME, sdk, lambda: client.messages.create(**arguments))
        return self._completion(message)

    def _arguments(self, request: ChatRequest) -> dict[str, Any]:
        arguments: dict[str, Any] = {
            "model": self._model,
            "max_tokens": request.max_tokens,
            "messages": request.conversation,
        }
        if request.system:
            arguments["system"] = request.system
        if request.tools:
            arguments["tools"] = [dict(tool) for tool in request.tools]
        if len(request.tools) == 1:
            arguments["tool_choice"] = {"type": "tool", "name": request.tools[0]["name"]}
        return arguments

    def _completion(self, message: Any) -> Completion:
        texts, calls = [], []
        for block in message.content:
            if block.type == "text":
                texts.append(block.text)
            elif block.type == "tool_use" and isinstance(block.input, dict):
                calls.append(ToolCallAnswer(block.name, dict(block.input)))
        spent = message.usage
        cached = (spent.cache_creation_input_tokens or 0) + (spent.cache_read_input_tokens or 0)
        return Completion(
            content="".join(texts),
            tool_calls=tuple(calls),
            usage=Usage(NAME, message.model, spent.input_tokens + cached, spent.output_tokens),
            cut=message.stop_reason == "max_tokens",
        )
