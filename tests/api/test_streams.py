"""The streaming helpers of Anthropic's and OpenAI's SDKs, against scripted servers on loopback:
whatever way a caller reads them, what was answered is recorded, once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable, Iterator
from http.server import BaseHTTPRequestHandler
from typing import Any

import pytest
from loopback import serving
from scripted_api import Turn
from scripted_messages_api import ScriptedMessagesAPI, tool

from skill_learner import SkillLoop
from skill_learner.testing import ScriptedLLM

anthropic = pytest.importorskip("anthropic")
openai = pytest.importorskip("openai")

Loops = Callable[..., SkillLoop]
LEAK = [{"role": "user", "content": "Why does my worker leak memory?"}]
ANSWER = "Take two snapshots with tracemalloc."
CALL = ("lookup", {"page": "tracemalloc"})


def sse(*events: dict[str, Any]) -> bytes:
    lines = [f"event: {event.get('type', 'x')}\ndata: {json.dumps(event)}\n\n" for event in events]
    return "".join(lines).encode()


def chat_chunks() -> bytes:
    call = {"index": 0, "id": "c1", "type": "function"}
    function = {"name": CALL[0], "arguments": json.dumps(CALL[1])}
    deltas = [
        {"role": "assistant", "content": ANSWER[:9]},
        {"content": ANSWER[9:]},
        {"tool_calls": [{**call, "function": function}]},
        {},
    ]
    chunks = [
        {
            "id": "x",
            "created": 1,
            "model": "test",
            "object": "chat.completion.chunk",
            "choices": [{"index": 0, "delta": d, "finish_reason": None if d else "tool_calls"}],
        }
        for d in deltas
    ]
    return b"".join(f"data: {json.dumps(chunk)}\n\n".encode() for chunk in chunks) + (
        b"data: [DONE]\n\n"
    )


def response_events() -> bytes:
    text = {"type": "output_text", "text": ANSWER, "annotations": [], "logprobs": []}
    started = {"type": "response.output_item.added", "output_index": 0}
    message = {"type": "message", "id": "m1", "role": "assistant", "status": "completed",
               "content": [text]}  # fmt: skip
    call = {"type": "function_call", "id": "f1", "call_id": "c1", "name": CALL[0],
            "arguments": json.dumps(CALL[1]), "status": "completed"}  # fmt: skip
    common = {"id": "r1", "object": "response", "created_at": 1, "model": "test",
              "parallel_tool_calls": False, "tool_choice": "auto", "tools": []}  # fmt: skip
    at = {"item_id": "m1", "output_index": 0, "content_index": 0}
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**common, "output": []}},
        {**started, "item": {**message, "content": []}},
        {"type": "response.content_part.added", **at, "part": {**text, "text": ""}},
        {"type": "response.output_text.delta", **at, "delta": ANSWER[:9], "logprobs": []},
        {"type": "response.output_text.delta", **at, "delta": ANSWER[9:], "logprobs": []},
        {"type": "response.output_text.done", **at, "text": ANSWER, "logprobs": []},
        {"type": "response.output_item.done", "output_index": 0, "item": message},
        {**started, "output_index": 1, "item": {**call, "arguments": ""}},
        {"type": "response.output_item.done", "output_index": 1, "item": call},
        {"type": "response.completed",
         "response": {**common, "status": "completed", "output": [message, call]}},
    ]  # fmt: skip
    return sse(*({**event, "sequence_number": n} for n, event in enumerate(events)))


@pytest.fixture(scope="module")
def openai_url() -> Iterator[str]:
    class Handler(BaseHTTPRequestHandler):
        def log_message(self, *_: object) -> None:
            pass

        def do_POST(self) -> None:
            self.rfile.read(int(self.headers["content-length"]))
            data = response_events() if "responses" in self.path else chat_chunks()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

    with serving(Handler) as address:
        yield f"{address}/v1"


@pytest.fixture(scope="module")
def anthropic_url() -> Iterator[str]:
    with ScriptedMessagesAPI() as api:
        turn = Turn(ANSWER, calls=[tool(CALL[0], **CALL[1])], only_if=lambda body: True)
        api.script(*[turn] * 99)
        yield api.url


@pytest.fixture
def urls(request: pytest.FixtureRequest) -> Callable[[str], str]:
    return lambda client: str(request.getfixturevalue(f"{client}_url"))


Open = Callable[[Any, list[Any]], Any]

HELPERS: dict[str, tuple[str, Open]] = {
    "messages": (
        "anthropic",
        lambda c, m: c.messages.stream(model="m", max_tokens=99, messages=m),
    ),
    "chat": ("openai", lambda c, m: c.chat.completions.stream(model="m", messages=m)),
    "responses": ("openai", lambda c, m: c.responses.stream(model="m", input=m)),
}
WAYS: dict[str, dict[str, Callable[[Any], Any]]] = {
    "messages": {
        "events": list,
        "texts": lambda stream: list(stream.text_stream),
        "final": lambda stream: stream.get_final_message(),
        "text": lambda stream: stream.get_final_text(),
        "done": lambda stream: stream.until_done(),
    },
    "chat": {
        "events": list,
        "final": lambda stream: stream.get_final_completion(),
        "done": lambda stream: stream.until_done(),
    },
    "responses": {
        "events": list,
        "final": lambda stream: stream.get_final_response(),
        "done": lambda stream: stream.until_done(),
    },
}
CASES = [(helper, way) for helper, ways in WAYS.items() for way in ways]


def client_of(kind: str, url: str, *, is_async: bool = False) -> Any:
    if kind == "anthropic":
        make = anthropic.AsyncAnthropic if is_async else anthropic.Anthropic
    else:
        make = openai.AsyncOpenAI if is_async else openai.OpenAI
    return make(base_url=url, api_key="none", max_retries=0)


def assert_recorded(loop: SkillLoop, llm: ScriptedLLM) -> None:
    """The question, the answer and the call, each once."""
    assert loop.wait(10)
    assert loop.get_stats()["faults"] == 0
    assert (loop.get_stats()["turns"], loop.get_stats()["tool_calls"]) == (1, 1)
    digest = llm.requests[0].messages[1]["content"]
    assert digest.count("Why does my worker leak memory?") == 1
    assert digest.count(ANSWER) == 1
    assert digest.count("lookup") == 1


@pytest.mark.parametrize(("helper", "way"), CASES)
def test_a_helper_that_a_function_returns(
    make_loop: Loops, nothing: Any, urls: Callable[[str], str], helper: str, way: str
) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    kind, open_ = HELPERS[helper]
    client = client_of(kind, urls(kind))
    agent = loop.wrap(lambda messages: open_(client, messages))
    with agent(LEAK) as stream:
        WAYS[helper][way](stream)
    assert loop.end_session()
    assert_recorded(loop, llm)


@pytest.mark.parametrize("helper", HELPERS)
def test_a_helper_that_a_function_reads_and_passes_on(
    make_loop: Loops, nothing: Any, urls: Callable[[str], str], helper: str
) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    kind, open_ = HELPERS[helper]
    client = client_of(kind, urls(kind))

    @loop.wrap
    def agent(messages: list[Any]) -> Iterator[Any]:
        with open_(client, messages) as stream:
            yield from stream

    assert list(agent(LEAK))
    assert loop.end_session()
    assert_recorded(loop, llm)


async def read_async(stream: Any, way: str) -> None:
    if way in ("events", "texts"):
        async for _ in stream if way == "events" else stream.text_stream:
            pass
    elif way == "done":
        await stream.until_done()
    elif way == "text":
        await stream.get_final_text()
    else:
        names = ("get_final_message", "get_final_completion", "get_final_response")
        await next(getattr(stream, name) for name in names if hasattr(stream, name))()


@pytest.mark.parametrize(("helper", "way"), CASES)
def test_an_async_helper_that_a_function_returns(
    make_loop: Loops, nothing: Any, urls: Callable[[str], str], helper: str, way: str
) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    kind, open_ = HELPERS[helper]

    async def talk() -> None:
        async with client_of(kind, urls(kind), is_async=True) as client:
            agent = loop.wrap(lambda messages: open_(client, messages))
            async with agent(LEAK) as stream:
                await read_async(stream, way)
            loop.end_session()

    asyncio.run(talk())
    assert_recorded(loop, llm)


@pytest.mark.parametrize("helper", HELPERS)
def test_an_async_helper_that_a_function_reads_and_passes_on(
    make_loop: Loops, nothing: Any, urls: Callable[[str], str], helper: str
) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    kind, open_ = HELPERS[helper]

    async def talk() -> None:
        async with client_of(kind, urls(kind), is_async=True) as client:

            @loop.wrap
            async def agent(messages: list[Any]) -> AsyncIterator[Any]:
                async with open_(client, messages) as stream:
                    async for event in stream:
                        yield event

            assert [event async for event in agent(LEAK)]
            loop.end_session()

    asyncio.run(talk())
    assert_recorded(loop, llm)


@pytest.mark.parametrize("create", ["chat", "responses", "messages"])
def test_raw_streams_are_read_to_their_calls(
    make_loop: Loops, nothing: Any, urls: Callable[[str], str], create: str
) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    client = client_of(HELPERS[create][0], urls(HELPERS[create][0]))
    call = {
        "chat": lambda m: client.chat.completions.create(model="m", messages=m, stream=True),
        "responses": lambda m: client.responses.create(model="m", input=m, stream=True),
        "messages": lambda m: client.messages.create(
            model="m", max_tokens=99, messages=m, stream=True
        ),
    }[create]
    assert list(loop.wrap(call)(LEAK))
    assert loop.end_session()
    assert_recorded(loop, llm)


def test_only_the_texts_of_a_helper_are_enough(
    make_loop: Loops, nothing: Any, anthropic_url: str
) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    client = client_of("anthropic", anthropic_url)

    @loop.wrap
    def agent(messages: list[Any]) -> Iterator[Any]:
        with HELPERS["messages"][1](client, messages) as stream:
            yield from (event for event in stream if event.type == "text")

    assert "".join(event.text for event in agent(LEAK)) == ANSWER
    assert loop.end_session()
    assert llm.requests[0].messages[1]["content"].count(ANSWER) == 1


def test_a_helper_that_is_left_early_and_one_whose_block_fails(
    make_loop: Loops, nothing: Any, anthropic_url: str
) -> None:
    llm = ScriptedLLM(nothing, nothing)
    loop = make_loop(llm=llm)
    client = client_of("anthropic", anthropic_url)
    agent = loop.wrap(lambda messages: HELPERS["messages"][1](client, messages))
    with agent(LEAK) as stream:
        first = next(stream.text_stream)

    def fail() -> None:
        with agent([{"role": "user", "content": "And the cache?"}]) as stream:
            raise KeyError(next(iter(stream)).type)

    with pytest.raises(KeyError):
        fail()
    assert loop.end_session()
    assert loop.get_stats()["turns"] == 2
    digest = llm.requests[0].messages[1]["content"]
    assert first in digest
    assert "And the cache?" in digest


def test_what_a_with_opens_is_passed_on_as_it_is(make_loop: Loops, nothing: Any) -> None:
    class Manager:
        note = "kept"

        def __enter__(self) -> str:
            return ANSWER

        def __exit__(self, *_: object) -> bool:
            return True

    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    manager = loop.wrap(lambda messages: Manager())(LEAK)
    assert manager.note == "kept"
    with manager as answer:
        assert answer == ANSWER
        raise ValueError  # which the manager swallows
    assert loop.end_session()
    assert ANSWER in llm.requests[0].messages[1]["content"]
