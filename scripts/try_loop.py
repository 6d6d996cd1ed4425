"""Play two bundled sessions through the hooks that `init` registers, and show what comes of them.

Everything happens in one temporary folder: a virtual environment with this checkout installed, a
home, a project. The client is played by this script: it carries out the tool calls that the
session files hold, runs the registered hook commands as the client does (`/bin/sh -c`, payload on
stdin), and leaves the rest to skill-learner. The reviewer is the offline one: no key, no network.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

CHECKOUT = Path(__file__).resolve().parents[1]
DATA = Path(__file__).resolve().parent / "try_data"
FOREIGN_PREFIXES = ("SKILL_LEARNER_", "CLAUDE", "ANTHROPIC_", "OPENAI_", "XDG_", "GIT_", "PYTHON")
REVIEW_SECONDS = 40.0


class StageFailed(Exception):
    """A stage did not happen; the text says which and what was seen."""


class Stage:
    """The temporary folder with the home, the project and the installed command."""

    def __init__(self, root: Path, interpreter: Path) -> None:
        self.root = root
        self.home = root / "home"
        self.project = root / "project"
        self.interpreter = interpreter
        self.started = time.monotonic()

    @property
    def environment(self) -> dict[str, str]:
        kept = {k: v for k, v in os.environ.items() if not k.startswith(FOREIGN_PREFIXES)}
        kept |= {
            "HOME": str(self.home),
            "TMPDIR": str(self.root / "tmp"),
            "PATH": f"{self.interpreter.parent}{os.pathsep}{os.environ.get('PATH', os.defpath)}",
            "GIT_CONFIG_GLOBAL": os.devnull,
            "GIT_CONFIG_NOSYSTEM": "1",
        }
        return kept

    def run(
        self, *command: str, stdin: bytes = b"", **more: str
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command,
            cwd=self.project,
            env=self.environment | more,
            input=stdin,
            capture_output=True,
            check=False,
            timeout=60,
        )
        out, err = (stream.decode("utf-8", "replace") for stream in (done.stdout, done.stderr))
        return subprocess.CompletedProcess(command, done.returncode, out, err)

    def learner(self, *arguments: str) -> str:
        done = self.run(str(self.interpreter), "-m", "skill_learner", *arguments)
        if done.returncode:
            raise StageFailed(f"skill-learner {' '.join(arguments)}: {done.stdout}{done.stderr}")
        return done.stdout

    def learner_json(self, *arguments: str) -> Any:
        return json.loads(self.learner(*arguments, "--json"))


class Client:
    """What the editor does in a session, as far as hooks see it."""

    def __init__(self, stage: Stage) -> None:
        self.stage = stage
        self.session = str(uuid.uuid4())
        self.hook_calls = 0

    def play(self, file: Path) -> None:
        """Carry out a bundled session: each tool call really, each event through its hooks."""
        text = file.read_text(encoding="utf-8")
        for name, value in self._placeholders().items():
            text = text.replace(f"@{name}@", json.dumps(value)[1:-1])
        for payload in json.loads(text):
            if "tool_name" in payload:
                carry_out(payload, self.stage)
            self.fire(payload)

    def start(self) -> str:
        """Start a session; returns what the SessionStart hooks print."""
        placeholders = self._placeholders()
        return self.fire(
            {
                "session_id": self.session,
                "transcript_path": placeholders["TRANSCRIPT"],
                "cwd": placeholders["PROJECT"],
                "hook_event_name": "SessionStart",
                "source": "startup",
            }
        )

    def fire(self, payload: dict[str, Any]) -> str:
        """Run the hooks registered for the payload's event; returns their stdout."""
        printed = ""
        for command in registered_commands(self.stage.project, payload["hook_event_name"]):
            done = self.stage.run(
                "/bin/sh",
                "-c",
                command,
                stdin=json.dumps(payload, ensure_ascii=False).encode() + b"\n",
                CLAUDECODE="1",
                CLAUDE_PROJECT_DIR=str(self.stage.project),
                CLAUDE_CODE_SESSION_ID=self.session,
                CLAUDE_CODE_ENTRYPOINT="cli",
                CLAUDE_PID=str(os.getpid()),
            )
            if done.returncode or done.stderr:
                raise StageFailed(f"hook {command!r}: {done.returncode} {done.stderr}")
            self.hook_calls += 1
            printed += done.stdout
        return printed

    def _placeholders(self) -> dict[str, str]:
        transcript = self.stage.home / ".claude" / "projects" / "project" / f"{self.session}.jsonl"
        return {
            "SESSION": self.session,
            "PROJECT": str(self.stage.project),
            "TRANSCRIPT": str(transcript),
            "PROMPT": str(uuid.uuid5(uuid.UUID(self.session), "prompt")),
        }


