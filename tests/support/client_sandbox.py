"""A home, a project and a real client in it; nothing that is run there can see the outside."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TypeVar

import pytest
from scripted_api import Body, ScriptedAPI, Turn

SandboxT = TypeVar("SandboxT", bound="ClientSandbox")


def client_sandbox(
    kind: type[SandboxT], api: type[ScriptedAPI], folder: Path
) -> Iterator[SandboxT]:
    """A sandbox with its API; skips (or fails, where they are required) without the client."""
    program = _pinned_client(kind.program_variable, kind.title)
    home, project = folder / "home", folder / "work" / "proj éct"
    home.mkdir()
    project.mkdir(parents=True)
    subprocess.run(["git", "init", "-q", str(project)], check=True)
    with api() as running:
        yield kind(home=home, project=project, program=program, api=running)


def _pinned_client(variable: str, title: str) -> Path:
    """The program that scripts/test installs from npm where npm is present."""
    path = os.environ.get(variable, "")
    if path and Path(path).exists():
        return Path(path).resolve()
    reason = f"no {title}: {variable} is not set (scripts/test sets it where npm is found)"
    if os.environ.get("SKILL_LEARNER_CLIENT_TESTS") == "require":
        pytest.fail(reason)
    pytest.skip(reason)


@dataclass
class ClientSandbox:
    """What the scenes need to know of a client is said by a subclass."""

    home: Path
    project: Path
    program: Path
    api: ScriptedAPI

    title: ClassVar[str]
    target: ClassVar[str]
    program_name: ClassVar[str]
    program_variable: ClassVar[str]
    settings_file: ClassVar[str]
    notes_file: ClassVar[str]
    skills_folder: ClassVar[str]

    @property
    def state(self) -> Path:
        return self.home / ".skill_learner"

    def client_variables(self) -> dict[str, str]:
        """What makes the client talk to `api` and to nobody else."""
        raise NotImplementedError

    def client_command(self, prompt: str, *arguments: str) -> list[str]:
        """One headless session, which prints what `session_id` reads."""
        raise NotImplementedError

    def session_id(self, output: str) -> str:
        raise NotImplementedError

    def shell(self, command: str) -> Body:
        """A call of the client's tool for commands."""
        raise NotImplementedError

    def look_at(self, file: str) -> Body:
        """A call that reads a file, as the client wants it before an edit."""
        raise NotImplementedError

    def repair(self, file: str, before: str, after: str) -> Body:
        """A call of the client's tool for edits."""
        raise NotImplementedError

    def session_requests(self) -> list[Body]:
        """What the model of the session was asked."""
        return self.api.requests

    def init(self) -> None:
        """Our hooks in the project, as far as the client runs them."""
        self.run("init", "--target", self.target)

    def environment(self, **more: str) -> dict[str, str]:
        bin_dir = self.home / "bin"
        bin_dir.mkdir(exist_ok=True)
        link = bin_dir / self.program_name
        if not link.exists():
            link.symlink_to(self.program)
        return {
            "HOME": str(self.home),
            "PATH": f"{bin_dir}:{Path(sys.executable).parent}:/usr/local/bin:/usr/bin:/bin",
            "LANG": "C.UTF-8",
            "TERM": "dumb",
            "GIT_CONFIG_NOSYSTEM": "1",
            **self.client_variables(),
            **more,
        }

    def start_client(self, prompt: str) -> subprocess.Popen[str]:
        return subprocess.Popen(
            self.client_command(prompt),
            cwd=self.project, env=self.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True,
        )  # fmt: skip

    def ask(
        self,
        prompt: str,
        *arguments: str,
        cwd: Path | None = None,
        fails: bool = False,
        **environment: str,
    ) -> str:
        """One headless session of the real client; its id."""
        done = subprocess.run(
            self.client_command(prompt, *arguments),
            cwd=cwd or self.project, env=self.environment(**environment), stdin=subprocess.DEVNULL,
            capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert (done.returncode != 0) == fails, done.stdout + done.stderr
        return self.session_id(done.stdout)

    def play(self, prompt: str, *turns: Turn, **more: Any) -> str:
        self.api.script(*turns)
        return self.ask(prompt, **more)

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

    def records(self, session: str) -> list[dict[str, Any]]:
        lines = self.journals()[session].read_text(encoding="utf-8").splitlines()
        return [json.loads(line) for line in lines if line]

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

        job: dict[str, Any] = wait_until(finished, timeout, self.state_report)
        return job

    def state_report(self) -> str:
        logs = [
            f"--- {path.name}\n{path.read_text(encoding='utf-8', errors='replace')}"
            for path in (self.state / "hook.log", self.state / "review.log")
            if path.exists()
        ]
        return "\n".join([json.dumps(self.jobs(), indent=1), *logs])


def wait_until(probe: Callable[[], Any], timeout: float, report: Callable[[], str]) -> Any:
    deadline = time.monotonic() + timeout
    while time.monotonic() < deadline:
        if found := probe():
            return found
        time.sleep(0.1)
    raise AssertionError(f"nothing after {timeout:g} s\n{report()}")
