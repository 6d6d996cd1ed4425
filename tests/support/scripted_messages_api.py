"""A scripted Messages API on loopback, enough of it for the real Claude Code client.

The client asks `POST /v1/messages` with `stream: true` and reads server-sent events; everything the
model would have said comes from a list of turns. Requests are kept, so that a test can look at
what the client really put in front of the model.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

Body = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer of the model.

    tools: (tool name, input) pairs. only_if: serve this turn only to requests it accepts, and leave
    it in the list until one comes. delay: seconds before the answer. status: an HTTP error instead.
    """

    text: str = ""
    tools: Sequence[tuple[str, Body]] = ()
    only_if: Callable[[Body], bool] | None = None
    delay: float = 0.0
    status: int = 0


def bash(command: str, **more: Any) -> tuple[str, Body]:
    return ("Bash", {"command": command, "description": "run it", **more})


def request_text(body: Body) -> str:
    """All of a request's words as one string, for `in` tests."""
    return json.dumps(body, ensure_ascii=False)


@dataclass
class ScriptedMessagesAPI:
    turns: list[Turn] = field(default_factory=list)
    requests: list[Body] = field(default_factory=list)

    def __enter__(self) -> ScriptedMessagesAPI:
        self._lock = threading.Lock()
        self._ids = itertools.count(1)
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(self))
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join(timeout=5)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def script(self, *turns: Turn) -> None:
        """Replace what is left of the script, and forget the requests so far."""
        with self._lock:
            self.turns[:] = turns
            self.requests.clear()

    def answer(self, body: Body) -> tuple[Turn, Body]:
        with self._lock:
            self.requests.append(body)
            turn = self._next_turn(body)
            number = next(self._ids)
            blocks: list[Body] = [{"type": "text", "text": turn.text}] if turn.text else []
            for name, tool_input in turn.tools:
                call = f"toolu_scripted{next(self._ids):010d}"
                blocks.append({"type": "tool_use", "id": call, "name": name, "input": tool_input})
        message = {
            "id": f"msg_scripted{number:08d}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": blocks,
            "stop_reason": "tool_use" if turn.tools else "end_turn",
            "stop_sequence": None,
            "usage": {
                "input_tokens": max(1, len(json.dumps(body)) // 4),
                "cache_creation_input_tokens": 0,
                "cache_read_input_tokens": 0,
                "output_tokens": 20,
            },
        }
        return turn, message

    def _next_turn(self, body: Body) -> Turn:
        for index, turn in enumerate(self.turns):
            if turn.only_if is not None:
                if turn.only_if(body):
                    return self.turns.pop(index)
                continue
            # Side requests (titles, probes) carry no tools and must not eat the main script.
            if body.get("tools"):
                return self.turns.pop(index)
            break
        return Turn(text="(nothing more is scripted)")


def _events(message: Body) -> Iterator[tuple[str, Body]]:
    opening = {**message, "content": [], "stop_reason": None}
    yield "message_start", {"type": "message_start", "message": opening}
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            empty, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            empty = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        at = {"index": index}
        yield "content_block_start", {"type": "content_block_start", **at, "content_block": empty}
        yield "content_block_delta", {"type": "content_block_delta", **at, "delta": delta}
        yield "content_block_stop", {"type": "content_block_stop", **at}
    stop = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield "message_delta", {"type": "message_delta", "delta": stop, "usage": message["usage"]}
    yield "message_stop", {"type": "message_stop"}


def _handler(api: ScriptedMessagesAPI) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class in a closure
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            return

        def _reply(self, status: int, value: Body) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def do_GET(self) -> None:
            error = {"type": "not_found_error", "message": f"not scripted: {self.path}"}
            self._reply(404, {"type": "error", "error": error})

        do_HEAD = do_GET

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            route = self.path.split("?")[0]
            if route.endswith("/count_tokens"):
                self._reply(200, {"input_tokens": max(1, len(raw) // 4)})
                return
            if not route.endswith("/v1/messages"):
                self.do_GET()
                return
            body = json.loads(raw or b"{}")
            turn, message = api.answer(body)
            time.sleep(turn.delay)
            if turn.status:
                error = {"type": "api_error", "message": "scripted"}
                self._reply(turn.status, {"type": "error", "error": error})
            elif body.get("stream"):
                self._stream(message)
            else:
                self._reply(200, message)

        def _stream(self, message: Body) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            try:
                for name, value in _events(message):
                    self.wfile.write(f"event: {name}\ndata: {json.dumps(value)}\n\n".encode())
                self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                return

    return Handler
