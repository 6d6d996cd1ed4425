"""A home with hooks installed by `init`, and Cursor played by the test."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from skill_learner.hook_runtime.launcher import render_hook_sh
from skill_learner.install.installer import install
from skill_learner.journal import JournalReading, read_journal
from skill_learner.paths import StatePaths
from skill_learner.project import project_key, project_root

CHECKOUT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SKILL_LEARNER_SHARED") or CHECKOUT.parent / "shared")
SESSION = "7d0f5a5e-2c1b-4b7e-9a44-0f3b5d1c9e21"


class CursorSandbox:
    """Everything lies below a folder whose name is full of what shells trip over. What a hook would
    start as a review is a script that says so in `started`."""

    def __init__(self, root: Path) -> None:
        self.root = root / 'O\'Brien $HOME & "co" ü'
        self.home = self.root / "home"
        self.home.mkdir(parents=True)
        self.project = (self.root / "First Last").resolve()
        self.project.mkdir()
        self.state = StatePaths(self.home / ".skill_learner")
        self.launcher = self.state.root / "hook.sh"
        self.started = self.root / "started"

    def install(self, *targets: str) -> None:
        for target in targets:
            install(target, "project", self.project, self.state)
        self.launcher.write_bytes(
            render_hook_sh(Path(sys.executable), self._entry(), self.state.root, CHECKOUT)
        )

    def _entry(self) -> Path:
        reviewer = self.root / "reviewer"
        reviewer.write_text('#!/bin/sh\necho review >>"$(dirname "$0")/started"\n')
        reviewer.chmod(0o755)
        entry = self.root / "entry.py"
        source = (CHECKOUT / "hooks" / "entry.py").read_text(encoding="utf-8")
        entry.write_text(f"import sys\nsys.executable = {str(reviewer)!r}\n{source}")
        return entry

    def line(self, event: str, file: str = ".cursor/hooks.json") -> str:
        """The command that stands in the written file, as the editor reads it."""
        entry = json.loads((self.project / file).read_bytes())["hooks"][event][0]
        command: str = (entry["hooks"][0] if "hooks" in entry else entry)["command"]
        return command

    @property
    def environ(self) -> dict[str, str]:
        """What Cursor sets for hooks, beside what they need."""
        return {
            "HOME": str(self.home),
            "PATH": os.environ.get("PATH", os.defpath),
            "CURSOR_PROJECT_DIR": str(self.project),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "CURSOR_VERSION": "3.20.17",
            "CURSOR_USER_EMAIL": "dev@example.com",
        }

    def start(
        self,
        command: list[str | bytes],
        stdin: bytes = b"",
        cwd: Path | None = None,
        environ: dict[str, str] | None = None,
    ) -> subprocess.CompletedProcess[bytes]:
        return subprocess.run(
            command,
            input=stdin,
            capture_output=True,
            env=environ or self.environ,
            cwd=cwd or self.project,
            timeout=30,
            check=False,
        )

    def fire(self, event: str, fields: dict[str, Any], file: str = ".cursor/hooks.json") -> bytes:
        """Send an event, complete with what is common to all; returns what was printed."""
        native = fields.pop("native", event)
        common = {
            "conversation_id": SESSION,
            "generation_id": "g-1",
            **fields,
            "hook_event_name": native,
            "cursor_version": "3.20.17",
            "workspace_roots": [str(self.project)],
            "user_email": "dev@example.com",
        }
        common.setdefault("session_id", common["conversation_id"])
        payload = json.dumps(common).encode()
        done = self.start(["/bin/sh", "-c", self.line(event, file)], payload)
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def journal(self, session: str = SESSION) -> JournalReading:
        return read_journal(self.state.journal_dir / f"{session}.jsonl")

    def readings(self) -> list[JournalReading]:
        return [read_journal(path) for path in sorted(self.state.journal_dir.glob("*.jsonl"))]

    def raw_records(self, session: str = SESSION) -> list[bytes]:
        """The lines as hooks left them, before the reader joins any."""
        data = (self.state.journal_dir / f"{session}.jsonl").read_bytes()
        return [line for line in data.split(b"\n") if line]

    @property
    def key(self) -> str:
        return project_key(project_root(self.project))

    def tally(self) -> int:
        path = self.state.tally_dir / self.key
        return path.stat().st_size if path.exists() else 0

    def requests(self) -> list[str]:
        folder = self.state.requests_dir
        return [path.read_text() for path in sorted(folder.iterdir())] if folder.exists() else []
