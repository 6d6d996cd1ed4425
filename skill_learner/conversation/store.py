"""Conversations on disk, so that a program that ends, or is ended, loses nothing.

One file for each time a session was opened, only ever appended to: a head line (session, who may
review it, the process), then lines of steps, and marks that tell how far a review came and that the
conversation is over. A torn line is passed over.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skill_learner.conversation.recording import session_of
from skill_learner.errors import JobError
from skill_learner.files import append_line, ensure_private_dir
from skill_learner.models import Session, Step, ToolCall
from skill_learner.paths import StatePaths, safe_file_name

_AGAIN = "~"
"""Stands in no safe file name."""


@dataclass(frozen=True)
class StoredConversation:
    """provider: the only one it may be sent to. pid: the process that holds it. reviewed: how many
    steps a completed review has seen. ended: nothing more is coming."""

    session: str
    provider: str
    pid: int
    steps: tuple[Step, ...]
    reviewed: int
    ended: bool
    loaded_skills: tuple[str, ...]
    path: Path

    @property
    def is_reviewed(self) -> bool:
        return self.reviewed >= len(self.steps)

    def as_session(self) -> Session:
        return session_of(
            self.session, self.steps, reviewed=self.reviewed, loaded_skills=self.loaded_skills
        )


class ConversationStore:
    def __init__(self, paths: StatePaths) -> None:
        self._folder = paths.conversations_dir

    def begin(self, session: str, provider: str) -> Path:
        """The file of a conversation that begins. A session that is opened again, while its
        earlier conversation waits for a review or is in one, gets a file of its own."""
        path = self._folder / f"{safe_file_name(session)}{_AGAIN}{secrets.token_hex(4)}.jsonl"
        self.ensure_begun(path, session, provider)
        return path

    def ensure_begun(self, path: Path, session: str, provider: str) -> None:
        """Write the head, unless it is there: a file may have been purged in the meantime."""
        if not path.exists():
            head = {"v": 1, "session": session, "provider": provider, "pid": os.getpid()}
            self._append(path, {**head, "at": time.time()})

    def add(self, path: Path, steps: Sequence[Step], loaded: Sequence[str] = ()) -> None:
        line: dict[str, Any] = {"steps": [_step_data(step) for step in steps]}
        if loaded:
            line["loaded"] = list(loaded)
        self._append(path, line)

    def mark_reviewed(self, path: Path, steps: int) -> None:
        if path.exists():
            self._append(path, {"reviewed": steps})

    def mark_ended(self, path: Path) -> None:
        if path.exists():
            self._append(path, {"ended": True})

    def read(self, path: Path) -> StoredConversation:
        """The conversation in a file; JobError when it is gone or not one of ours."""
        try:
            lines = list(_lines(path.read_bytes()))
        except OSError as error:
            raise JobError(f"{path}: {error.strerror or error}") from error
        head = lines[0] if lines else {}
        session, provider = head.get("session"), head.get("provider")
        if not isinstance(session, str) or not isinstance(provider, str):
            raise JobError(f"{path}: its first line does not say whose conversation it is")
        return StoredConversation(
            session=session,
            provider=provider,
            pid=int(head.get("pid") or 0),
            steps=tuple(_steps(lines)),
            reviewed=max((int(line.get("reviewed") or 0) for line in lines), default=0),
            ended=any(line.get("ended") for line in lines),
            loaded_skills=tuple(name for line in lines for name in line.get("loaded", ())),
            path=path,
        )

    def all(self) -> Iterator[StoredConversation]:
        """Every conversation that is kept, oldest first; what cannot be read is passed over."""
        for path in sorted(self._folder.glob("*.jsonl")):
            with contextlib.suppress(JobError, ValueError, TypeError):
                yield self.read(path)

    def prune(self, days: int, *, keep: Collection[Path] = ()) -> int:
        """Remove what no one has touched for so long; `keep`: files that open jobs wait for."""
        removed = 0
        for path in self._folder.glob("*.jsonl"):
            with contextlib.suppress(OSError):
                if path not in keep and time.time() - path.stat().st_mtime > days * 86_400:
                    path.unlink()
                    removed += 1
        return removed

    def _append(self, path: Path, line: Mapping[str, Any]) -> None:
        ensure_private_dir(self._folder)
        data = json.dumps(line, ensure_ascii=True, default=str).encode()
        append_line(path, data)


def files_of_session(paths: StatePaths, session: str) -> list[Path]:
    """All conversations of a session that are kept."""
    name = safe_file_name(session)
    folder = paths.conversations_dir
    return [folder / f"{name}.jsonl", *sorted(folder.glob(f"{name}{_AGAIN}*.jsonl"))]


def _lines(data: bytes) -> Iterator[dict[str, Any]]:
    for raw in data.split(b"\n"):
        with contextlib.suppress(ValueError, RecursionError):
            line = json.loads(raw) if raw.strip() else None
            if isinstance(line, dict):
                yield line


def _step_data(step: Step) -> dict[str, Any]:
    data: dict[str, Any] = {"kind": step.kind, "text": step.text, "at": step.at}
    if step.call is not None:
        data["call"] = asdict(step.call)
    return data


def _steps(lines: Sequence[Mapping[str, Any]]) -> Iterator[Step]:
    number = 0
    for line in lines:
        for data in line.get("steps", ()):
            number += 1
            call = data.get("call")
            yield Step(
                number=number,
                kind=data["kind"],
                text=str(data.get("text", "")),
                call=_call(call) if isinstance(call, dict) else None,
                source=f"conversation:{number}",
                at=str(data.get("at", "")),
            )


def _call(data: Mapping[str, Any]) -> ToolCall:
    known = {key: data[key] for key in ToolCall.__dataclass_fields__ if key in data}
    return ToolCall(**{**known, "changed_files": tuple(data.get("changed_files", ()))})
