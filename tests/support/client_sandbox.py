"""A home, a project and the real client in it, for the tests that drive the client."""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scripted_messages_api import ScriptedMessagesAPI


@dataclass
class Sandboxed:
    """A home and a project; nothing that is run here can see the outside."""

    home: Path
    project: Path

    @property
    def state(self) -> Path:
        return self.home / ".skill_learner"

    def environment(self, **more: str) -> dict[str, str]:
        raise NotImplementedError

    def run(self, *arguments: str, check: bool = True, **environment: str) -> str:
        """Run `skill-learner ARGUMENTS` as a user in the project would; returns its stdout."""
        done = subprocess.run(
            [sys.executable, "-m", "skill_learner", *arguments],
            cwd=self.project,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert not check or done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    def json(self, *arguments: str) -> Any:
        return json.loads(self.run(*arguments, "--json"))

    def journals(self) -> dict[str, Path]:
        return {path.stem: path for path in (self.state / "journal").glob("*.jsonl")}

    def jobs(self) -> list[dict[str, Any]]:
        found = {}
        for path in sorted((self.state / "jobs").rglob("*.json")):
            with contextlib.suppress(FileNotFoundError):  # it moved when it was closed
                found[path.name] = json.loads(path.read_text(encoding="utf-8"))
        return list(found.values())

    def wait_for_review(self, session: str, timeout: float = 60.0) -> dict[str, Any]:
        """The job of `session` once it is over."""

        def finished() -> dict[str, Any] | None:
            for job in self.jobs():
                if job["session"] == session and job["status"] in {"done", "failed", "abandoned"}:
                    return job
            return None

        return wait_until(finished, timeout, self.state_report)

    def state_report(self) -> str:
        logs = [
            f"--- {path.name}\n{path.read_text(encoding='utf-8', errors='replace')}"
            for path in (self.state / "hook.log", self.state / "review.log")
            if path.exists()
        ]
        return "\n".join([json.dumps(self.jobs(), indent=1), *logs])


@dataclass
class Sandbox(Sandboxed):
    """With Claude Code."""

    claude: Path
    api: ScriptedMessagesAPI

    def environment(self, **more: str) -> dict[str, str]:
        bin_dir = self.home / "bin"
        bin_dir.mkdir(exist_ok=True)
        link = bin_dir / "claude"
        if not link.exists():
            link.symlink_to(self.claude)
        return {
            "HOME": str(self.home),
            "PATH": f"{bin_dir}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "GIT_CONFIG_NOSYSTEM": "1",
            "ANTHROPIC_BASE_URL": self.api.url,
            "ANTHROPIC_API_KEY": "not-a-real-key-for-loopback-tests",
            "DISABLE_TELEMETRY": "1",
            "DISABLE_AUTOUPDATER": "1",
            "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
            "IS_SANDBOX": "1",  # lets root use the flag below
            **more,
        }

    def client_command(self, *arguments: str) -> list[str]:
        return [str(self.claude), *arguments, "--dangerously-skip-permissions"]

    def ask(
        self, prompt: str, *arguments: str, cwd: Path | None = None, **environment: str
    ) -> dict[str, Any]:
        """One headless session of the real client; returns its result object."""
        done = subprocess.run(
            self.client_command("-p", prompt, "--output-format", "json", *arguments),
            cwd=cwd or self.project,
            env=self.environment(**environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        result: dict[str, Any] = json.loads(done.stdout)
        return result


def wait_until(probe: Callable[[], Any], timeout: float, report: Callable[[], str]) -> Any:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if found := probe():
            return found
        time.sleep(0.1)
    raise AssertionError(f"nothing after {timeout:g} s\n{report()}")
