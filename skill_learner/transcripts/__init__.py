"""Transcript formats. A new one is a module here and one line in `READERS`."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import cast

from skill_learner.errors import TranscriptError
from skill_learner.interfaces import TranscriptReader
from skill_learner.models import Session
from skill_learner.transcripts.lines import file_bytes

READERS: dict[str, str] = {
    "claude-code": "skill_learner.transcripts.claude_code",
    "codex": "skill_learner.transcripts.codex",
    "cursor": "skill_learner.transcripts.cursor",
    "specstory": "skill_learner.transcripts.specstory",
}
"""Format name -> module that holds `READER`, asked in this order."""

_HEAD_BYTES = 65_536


def read_transcript(path: Path) -> Session:
    """Read a transcript of any known format. Raises TranscriptError when there is no such file, no
    reader knows it, or nothing in it can be read; single bad lines are only counted."""
    head = file_bytes(path, _HEAD_BYTES)
    for module in READERS.values():
        reader = cast(TranscriptReader, import_module(module).READER)
        if reader.detect(path, head):
            return reader.read(path)
    raise TranscriptError(
        f"{path}: not a transcript of a known format",
        f"Known formats: {', '.join(READERS)}. Claude Code keeps its own below ~/.claude/projects, "
        "Codex below ~/.codex/sessions, Cursor in agent-transcripts folders below "
        "~/.cursor/projects.",
    )
