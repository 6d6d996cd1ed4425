"""How far into each session's journal a completed review has seen."""

from __future__ import annotations

import json
from pathlib import Path

from skill_learner.files import atomic_write, ensure_private_dir
from skill_learner.paths import StatePaths, safe_file_name


def read_mark(paths: StatePaths, session_id: str) -> int:
    """The journal offset up to which the session was reviewed; 0 when it never was."""
    return _read(_mark_path(paths, safe_file_name(session_id)))


def read_mark_of(paths: StatePaths, journal: Path) -> int:
    """The same, by the session's journal file."""
    return _read(_mark_path(paths, journal.stem))


def write_mark(paths: StatePaths, session_id: str, offset: int) -> None:
    """Record that everything before `offset` was reviewed. A mark never moves back."""
    path = _mark_path(paths, safe_file_name(session_id))
    if offset > _read(path):
        ensure_private_dir(path.parent)
        atomic_write(path, json.dumps({"to": offset}).encode("ascii"))


def _mark_path(paths: StatePaths, name: str) -> Path:
    return paths.marks_dir / f"{name}.json"


def _read(path: Path) -> int:
    try:
        mark = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return 0
    offset = mark.get("to") if isinstance(mark, dict) else 0
    return offset if isinstance(offset, int) and offset > 0 else 0