def registered_commands(project: Path, event: str) -> Iterator[str]:
    settings = json.loads((project / ".claude" / "settings.json").read_text(encoding="utf-8"))
    for group in settings.get("hooks", {}).get(event, []):
        for hook in group["hooks"]:
            yield hook["command"]


def carry_out(payload: dict[str, Any], stage: Stage) -> None:
    """Do what the tool call says and put its true result into the payload."""
    began = time.monotonic()
    given = payload["tool_input"]
    if payload["tool_name"] == "Bash":
        done = stage.run("/bin/sh", "-c", given["command"])
        output = (done.stdout + done.stderr).rstrip("\n")
        failed = payload["hook_event_name"] == "PostToolUseFailure"
        if failed != bool(done.returncode):
            raise StageFailed(f"{given['command']}: exit {done.returncode}\n{output}")
        if failed:
            payload["error"] = f"Exit code {done.returncode}\n{output}"
        else:
            payload["tool_response"] = {"stdout": output, "stderr": "", "interrupted": False}
    else:
        payload["tool_response"] = change_file(payload["tool_name"], given)
    payload["duration_ms"] = round((time.monotonic() - began) * 1000)


def change_file(tool: str, given: dict[str, Any]) -> dict[str, Any]:
    file = Path(given["file_path"])
    if tool == "Write":
        file.write_text(given["content"], encoding="utf-8")
        return {"type": "create", "filePath": str(file), "content": given["content"]}
    before = file.read_text(encoding="utf-8")
    if before.count(given["old_string"]) != 1:
        raise StageFailed(f"{file}: the text to replace is not there exactly once")
    file.write_text(before.replace(given["old_string"], given["new_string"]), encoding="utf-8")
    return {
        "filePath": str(file),
        "oldString": given["old_string"],
        "newString": given["new_string"],
        "originalFile": before,
    }


