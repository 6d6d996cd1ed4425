"""A home, a project and the real Codex client in it."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from client_sandbox import Sandboxed
from scripted_responses_api import ScriptedResponsesAPI

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
class CodexSandbox(Sandboxed):
    codex: Path
    api: ScriptedResponsesAPI

    @property
    def codex_home(self) -> Path:
        return self.home / ".codex"

    def configure(self, model: str = "gpt-5.5") -> None:
        """A user's config.toml: the scripted provider, and trust in the project (not its hooks)."""
        self.codex_home.mkdir(exist_ok=True)
        project = json.dumps(str(self.project), ensure_ascii=False)
        text = _CONFIG.format(model=model, url=self.api.url, project=project)
        (self.codex_home / "config.toml").write_text(text, encoding="utf-8")

    def environment(self, **more: str) -> dict[str, str]:
        bin_dir = self.home / "bin"
        bin_dir.mkdir(exist_ok=True)
        link = bin_dir / "codex"
        if not link.exists():
            link.symlink_to(self.codex)
        return {
            "HOME": str(self.home),
            "PATH": f"{bin_dir}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "GIT_CONFIG_NOSYSTEM": "1",
            "SCRIPTED_KEY": KEY,
            **more,
        }

    def client_command(self, *arguments: str) -> list[str]:
        headless = ("--json", "--dangerously-bypass-approvals-and-sandbox")
        return [str(self.codex), "exec", *arguments, *headless]

    def ask(
        self, prompt: str, *, session: str = "", fails: bool = False, cwd: Path | None = None
    ) -> str:
        """One headless turn of the real client, in a session that goes on or a new one; its id."""
        where = ("resume", session) if session else ()
        done = subprocess.run(
            self.client_command(*where, prompt),
            cwd=cwd or self.project, env=self.environment(), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return session_id(done.stdout)

    @contextmanager
    def server(self) -> Iterator[AppServer]:
        """The client as an app server, as its editors' extensions use it."""
        process = subprocess.Popen(
            [str(self.codex), "app-server"],
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


def session_id(output: str) -> str:
    """From what `codex exec --json` prints."""
    for line in output.splitlines():
        if line.startswith("{") and (event := json.loads(line)).get("type") == "thread.started":
            return str(event["thread_id"])
    raise AssertionError(f"no session began:\n{output}")
