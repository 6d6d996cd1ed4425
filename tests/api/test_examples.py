"""The examples, run as their readers run them, against scripted servers on loopback."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from loopback import serving

pytestmark = pytest.mark.process
EXAMPLES = Path(__file__).parents[2] / "examples"
ANSWER = "Take two snapshots with tracemalloc and compare them."


class ModelServer:
    """Plays a model: answers agents with a text, reviews with a skill; keeps every request."""

    def __init__(self, review: dict[str, Any]) -> None:
        self.requests: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = json.loads(self.rfile.read(int(self.headers["content-length"])))
                server.requests.append(body)
                reviewing = "submit_review" in json.dumps(body.get("tools", []))
                shape = anthropic_answer if "messages" in self.path else openai_answer
                kind, data = shape(review if reviewing else None, bool(body.get("stream")))
                self.send_response(200)
                self.send_header("content-type", kind)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.handler = Handler
        self.url = ""


def anthropic_answer(review: dict[str, Any] | None, stream: bool) -> tuple[str, bytes]:
    block: dict[str, Any] = {"type": "text", "text": ANSWER}
    if review is not None:
        block = {"type": "tool_use", "id": "t1", "name": "submit_review", "input": review}
    message = {
        "id": "m1",
        "type": "message",
        "role": "assistant",
        "model": "test",
        "content": [block],
        "stop_reason": "tool_use" if review else "end_turn",
        "stop_sequence": None,
        "usage": {"input_tokens": 5, "output_tokens": 5},
    }
    return "application/json", json.dumps(message).encode()


def openai_answer(review: dict[str, Any] | None, stream: bool) -> tuple[str, bytes]:
    common = {"id": "x", "created": 1, "model": "test"}
    if stream:
        deltas = [{"role": "assistant", "content": ""}, {"content": ANSWER}, {}]
        chunks = [
            {
                **common,
                "object": "chat.completion.chunk",
                "choices": [{"index": 0, "delta": delta, "finish_reason": None}],
            }
            for delta in deltas
        ]
        lines = [f"data: {json.dumps(chunk)}\n\n" for chunk in chunks]
        return "text/event-stream", "".join([*lines, "data: [DONE]\n\n"]).encode()
    message: dict[str, Any] = {"role": "assistant", "content": ANSWER}
    if review is not None:
        function = {"name": "submit_review", "arguments": json.dumps(review)}
        call = {"id": "c1", "type": "function", "function": function}
        message = {"role": "assistant", "content": None, "tool_calls": [call]}
    answer = {
        **common,
        "object": "chat.completion",
        "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 5, "completion_tokens": 5, "total_tokens": 10},
    }
    return "application/json", json.dumps(answer).encode()


@pytest.fixture
def model(learned: Callable[..., dict[str, Any]]) -> Iterator[ModelServer]:
    server = ModelServer(learned())
    with serving(server.handler) as server.url:
        yield server


@pytest.mark.parametrize("example", ["anthropic_agent", "openai_agent", "local_agent"])
def test_an_example_learns_and_uses_what_it_learned(
    model: ModelServer, tmp_path: Path, example: str
) -> None:
    pytest.importorskip("anthropic" if example == "anthropic_agent" else "openai")
    url = model.url if example.startswith("anthropic") else f"{model.url}/v1"
    names = {"ANTHROPIC_BASE_URL": url, "OPENAI_BASE_URL": url}
    keys = {"ANTHROPIC_API_KEY": "test-key", "OPENAI_API_KEY": "test-key"}
    environment = {**os.environ, **(names | keys if example != "local_agent" else {})}
    first = [url, "local-model"] if example == "local_agent" else []

    def ask(question: str) -> Any:
        return subprocess.run(
            [sys.executable, str(EXAMPLES / f"{example}.py"), *first, question],
            cwd=tmp_path,
            env=environment,
            capture_output=True,
            text=True,
            timeout=60,
            check=True,
        )

    told = ask("Why does my worker leak memory?")
    assert told.stdout.strip() == ANSWER
    assert "'active': 1" in told.stderr, told.stderr
    asked = len(model.requests)
    ask("The worker has a memory leak again")
    assert "find-memory-leaks" in json.dumps(model.requests[asked])
