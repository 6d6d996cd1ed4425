"""The official SDKs against scripted servers on loopback."""

from __future__ import annotations

import socket
import sys
from typing import Any

import pytest

from skill_learner.errors import (
    ConfigError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from skill_learner.providers.anthropic import AnthropicBackend
from skill_learner.providers.base import GuardedProvider
from skill_learner.providers.openai import OpenAIBackend

TOOL = {
    "name": "submit_review",
    "description": "hand in",
    "input_schema": {"type": "object", "properties": {}},
}
MESSAGES = [
    {"role": "system", "content": "You review."},
    {"role": "user", "content": "digest"},
]
Server = Any


def anthropic_message(**more: Any) -> dict[str, Any]:
    call = {"type": "tool_use", "id": "t1", "name": "submit_review", "input": {"outcome": "x"}}
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "claude-test",
        "content": [{"type": "text", "text": "Here."}, call],
        "stop_reason": "tool_use",
        "stop_sequence": None,
        "usage": {
            "input_tokens": 100,
            "output_tokens": 20,
            "cache_read_input_tokens": 7,
            "cache_creation_input_tokens": None,
        },
        **more,
    }


def openai_answer(arguments: str = '{"outcome": "x"}', **choice: Any) -> dict[str, Any]:
    call = {
        "id": "c1",
        "type": "function",
        "function": {"name": "submit_review", "arguments": arguments},
    }
    message = {"role": "assistant", "content": None, "tool_calls": [call]}
    return {
        "id": "x",
        "object": "chat.completion",
        "created": 1,
        "model": "gpt-test",
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls", **choice}],
        "usage": {"prompt_tokens": 50, "completion_tokens": 9, "total_tokens": 59},
    }


def claude(server: Server, **more: Any) -> GuardedProvider:
    pytest.importorskip("anthropic")
    env = {"ANTHROPIC_API_KEY": "sk-ant-test-key", "ANTHROPIC_BASE_URL": server.url}
    backend = AnthropicBackend(model="", env=env)
    return GuardedProvider(backend, secrets=["sk-ant-test-key"], sleep=lambda _: None, **more)


def gpt(server: Server, **more: Any) -> GuardedProvider:
    pytest.importorskip("openai")
    backend = OpenAIBackend(model="local-model", env={}, base_url=f"{server.url}/v1")
    return GuardedProvider(backend, sleep=lambda _: None, **more)


def test_anthropic_answers_by_its_tool(server: Server) -> None:
    server.answers = [(200, {}, anthropic_message())]

    answer = claude(server).complete(MESSAGES, [TOOL], 1234)

    (asked,) = server.requests
    assert asked["path"] == "/v1/messages"
    headers = asked["headers"]  # which of the two is the SDK's affair
    assert headers.get("x-api-key", headers.get("authorization", "")).endswith("sk-ant-test-key")
    body = asked["body"]
    assert body["system"] == "You review."
    assert body["messages"] == [{"role": "user", "content": "digest"}]
    assert body["tools"] == [TOOL]
    assert body["tool_choice"] == {"type": "tool", "name": "submit_review"}
    assert body["max_tokens"] == 1234
    assert (answer.tool_calls[0].name, answer.tool_calls[0].arguments) == (
        "submit_review",
        {"outcome": "x"},
    )
    assert answer.usage is not None
    assert (answer.usage.tokens_in, answer.usage.tokens_out) == (107, 20)


def test_anthropic_overload_is_asked_again(server: Server) -> None:
    overloaded = {"type": "error", "error": {"type": "overloaded_error", "message": "busy"}}
    server.answers = [
        (529, {}, overloaded),
        (429, {"retry-after": "1"}, overloaded),
        (200, {}, anthropic_message()),
    ]
    assert claude(server).complete(MESSAGES, [TOOL]).tool_calls
    assert len(server.requests) == 3


def test_anthropic_gives_up_after_its_attempts(server: Server) -> None:
    server.answers = [(500, {}, {"error": {"message": "broken"}})] * 3
    with pytest.raises(ProviderError, match="HTTP 500"):
        claude(server).complete(MESSAGES, [TOOL])
    assert len(server.requests) == 3


def test_anthropic_refuses_a_key(server: Server) -> None:
    told = {"type": "error", "error": {"type": "x", "message": "bad key sk-ant-test-key"}}
    server.answers = [(401, {}, told)]
    with pytest.raises(ProviderUnavailableError) as error:
        claude(server).complete(MESSAGES, [TOOL])
    assert "sk-ant-test-key" not in str(error.value) + error.value.message
    assert "[key]" in error.value.message
    assert len(server.requests) == 1


