"""Small transcripts and journals, written the way the editor and the hooks write them."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from skill_learner.models import Session
from skill_learner.paths import StatePaths
from skill_learner.transcripts import read_transcript

SESSION = "5e551011-0000-4000-8000-000000000001"


class Talk:
    """A Claude Code transcript, line by line."""

    def __init__(self, path: Path, session: str = SESSION) -> None:
        self.path = path
        self.session = session
        self.lines: list[str] = []
        self.common: dict[str, Any] = {"isSidechain": False, "cwd": "/work/shop"}

    def raw(self, text: str) -> Talk:
        self.lines.append(text)
        return self

    def line(self, kind: str, **fields: Any) -> Talk:
        number = len(self.lines) + 1
        record = {
            "parentUuid": f"u{number - 1}",
            **self.common,
            "type": kind,
            "uuid": f"u{number}",
            "sessionId": self.session,
            "timestamp": f"2026-03-01T10:00:{number:02d}.000Z",
            **fields,
        }
        return self.raw(json.dumps(record))

    def human(self, content: Any, **fields: Any) -> Talk:
        return self.line("user", message={"role": "user", "content": content}, **fields)

    def says(self, *blocks: Any, message: str = "m1", **fields: Any) -> Talk:
        """An answer of the model, one line for each block; a str is a text block."""
        for block in blocks:
            content = {"type": "text", "text": block} if isinstance(block, str) else block
            body = {"id": message, "role": "assistant", "model": "claude-x", "content": [content]}
            self.line("assistant", message=body, **fields)
        return self

    def calls(self, call_id: str, name: str, message: str = "m1", **tool_input: Any) -> Talk:
        block = {"type": "tool_use", "id": call_id, "name": name, "input": tool_input}
        return self.says(block, message=message)

    def result(
        self, call_id: str, content: Any, *beside: Any, error: bool | None = None, **fields: Any
    ) -> Talk:
        block: dict[str, Any] = {"type": "tool_result", "tool_use_id": call_id, "content": content}
        if error is not None:
            block["is_error"] = error
        return self.human([block, *beside], **fields)

    def bytes(self) -> bytes:
        return "\n".join(self.lines).encode("utf-8", "surrogatepass") + b"\n"

    def read(self) -> Session:
        self.path.write_bytes(self.bytes())
        return read_transcript(self.path)


class Journal:
    """A session's journal as the hooks append it."""

    def __init__(self, path: Path, session: str = SESSION) -> None:
        self.path = path
        self.session = session
        self.transcript = ""
        self.project = "/work/shop"
        self.key = "shop-0001"
        self.pid = 4242
        self.at = 1_780_000_000

    @property
    def end(self) -> int:
        return self.path.stat().st_size if self.path.exists() else 0

    def append(self, data: bytes) -> Journal:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("ab") as handle:
            handle.write(data)
        return self

    def event(self, name: str, **payload: Any) -> Journal:
        body = {
            "session_id": self.session,
            "transcript_path": self.transcript,
            "cwd": self.project,
            "hook_event_name": name,
            **payload,
        }
        return self.data(name, json.dumps(body).encode())

    def data(self, name: str, payload: bytes) -> Journal:
        self.at += 1
        head = f'\n{{"v":1,"t":{self.at},"e":"{name}","ed":"claude-code","k":"{self.key}",'
        return self.append(
            f'{head}"p":"{self.project}","c":{self.pid},"d":'.encode() + payload + b"}"
        )

    def prompt(self, text: str) -> Journal:
        return self.event("UserPromptSubmit", prompt=text)

    def tool(self, call_id: str, name: str, response: Any, /, **tool_input: Any) -> Journal:
        return self.event(
            "PostToolUse",
            tool_name=name,
            tool_input=tool_input,
            tool_response=response,
            tool_use_id=call_id,
        )

    def bash(self, call_id: str, command: str, stdout: str = "") -> Journal:
        return self.tool(call_id, "Bash", {"stdout": stdout, "stderr": ""}, command=command)

    def bash_fails(self, call_id: str, command: str, error: str, **more: Any) -> Journal:
        return self.event(
            "PostToolUseFailure",
            tool_name="Bash",
            tool_input={"command": command},
            tool_use_id=call_id,
            error=error,
            **more,
        )

    def stop(self, words: str) -> Journal:
        return self.event("Stop", last_assistant_message=words)


@pytest.fixture
def talk(tmp_path: Path) -> Talk:
    return Talk(tmp_path / f"{SESSION}.jsonl")


@pytest.fixture
def state(tmp_path: Path) -> StatePaths:
    return StatePaths(tmp_path / "state")


@pytest.fixture
def journal(state: StatePaths) -> Journal:
    return Journal(state.journal_dir / f"{SESSION}.jsonl")


@pytest.fixture
def shared() -> Path:
    """Recorded sessions that are kept outside of the project."""
    beside = Path(__file__).parents[2].parent / "shared"
    folder = Path(os.environ.get("SKILL_LEARNER_SHARED") or beside)
    if not (folder / "transcripts").is_dir():
        pytest.skip(f"no recorded sessions at {folder} (set SKILL_LEARNER_SHARED)")
    return folder
