"""A scripted Responses API on loopback, enough of it for the real Codex client.

The client asks `POST .../responses` and reads server-sent events; everything the model would have
said comes from a list of replies. Requests are kept, so that a test can look at what the client
really put in front of the model.
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
class Reply:
    """One answer of the model.

    calls: as made by `shell` and `patch`. only_if: serve this reply only to requests it accepts,
    and leave it in the list until one comes. status: an HTTP error instead.
    """

    text: str = ""
    calls: Sequence[Body] = ()
    only_if: Callable[[Body], bool] | None = None
    delay: float = 0.0
    status: int = 0


def shell(command: str, **more: Any) -> Body:
    arguments = json.dumps({"cmd": command, **more})
    return {"type": "function_call", "name": "exec_command", "arguments": arguments}


def patch(*lines: str) -> Body:
    text = "\n".join(["*** Begin Patch", *lines, "*** End Patch", ""])
    return {"type": "custom_tool_call", "name": "apply_patch", "input": text}


def script(code: str) -> Body:
    """A call in code mode, where the model writes JavaScript that calls the tools."""
    return {"type": "custom_tool_call", "name": "exec", "input": code}


def agent(message: str) -> Body:
    arguments = json.dumps({"message": message})
    space = {"namespace": "multi_agent_v1"}
    return {"type": "function_call", "name": "spawn_agent", "arguments": arguments, **space}


def request_text(body: Body) -> str:
    """All of a request's words as one string, for `in` tests."""
    return json.dumps(body, ensure_ascii=False)


@dataclass
class ScriptedResponsesAPI:
    replies: list[Reply] = field(default_factory=list)
    requests: list[Body] = field(default_factory=list)

    def __enter__(self) -> ScriptedResponsesAPI:
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
        return f"http://127.0.0.1:{self._server.server_address[1]}/v1"

    def script(self, *replies: Reply) -> None:
        """Replace what is left of the script, and forget the requests so far."""
        with self._lock:
            self.replies[:] = replies
            self.requests.clear()

    def answer(self, body: Body) -> tuple[Reply, list[Body]]:
        with self._lock:
            self.requests.append(body)
            reply = self._next_reply(body)
            return reply, [*self._message(reply.text), *map(self._call, reply.calls)]

    def _next_reply(self, body: Body) -> Reply:
        for index, reply in enumerate(self.replies):
            if reply.only_if is None or reply.only_if(body):
                return self.replies.pop(index)
        return Reply("(nothing more is scripted)")

    def _id(self, kind: str) -> str:
        return f"{kind}_scripted{next(self._ids):08d}"

    def _message(self, text: str) -> list[Body]:
        if not text:
            return []
        content = [{"type": "output_text", "text": text, "annotations": []}]
        role = {"role": "assistant", "status": "completed"}
        return [{"type": "message", "id": self._id("msg"), **role, "content": content}]

    def _call(self, call: Body) -> Body:
        ids = {"id": self._id("fc"), "call_id": self._id("call"), "status": "completed"}
        return {**call, **ids}


def _events(number: int, items: list[Body], size: int) -> Iterator[tuple[str, Body]]:
    head = {"id": f"resp_scripted{number:08d}", "object": "response"}
    yield "response.created", {"response": {**head, "status": "in_progress", "output": []}}
    for index, item in enumerate(items):
        yield "response.output_item.done", {"output_index": index, "item": item}
    usage = {
        "input_tokens": max(1, size // 4),
        "input_tokens_details": {"cached_tokens": 0},
        "output_tokens": 20,
        "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": max(1, size // 4) + 20,
    }
    done = {**head, "status": "completed", "output": items, "usage": usage}
    yield "response.completed", {"response": done}


def _handler(api: ScriptedResponsesAPI) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            return

        def _refuse(self, status: int, message: str) -> None:
            data = json.dumps({"error": {"message": message}}).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def do_GET(self) -> None:
            self._refuse(404, f"not scripted: {self.path}")

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            if not self.path.split("?")[0].endswith("/responses"):
                self.do_GET()
                return
            reply, items = api.answer(json.loads(raw))
            time.sleep(reply.delay)
            if reply.status:
                self._refuse(reply.status, "scripted")
                return
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            number = len(api.requests)
            try:
                for sequence, (name, value) in enumerate(_events(number, items, len(raw))):
                    event = json.dumps({"type": name, "sequence_number": sequence, **value})
                    self.wfile.write(f"event: {name}\ndata: {event}\n\n".encode())
                self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                return

    return Handler
