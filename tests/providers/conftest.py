"""Programs that play the headless client, and servers that play a model's API."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from loopback import serving

from skill_learner.interfaces import ReviewRequest
from skill_learner.models import Digest, Episode, Session, Skill, Step

FAKE_CLIENT = """#!{python}
import json, os, sys, time
here = os.path.dirname(os.path.abspath(__file__))
with open(os.path.join(here, "call.json"), "w") as record:
    json.dump({{"argv": sys.argv[1:], "stdin": sys.stdin.read(), "env": dict(os.environ),
               "cwd": os.getcwd()}}, record)
{behaviour}
"""


@pytest.fixture
def fake_client(tmp_path: Path) -> Callable[[str], Path]:
    """Writes a `claude` whose behaviour is the given Python code; returns its folder."""

    def write(behaviour: str) -> Path:
        folder = tmp_path / "bin"
        folder.mkdir(exist_ok=True)
        program = folder / "claude"
        program.write_text(FAKE_CLIENT.format(python=sys.executable, behaviour=behaviour))
        program.chmod(0o755)
        return folder

    return write


class ScriptedServer:
    """Answers POST requests from a list of (status, headers, JSON body), and keeps them."""

    def __init__(self) -> None:
        self.answers: list[tuple[int, dict[str, str], Any]] = []
        self.requests: list[dict[str, Any]] = []
        server = self

        class Handler(BaseHTTPRequestHandler):
            def log_message(self, *_: object) -> None:
                pass

            def do_POST(self) -> None:
                body = self.rfile.read(int(self.headers["content-length"]))
                server.requests.append(
                    {
                        "path": self.path,
                        "headers": {k.lower(): v for k, v in self.headers.items()},
                        "body": json.loads(body),
                    }
                )
                status, headers, answer = server.answers.pop(0)
                data = json.dumps(answer).encode()
                self.send_response(status)
                for name, value in {"content-type": "application/json", **headers}.items():
                    self.send_header(name, value)
                self.send_header("content-length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

        self.handler = Handler
        self.url = ""


@pytest.fixture
def server() -> Iterator[ScriptedServer]:
    scripted = ScriptedServer()
    with serving(scripted.handler) as scripted.url:
        yield scripted


@pytest.fixture
def skill() -> Skill:
    return Skill(
        name="run-the-tests",
        description="Use when running the tests.",
        body="## Steps\n1. Run tests with make.\n2. Run tests again.\n",
        state="active",
        scope="p-1",
        path="/library/run-the-tests/SKILL.md",
        content_hash="abc123",
        ours=True,
    )


@pytest.fixture
def review_request(skill: Skill) -> ReviewRequest:
    steps = tuple(Step(number, "human", f"words {number}") for number in range(1, 21))
    session = Session(id="s1", editor="claude-code", project="/p", steps=steps)
    episode = Episode(
        kind="fixed_failure",
        steps=(3, 7),
        trigger="ValueError: no currency",
        trigger_key="t",
        remedy_key="r",
        command="pytest",
        error="ValueError: no currency",
        remedy="pytest",
        changed_files=("settings.toml",),
    )
    digest = Digest("[1] HUMAN words 1", 5, frozenset({1}))
    return ReviewRequest(session, digest, (episode,), (skill,))


@pytest.fixture
def sound_answer() -> dict[str, Any]:
    return {
        "outcome": "done and checked",
        "skills": [
            {
                "action": "create",
                "name": "set-shop-currency",
                "description": "Use when pytest says ValueError: no currency.",
                "body": "## Steps\n1. Set `currency` in `settings.toml`.",
                "evidence": [{"claim": "the test passed after the change", "steps": [3, 7]}],
                "confidence": 0.9,
            }
        ],
        "nothing_because": "",
    }
