"""Which commands the project's earlier sessions ran, to see what is done again and again."""

from __future__ import annotations

import contextlib
import json
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from typing import Any

from skill_learner.files import atomic_write, ensure_private_dir
from skill_learner.learning.command_words import (
    FILTER_PROGRAMS,
    HARMLESS_PROGRAMS,
    READ_ONLY_PROGRAMS,
)
from skill_learner.learning.commands import parts_of
from skill_learner.learning.redaction import Redactor
from skill_learner.learning.repeats import command_sequence
from skill_learner.models import Session
from skill_learner.paths import StatePaths, safe_file_name

_KEPT_SESSIONS = 50
_SHORTEST = 3
_LONGEST = 500
_MOST_PROGRAMS = 12
_ANYWHERE = HARMLESS_PROGRAMS | FILTER_PROGRAMS | READ_ONLY_PROGRAMS | {"git", "bash", "sh"}


def earlier_sequences(paths: StatePaths, key: str, session: Session) -> list[list[str]]:
    """The sequences of the project's other sessions. A fork repeats its parent's steps without
    anybody doing them again, so its relatives are left out."""
    family = {session.id, session.parent} - {""}
    return [
        list(entry["commands"])
        for name, entry in _load(_path(paths, key)).items()
        if name not in family and entry.get("parent", "") not in family
    ]


def usual_programs(paths: StatePaths, key: str) -> list[str]:
    """The programs that at least two of the project's sessions ran, those of most sessions first;
    without what is run in any project."""
    ran = Counter(
        program
        for entry in _load(_path(paths, key)).values()
        for program in {part.program for line in entry["commands"] for part in parts_of(str(line))}
    )
    return [name for name, times in ran.most_common() if times > 1 and name not in _ANYWHERE][
        :_MOST_PROGRAMS
    ]


def remember_sequence(paths: StatePaths, key: str, session: Session, redactor: Redactor) -> None:
    """Keep the session's sequence; of the newest sessions only, redacted."""
    commands = [redactor.redact(command) for command in command_sequence(session)[-_LONGEST:]]
    if len(commands) < _SHORTEST:
        return
    path = _path(paths, key)
    entries = _load(path)
    entries.pop(session.id, None)
    entries[session.id] = {"parent": session.parent, "commands": commands, "at": time.time()}
    kept = dict(list(entries.items())[-_KEPT_SESSIONS:])
    ensure_private_dir(path.parent)
    atomic_write(path, json.dumps(kept).encode())


def move_sequences(paths: StatePaths, old: str, new: str) -> bool:
    """Give what is known under a project's old key to its new one; whether there was anything."""
    source, target = _path(paths, old), _path(paths, new)
    entries = _load(source)
    if entries:
        _replace(target, dict(list((entries | _load(target)).items())[-_KEPT_SESSIONS:]))
    source.unlink(missing_ok=True)
    return bool(entries)


def forget_sequences(
    paths: StatePaths,
    is_chosen: Callable[[str, str], bool],
    *,
    before: float,
    dry_run: bool = False,
) -> int:
    """Forget the sequences of chosen sessions that were kept before unix seconds `before`; how many
    projects' memories changed. is_chosen: told the project's key, as a file name, and the session.
    """
    changed = 0
    for path in (paths.root / "sequences").glob("*.json"):
        with contextlib.suppress(OSError):
            entries = _load(path)
            written = path.stat().st_mtime
            kept = {
                name: entry
                for name, entry in entries.items()
                if not is_chosen(path.stem, name) or _kept_at(entry, written) >= before
            }
            damaged = not entries and is_chosen(path.stem, "") and written < before
            if len(kept) == len(entries) and not damaged:
                continue
            if not dry_run:
                _replace(path, kept)
            changed += 1
    return changed


def _replace(path: Path, entries: dict[str, dict[str, Any]]) -> None:
    if entries:
        atomic_write(path, json.dumps(entries).encode())
    else:
        path.unlink(missing_ok=True)


def _kept_at(entry: dict[str, Any], written: float) -> float:
    """Earlier versions noted no time: such an entry is at most as young as its file."""
    at = entry.get("at")
    return at if isinstance(at, float) else written


def _path(paths: StatePaths, key: str) -> Path:
    return paths.root / "sequences" / f"{safe_file_name(key)}.json"


def _load(path: Path) -> dict[str, dict[str, Any]]:
    """A file that is missing or damaged is an empty memory."""
    try:
        loaded = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(loaded, dict):
        return {}
    return {
        name: entry
        for name, entry in loaded.items()
        if isinstance(entry, dict) and isinstance(entry.get("commands"), list)
    }
