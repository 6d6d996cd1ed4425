"""A model's API on loopback whose answers come from a list of turns.

What the wire looks like is said by a subclass (`scripted_messages_api`, `scripted_responses_api`).
Requests are kept, so that a test can look at what the client really put in front of the model.
"""

from __future__ import annotations

import itertools
import json
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from http.server import BaseHTTPRequestHandler
from typing import Any

from loopback import serving

Body = dict[str, Any]


@dataclass(frozen=True)
class Turn:
    """One answer of the model.

    calls: of tools, as the helpers beside each API make them. only_if: serve this turn only to
    requests it accepts, and leave it in the list until one comes. delay: seconds before the answer.
    status: an HTTP error instead.
    """

    text: str = ""
    calls: Sequence[Body] = ()
    only_if: Callable[[Body], bool] | None = None
    delay: float = 0.0
    status: int = 0


def request_text(body: Body) -> str:
    """All of a request's words as one string, for `in` tests."""
    return json.dumps(body, ensure_ascii=False)


class ScriptedAPI:
    route = ""
    """How the path ends of a request for a turn."""

    def __init__(self) -> None:
        self.turns: list[Turn] = []
        self.requests: list[Body] = []
        self._lock = threading.Lock()
        self._ids = itertools.count(1)

    def __enter__(self) -> ScriptedAPI:
        self._running = serving(_handler(self))
        self._address = self._running.__enter__()
        return self

    def __exit__(self, *error: Any) -> None:
        self._running.__exit__(*error)

    @property
    def url(self) -> str:
        return self._address

    def script(self, *turns: Turn) -> None:
        """Replace what is left of the script, and forget the requests so far."""
        with self._lock:
            self.turns[:] = turns
            self.requests.clear()

    def take(self, body: Body) -> tuple[Turn, Body]:
        """The turn for a request, and the answer it makes."""
        with self._lock:
            self.requests.append(body)
            turn = self._next_turn(body)
            return turn, self.answer(turn, body)

    def _next_turn(self, body: Body) -> Turn:
        for index, turn in enumerate(self.turns):
            if turn.only_if(body) if turn.only_if else not self.is_side_request(body):
                return self.turns.pop(index)
        return Turn("(nothing more is scripted)")

    def new_id(self, kind: str) -> str:
        return f"{kind}_scripted{next(self._ids):08d}"

    def is_side_request(self, body: Body) -> bool:
        """Whether it must not eat a turn that is meant for the session."""
        return False

    def answer(self, turn: Turn, body: Body) -> Body:
        raise NotImplementedError

    def events(self, answer: Body) -> Iterator[Body]:
        """The answer as a stream; each event's name is its `type`."""
        raise NotImplementedError

    def error(self, message: str) -> Body:
        return {"type": "error", "error": {"type": "api_error", "message": message}}

    def other_route(self, route: str, size: int) -> Body | None:
        """What is answered at another path, None for not found."""
        return None


def _handler(api: ScriptedAPI) -> type[BaseHTTPRequestHandler]:  # noqa: C901 - a class in a closure
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: Any) -> None:
            return

        def do_GET(self) -> None:
            self._reply(404, api.error(f"not scripted: {self.path}"))

        do_HEAD = do_GET

        def do_POST(self) -> None:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
            route = self.path.split("?")[0]
            if route.endswith(api.route):
                self._answer(json.loads(raw or b"{}"))
            elif other := api.other_route(route, len(raw)):
                self._reply(200, other)
            else:
                self.do_GET()

        def _answer(self, body: Body) -> None:
            turn, answer = api.take(body)
            time.sleep(turn.delay)
            if turn.status:
                self._reply(turn.status, api.error("scripted"))
            elif body.get("stream"):
                self._stream(answer)
            else:
                self._reply(200, answer)

        def _reply(self, status: int, value: Body) -> None:
            data = json.dumps(value).encode()
            self.send_response(status)
            self.send_header("content-type", "application/json")
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            if self.command != "HEAD":
                self.wfile.write(data)

        def _stream(self, answer: Body) -> None:
            self.close_connection = True
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("connection", "close")
            self.end_headers()
            try:
                for event in api.events(answer):
                    data = f"event: {event['type']}\ndata: {json.dumps(event)}\n\n"
                    self.wfile.write(data.encode())
                self.wfile.flush()
            except (BrokenPipeError, ConnectionResetError):
                return

    return Handler
