"""Where Claude Code, Codex and Cursor keep the transcripts of a project's past sessions."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

_HEAD_LINES = 40
_OTHER_THAN_ALPHANUMERIC = re.compile(r"[^A-Za-z0-9]")


def recent_transcripts(project: Path, count: int) -> list[Path]:
    """The newest `count` transcripts of sessions that were started in the project's folder or
    below it, the newest last; subagents' files are left out."""
    found = []
    for path in (
        *claude_transcripts(project),
        *codex_transcripts(project),
        *_cursor_transcripts(project),
    ):
        try:
            found.append((path.stat().st_mtime, path))
        except OSError:
            continue
    return [path for _, path in sorted(found)[-count:]]


def claude_transcripts(project: Path, *, below: bool = True, since: float = 0.0) -> Iterator[Path]:
    """Claude Code names a folder after the path it was started in, every other character a hyphen,
    so that two projects may share one; the file itself tells which it was.

    below: sessions started below the folder too. since: unix seconds before which none began.
    """
    home = os.environ.get("CLAUDE_CONFIG_DIR") or str(Path.home() / ".claude")
    stem = _OTHER_THAN_ALPHANUMERIC.sub("-", str(project))
    for folder in Path(home, "projects").glob("*"):
        if folder.name == stem or (below and folder.name.startswith(f"{stem}-")):
            for path in folder.glob("*.jsonl"):
                start, at = _beginning(path)
                within = start == project or (below and project in start.parents)
                if within and at >= since:
                    yield path


def codex_transcripts(project: Path, *, below: bool = True, since: float = 0.0) -> Iterator[Path]:
    """Codex keeps the sessions of all projects by date; a rollout's first line tells its folder."""
    home = os.environ.get("CODEX_HOME") or str(Path.home() / ".codex")
    for path in Path(home, "sessions").glob("*/*/*/rollout-*.jsonl"):
        try:
            with path.open("rb") as handle:
                told = json.loads(handle.readline())
            meta = told["payload"]
            start, of_subagent = Path(meta["cwd"]), meta.get("thread_source") == "subagent"
        except (OSError, ValueError, TypeError, KeyError, AttributeError):
            continue
        within = start == project or (below and project in start.parents)
        if within and not of_subagent and _seconds(told.get("timestamp")) >= since:
            yield path


def _cursor_transcripts(project: Path) -> Iterator[Path]:
    """Cursor leaves the first slash out and makes others, and dots, hyphens. Its files do not tell
    their project: only the folder of exactly this name counts."""
    stem = re.sub(r"[/.]", "-", str(project).lstrip("/"))
    folder = Path.home() / ".cursor" / "projects" / stem / "agent-transcripts"
    yield from folder.glob("*.jsonl")
    yield from folder.glob("*/*.jsonl")


def _beginning(path: Path) -> tuple[Path, float]:
    """The folder and the unix time that a transcript begins with; an empty path, and 0, when its
    first lines do not tell."""
    try:
        with path.open("rb") as handle:
            for _ in range(_HEAD_LINES):
                line = handle.readline()
                told = json.loads(line) if b'"cwd"' in line else None
                if isinstance(told, dict) and isinstance(told.get("cwd"), str):
                    return Path(told["cwd"]), _seconds(told.get("timestamp"))
    except (OSError, ValueError):
        pass
    return Path(), 0.0


def _seconds(timestamp: object) -> float:
    try:
        return datetime.fromisoformat(str(timestamp).replace("Z", "+00:00")).timestamp()
    except ValueError:
        return 0.0
