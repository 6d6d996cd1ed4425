"""A home, a project and the real Codex client in it."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_sandbox import ClientSandbox
from scripted_api import Body
from scripted_responses_api import patch, shell

_CONFIG = """\
model = "{model}"
model_provider = "scripted"

[features]
apps = false

[analytics]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}"
wire_api = "responses"
env_key = "SCRIPTED_KEY"
request_max_retries = 0
stream_max_retries = 0

[projects.{project}]
trust_level = "trusted"
"""
KEY = "not-a-real-key-for-loopback-tests"


@dataclass
class CodexSandbox(ClientSandbox):
    title = "Codex client"
    target = "codex"
    program_name = "codex"
    program_variable = "SKILL_LEARNER_CODEX"
    settings_file = ".codex/hooks.json"
    notes_file = "AGENTS.md"
    skills_folder = ".agents/skills"

    @property
    def codex_home(self) -> Path:
        return self.home / ".codex"

    def configure(self, model: str = "gpt-5.5") -> None:
        """A user's config.toml: the scripted provider, and trust in the project (not its hooks)."""
        self.codex_home.mkdir(exist_ok=True)
        project = json.dumps(str(self.project), ensure_ascii=False)
        text = _CONFIG.format(model=model, url=self.api.url, project=project)
        (self.codex_home / "config.toml").write_text(text, encoding="utf-8")

    def client_variables(self) -> dict[str, str]:
        return {"SCRIPTED_KEY": KEY}

    def client_command(self, prompt: str, *arguments: str) -> list[str]:
        headless = ("--json", "--dangerously-bypass-approvals-and-sandbox")
        return [str(self.program), "exec", *arguments, prompt, *headless]

    def session_id(self, output: str) -> str:
        for line in output.splitlines():
            if line.startswith("{") and (event := json.loads(line)).get("type") == "thread.started":
                return str(event["thread_id"])
        raise AssertionError(f"no session began:\n{output}")

    def shell(self, command: str) -> Body:
        return shell(command, yield_time_ms=30_000)

    def look_at(self, file: str) -> Body:
        return shell(f"cat {file}")

    def repair(self, file: str, before: str, after: str) -> Body:
        old, new = (
            [sign + line for line in text.splitlines()]
            for sign, text in (("-", before), ("+", after))
        )
        return patch(f"*** Update File: {file}", "@@", *old, *new)

    def init(self) -> None:
        super().init()
        self.trust_hooks()

    @contextmanager
    def server(self) -> Iterator[AppServer]:
        """The client as an app server, as its editors' extensions use it."""
        process = subprocess.Popen(
            [str(self.program), "app-server"],
            cwd=self.project, env=self.environment(), stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True,
        )  # fmt: skip
        try:
            server = AppServer(process)
            server.call("initialize", {"clientInfo": {"name": "test", "version": "1"}})
            server.send({"method": "initialized"})
            yield server
        finally:
            process.communicate(timeout=30)

    def hooks(self) -> list[dict[str, Any]]:
        """The client's own list of hooks for a session in the project."""
        with self.server() as server:
            return server.hooks(self.project)

    def trust_hooks(self) -> None:
        """What the user does in `/hooks`: trust all that are listed."""
        with self.server() as server:
            hooks = server.hooks(self.project)
            trusted = {hook["key"]: {"trusted_hash": hook["currentHash"]} for hook in hooks}
            edit = {"keyPath": "hooks.state", "mergeStrategy": "upsert", "value": trusted}
            server.call("config/batchWrite", {"edits": [edit]})


class AppServer:
    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process
        self._calls = 0

    def send(self, message: dict[str, Any]) -> None:
        assert self._process.stdin
        self._process.stdin.write(json.dumps(message) + "\n")
        self._process.stdin.flush()

    def call(self, method: str, parameters: dict[str, Any]) -> dict[str, Any]:
        self._calls += 1
        self.send({"id": self._calls, "method": method, "params": parameters})
        assert self._process.stdout
        for line in self._process.stdout:
            reply = json.loads(line)
            if reply.get("id") == self._calls:
                assert "error" not in reply, reply
                result: dict[str, Any] = reply["result"]
                return result
        raise AssertionError(f"no answer to {method}")

    def hooks(self, folder: Path) -> list[dict[str, Any]]:
        (entry,) = self.call("hooks/list", {"cwds": [str(folder)]})["data"]
        hooks: list[dict[str, Any]] = entry["hooks"]
        return hooks
