"""Makes text from a session fit for a skill: no secrets, persons, machine paths or ids."""

from __future__ import annotations

import re
from collections.abc import Callable

from skill_learner.learning.digest_text import relative_to
from skill_learner.models import Session

_TEMP = re.compile(
    r"(?:/private)?/(?:tmp|var/tmp|var/folders)/[^\s'\"`)]*|\$env:TEMP[^\s'\"`)]*"
    r"|[A-Za-z]:\\[^\s'\"`)]*\\Temp\\[^\s'\"`)]*"
)
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
_SHA = re.compile(r"\b(?=[0-9a-f]*[a-f])(?=[0-9a-f]*\d)[0-9a-f]{7,64}\b")
_ID = re.compile(r"\b(?:toolu|msg|req|sess|agent)[_-][A-Za-z0-9]{8,}\b")
_HOME = re.compile(r"(?:/Users|/home)/[^/\s'\"`]+|[A-Za-z]:\\Users\\[^\\\s'\"`]+")
_WORKTREE = re.compile(r"\.claude[\\/]worktrees[\\/][^\\/\s'\"`]+[\\/]?")
_CHANGE_FOLDER = re.compile(
    r"^\s*(?:cd|pushd|Set-Location)\s+(?:'[^']*'|\"[^\"]*\"|\S+)\s*(?:&&|;)\s*"
)


def scrubber(session: Session, redact: Callable[[str], str]) -> Callable[[str], str]:
    """A function that takes out of a text what no skill may hold. Paths below the project become
    relative."""
    relative = relative_to(session.project)

    def scrub(text: str) -> str:
        text = _WORKTREE.sub("", relative(text))
        text = redact(text)
        text = _TEMP.sub("<temp>", text)
        text = _UUID.sub("<id>", text)
        text = _SHA.sub("<hash>", text)
        text = _ID.sub("<id>", text)
        return _HOME.sub("<home>", text)

    return scrub


_DISPLAY_TAIL = re.compile(
    r"(?:\s+2>&1)?\s*\|\s*(?:tail|head|cat|less|Select-Object)\b[^|;&\n]*$|\s+2>&1\s*$"
)


def bare_command(line: str) -> str:
    """A command without the leading change of folder and without `| tail -20` at its end."""
    return _DISPLAY_TAIL.sub("", _CHANGE_FOLDER.sub("", line.strip()))


def in_code(text: str) -> str:
    """One line, fit to stand between backticks."""
    return " ".join(text.replace("`", "'").split())


def shorten(text: str, limit: int) -> str:
    """At most `limit` characters, cut at a space."""
    text = " ".join(text.split())
    if len(text) <= limit:
        return text
    return text[: limit - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"
