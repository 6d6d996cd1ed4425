"""A sandbox in which tests run the very line that init registers, through /bin/sh."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from skill_learner.hook_runtime.launcher import render_hook_sh
from skill_learner.hook_runtime.project_key import project_key
from skill_learner.targets.claude_code import command_line

CHECKOUT = Path(__file__).resolve().parents[2]
SESSION = "11111111-2222-3333-4444-555555555555"


class HookSandbox:
    """home/.skill_learner/hook.sh starts the checkout's hook; a review would start `reviewer`."""

    def __init__(self, root: Path, interpreter: Path | None = None) -> None:
        self.home = root / "home"
        self.state = self.home / ".skill_learner"
        self.state.mkdir(parents=True, mode=0o700)
        self.project = (root / "project").resolve()
        (self.project / ".git").mkdir(parents=True)
        (self.project / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
        self.started = root / "started"
        self.interpreter = interpreter or Path(sys.executable)
        self.entry = self._entry(root)
        self.write_launcher()

    def _entry(self, root: Path) -> Path:
        """The real entry, but what a hook would start as a review is a script that says so."""
        reviewer = root / "reviewer"
        reviewer.write_text(
            "#!/bin/sh\n"
            f"exec >>'{self.started}'\n"
            'echo "$SKILL_LEARNER_REVIEW|$SKILL_LEARNER_STATE_DIR|$PWD|$*"\n'
        )
        reviewer.chmod(0o755)
        entry = root / "entry.py"
        source = (CHECKOUT / "hooks" / "entry.py").read_text(encoding="utf-8")
        entry.write_text(f"import sys\nsys.executable = {str(reviewer)!r}\n{source}")
        return entry

    def write_launcher(self) -> None:
        script = render_hook_sh(self.interpreter, self.entry, self.state, CHECKOUT)
        (self.state / "hook.sh").write_bytes(script)

    @property
    def key(self) -> str:
        return project_key(os.fsencode(self.project))

    def environ(self, **more: str) -> dict[str, str]:
        base = {
            "PATH": os.environ["PATH"],
            "HOME": str(self.home),
            "CLAUDE_PROJECT_DIR": str(self.project),
            "CLAUDE_CODE_SESSION_ID": SESSION,
            "CLAUDE_PID": str(os.getpid()),
        }
        return base | more

    def payload(self, event: str, **fields: Any) -> bytes:
        head = {"session_id": SESSION, "cwd": str(self.project), "hook_event_name": event}
        text = json.dumps(head | fields, separators=(",", ":"), ensure_ascii=False)
        return text.encode() + b"\n"

    def command(self, event: str) -> list[str]:
        """How the editor starts the hook of an event."""
        return ["/bin/sh", "-c", command_line(event)]

    def run(
        self, event: str, payload: bytes | None = None, environ: dict[str, str] | None = None
    ) -> bytes:
        """Run the registered line; it must exit 0 and write nothing to stderr. Returns stdout."""
        done = subprocess.run(
            self.command(event),
            input=self.payload(event) if payload is None else payload,
            env=self.environ() if environ is None else environ,
            capture_output=True,
            timeout=60,
            check=False,
        )
        assert (done.returncode, done.stderr) == (0, b"")
        return done.stdout

    def popen(self, event: str, **options: Any) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            self.command(event),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.environ(),
            **options,
        )

    def records(self, session: str = SESSION) -> list[dict[str, Any]]:
        """Every line of a journal, each of which must be whole."""
        lines = (self.state / "journal" / f"{session}.jsonl").read_bytes().split(b"\n")
        assert lines[0] == b""
        return [json.loads(line) for line in lines[1:]]

    def tally(self) -> int:
        path = self.state / "tally" / self.key
        return path.stat().st_size if path.exists() else 0

    def requests(self) -> list[dict[str, str]]:
        folder = self.state / "requests"
        if not folder.exists():
            return []
        texts = [path.read_text() for path in sorted(folder.iterdir())]
        return [dict(line.split("=", 1) for line in text.splitlines()) for text in texts]

    def log(self) -> str:
        path = self.state / "hook.log"
        return path.read_text() if path.exists() else ""
