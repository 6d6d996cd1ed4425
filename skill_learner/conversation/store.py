"""Conversations on disk, so that a program that ends, or is ended, loses nothing.

One file each, only ever appended to: a head line (session, who may review it, the process), then
lines of steps, and marks that tell how far a review came and that the conversation is over. A torn
line is passed over.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from skill_learner.conversation.recording import session_of
from skill_learner.errors import JobError
from skill_learner.files import append_line, ensure_private_dir
from skill_learner.models import Session, Step, ToolCall
from skill_learner.paths import StatePaths, safe_file_name


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

    def path(self, session: str) -> Path:
        return self._folder / f"{safe_file_name(session)}.jsonl"

    def begin(self, session: str, provider: str) -> None:
        if not self.path(session).exists():
            head = {"v": 1, "session": session, "provider": provider, "pid": os.getpid()}
            self._append(session, {**head, "at": time.time()})

    def add(self, session: str, steps: Sequence[Step], loaded: Sequence[str] = ()) -> None:
        line: dict[str, Any] = {"steps": [_step_data(step) for step in steps]}
        if loaded:
            line["loaded"] = list(loaded)
        self._append(session, line)

    def mark_reviewed(self, session: str, steps: int) -> None:
        if self.path(session).exists():
            self._append(session, {"reviewed": steps})

    def mark_ended(self, session: str) -> None:
        if self.path(session).exists():
            self._append(session, {"ended": True})

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

    def remove(self, session: str) -> None:
        self.path(session).unlink(missing_ok=True)

    def prune(self, days: int, *, keep: Sequence[str] = ()) -> int:
        """Remove what no one has touched for so long; `keep` names sessions with open jobs."""
        removed = 0
        kept = {self.path(session) for session in keep}
        for path in self._folder.glob("*.jsonl"):
            with contextlib.suppress(OSError):
                if path not in kept and time.time() - path.stat().st_mtime > days * 86_400:
                    path.unlink()
                    removed += 1
        return removed

    def _append(self, session: str, line: Mapping[str, Any]) -> None:
        ensure_private_dir(self._folder)
        data = json.dumps(line, ensure_ascii=True, default=str).encode()
        append_line(self.path(session), data)


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