def install(root: Path) -> Path:
    """A virtual environment with this checkout; returns its interpreter."""
    say("Installing this checkout into a virtual environment of its own ...")
    environment = dict(os.environ, HOME=str(root / "home"), TMPDIR=str(root / "tmp"))
    environment |= {"PIP_NO_CACHE_DIR": "1", **own_pip_settings(Path.home())}
    interpreter = root / "venv" / "bin" / "python"
    pip = [str(interpreter), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for command in ([sys.executable, "-m", "venv", str(root / "venv")], [*pip, str(CHECKOUT)]):
        done = subprocess.run(
            command, env=environment, capture_output=True, text=True, check=False, cwd=root
        )
        if done.returncode:
            raise StageFailed(f"{' '.join(command)}\n{done.stdout}{done.stderr}")
    return interpreter


def own_pip_settings(home: Path) -> dict[str, str]:
    """What pip has to know of the real home (an index of one's own, its login), since it is given
    another: with the real one it, and what it asks for their versions, may write there."""
    places = {
        "PIP_CONFIG_FILE": [
            Path(os.environ.get("XDG_CONFIG_HOME", home / ".config")) / "pip" / "pip.conf",
            home / "Library" / "Application Support" / "pip" / "pip.conf",
            home / ".pip" / "pip.conf",
        ],
        "NETRC": [home / ".netrc"],
    }
    found: dict[str, str] = {}
    for name, files in places.items():
        there = [str(file) for file in files if file.is_file()]
        if there and name not in os.environ:
            found[name] = there[0]
    return found


def wait_for_review(stage: Stage, session: str) -> dict[str, Any]:
    """The job of the detached review that the session's end asked for."""
    deadline = time.monotonic() + REVIEW_SECONDS
    while time.monotonic() < deadline:
        status = stage.learner_json("status")
        for job in status["jobs"]:
            if job["session"] == session and job["status"] in ("done", "failed", "abandoned"):
                if job["status"] != "done":
                    raise StageFailed(f"the review ended as {job['status']}: {job['detail']}")
                found: dict[str, Any] = job
                return found
        time.sleep(0.2)
    raise StageFailed(f"no review of {session} within {REVIEW_SECONDS:.0f} s: {status['jobs']}")


def play_session(stage: Stage, number: int, file: Path) -> None:
    client = Client(stage)
    client.play(file)
    journal = stage.home / ".skill_learner" / "journal" / f"{client.session}.jsonl"
    if not journal.is_file():
        raise StageFailed(f"the hooks wrote no journal at {journal}")
    say(f"Session {number}: {client.hook_calls} events went through the registered hooks,")
    say(f"  journal {journal.stat().st_size} bytes at {journal.relative_to(stage.root)}")
    job = wait_for_review(stage, client.session)
    for episode in job["result"]["episodes"]:
        steps = ", ".join(map(str, episode["steps"]))
        say(f"  detached review found: {episode['kind']} in steps {steps}: {episode['trigger']}")
    say(f"  and did: {job['detail']}")


def the_skill(stage: Stage, state: str) -> dict[str, Any]:
    option = ["--candidates"] if state == "candidate" else []
    skills = stage.learner_json("list", *option)
    if len(skills) != 1:
        raise StageFailed(f"expected one {state} skill, found {[s['name'] for s in skills]}")
    say(f"  {state}: {skills[0]['name']}")
    skill: dict[str, Any] = skills[0]
    return skill


def index_text(stage: Stage, name: str) -> str:
    """The block in CLAUDE.md, with the file that it may import."""
    text = (stage.project / "CLAUDE.md").read_text(encoding="utf-8")
    imported = stage.project / ".claude" / "skill-learner-index.md"
    if name not in text and imported.is_file():
        text += f"\n# {imported.relative_to(stage.project)}\n" + imported.read_text("utf-8")
    if name not in text:
        raise StageFailed(f"the index does not name {name}:\n{text}")
    return text


def play(stage: Stage) -> None:
    shutil.copytree(DATA / "project", stage.project)
    for folder in (stage.home, stage.root / "tmp"):
        folder.mkdir(exist_ok=True)  # whoever plays in a folder of their own may come without
    stage.run("git", "init", "--quiet")
    heading("skill-learner init --target claude-code")
    say(stage.learner("init", "--target", "claude-code"))
    heading("Two sessions")
    play_session(stage, 1, DATA / "first-session.json")
    the_skill(stage, "candidate")
    play_session(stage, 2, DATA / "second-session.json")
    skill = the_skill(stage, "active")
    heading("The SKILL.md it wrote")
    say(Path(skill["path"]).read_text(encoding="utf-8"))
    heading("CLAUDE.md")
    say(index_text(stage, skill["name"]))
    heading("What a new session is given")
    printed = Client(stage).start()
    if not isinstance(json.loads(printed), dict):
        raise StageFailed(f"SessionStart printed no JSON object: {printed!r}")
    say(f"SessionStart prints: {printed}")
    for folder in sorted((stage.project / ".claude" / "skills").iterdir()):
        say(f".claude/skills/{folder.name}" + (" -> the library" if folder.is_symlink() else ""))
    if not (stage.project / ".claude" / "skills" / skill["name"] / "SKILL.md").is_file():
        raise StageFailed(f"{skill['name']} is not in .claude/skills")
    stage.learner("review", "--wait")  # nothing may still be writing when the folder goes


def say(text: str) -> None:
    print(text.rstrip("\n"), flush=True)


def heading(text: str) -> None:
    print(f"\n== {text}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(prog="scripts/try", description=__doc__.splitlines()[0])
    parser.add_argument("--keep", action="store_true", help="leave the temporary folder in place")
    parser.add_argument(
        "--python",
        type=Path,
        help="use this interpreter, which has skill-learner, and install nothing",
    )
    options = parser.parse_args()
    root = Path(tempfile.mkdtemp(prefix="skill-learner-try-")).resolve()
    for folder in ("tmp", "home"):
        (root / folder).mkdir()
    try:
        stage = Stage(root, options.python or install(root))
        play(stage)
        say(f"\nDone in {time.monotonic() - stage.started:.1f} s after the install.")
    except StageFailed as failure:
        print(f"\nFAILED: {failure}", file=sys.stderr)
        return 1
    finally:
        if options.keep:
            say(f"Kept: {root}")
        else:
            shutil.rmtree(root, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