def test_anthropic_model_that_cannot_be_held_to_a_tool(server: Server) -> None:
    told = {"type": "error", "error": {"type": "x", "message": "tool_choice: not with thinking"}}
    server.answers = [(400, {}, told), (200, {}, anthropic_message())]
    assert claude(server).complete(MESSAGES, [TOOL]).tool_calls
    assert server.requests[1]["body"]["tool_choice"] == {"type": "auto"}


def test_anthropic_answer_that_was_cut_says_so(server: Server) -> None:
    server.answers = [(200, {}, anthropic_message(stop_reason="max_tokens"))]
    assert claude(server).complete(MESSAGES, [TOOL]).cut


def test_an_unreachable_server_is_an_error(server: Server) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # and nobody listens there
        server.url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        provider = claude(server, attempts=2)
        with pytest.raises(ProviderError, match="cannot be reached"):
            provider.complete(MESSAGES, [TOOL])


def test_openai_compatible_server(server: Server) -> None:
    server.answers = [(200, {}, openai_answer())]

    answer = gpt(server).complete(MESSAGES, [TOOL], 99)

    (asked,) = server.requests
    assert asked["path"] == "/v1/chat/completions"
    body = asked["body"]
    assert (body["model"], body["max_tokens"]) == ("local-model", 99)
    assert body["messages"] == MESSAGES
    assert body["tools"][0]["function"]["parameters"] == TOOL["input_schema"]
    assert body["tool_choice"]["function"]["name"] == "submit_review"
    assert answer.tool_calls[0].arguments == {"outcome": "x"}
    assert answer.usage is not None
    assert answer.usage.tokens_in == 50


def test_openai_itself_gets_the_newer_limit_and_the_key(server: Server) -> None:
    pytest.importorskip("openai")
    env = {"OPENAI_API_KEY": "sk-o"}
    backend = OpenAIBackend(model="", env=env)
    import openai

    backend._client = openai.OpenAI(api_key="sk-o", base_url=server.url, max_retries=0)
    server.answers = [(200, {}, openai_answer())]
    GuardedProvider(backend).complete(MESSAGES, [TOOL], 99)
    assert server.requests[0]["body"]["max_completion_tokens"] == 99
    assert server.requests[0]["headers"]["authorization"] == "Bearer sk-o"


def test_openai_server_without_tools_is_asked_without(server: Server) -> None:
    plain = openai_answer(message={"role": "assistant", "content": '{"skills": []}'})
    server.answers = [
        (400, {}, {"error": {"message": "this model does not support tools"}}),
        (200, {}, plain),
    ]
    answer = gpt(server).complete(MESSAGES, [TOOL])
    assert answer.content == '{"skills": []}'
    assert "tools" not in server.requests[1]["body"]


def test_openai_broken_arguments_come_as_content(server: Server) -> None:
    server.answers = [(200, {}, openai_answer('{"outcome": "x"'))]
    answer = gpt(server).complete(MESSAGES, [TOOL])
    assert (answer.content, answer.tool_calls) == ('{"outcome": "x"', ())


def test_openai_cut_answer(server: Server) -> None:
    server.answers = [(200, {}, openai_answer(finish_reason="length"))]
    assert gpt(server).complete(MESSAGES, [TOOL]).cut


def test_no_answer_in_time(server: Server) -> None:
    pytest.importorskip("openai")
    import socket

    with socket.create_server(("127.0.0.1", 0)) as silent:
        url = f"http://127.0.0.1:{silent.getsockname()[1]}/v1"
        backend = OpenAIBackend(model="m", env={}, base_url=url)
        with pytest.raises(ProviderTimeoutError):
            GuardedProvider(backend, timeout=0.5).complete(MESSAGES, [TOOL])


def test_a_server_of_ones_own_needs_a_model() -> None:
    with pytest.raises(ConfigError, match="no model"):
        OpenAIBackend(model="", env={"OPENAI_BASE_URL": "http://127.0.0.1:9/v1"})


@pytest.mark.parametrize("backend", [AnthropicBackend, OpenAIBackend])
def test_without_a_key_nothing_is_sent(backend: Any) -> None:
    with pytest.raises(ProviderUnavailableError, match="no key"):
        GuardedProvider(backend(model="", env={})).complete(MESSAGES, [TOOL])


@pytest.mark.parametrize(
    ("name", "backend", "key"),
    [
        ("anthropic", AnthropicBackend, "ANTHROPIC_API_KEY"),
        ("openai", OpenAIBackend, "OPENAI_API_KEY"),
    ],
)
def test_a_missing_sdk_names_the_extra(
    monkeypatch: pytest.MonkeyPatch, name: str, backend: Any, key: str
) -> None:
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ProviderUnavailableError) as error:
        GuardedProvider(backend(model="", env={key: "k"})).complete(MESSAGES, [TOOL])
    assert f"skill-learner[{name}]" in error.value.hint
