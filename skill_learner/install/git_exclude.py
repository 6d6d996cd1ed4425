"""Our block in `.git/info/exclude`, so that what we put into a work tree is no change."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from skill_learner.install import marked_block
from skill_learner.install.marked_block import BlockStyle

STYLE = BlockStyle(
    begin=b"# skill-learner:begin",
    end=b"# skill-learner:end",
    fences=False,
    blank_line=False,
)
_SPECIAL = "\\*?["


def pattern_for(relative: str) -> str:
    """The exclude line for one path below the top of the work tree (forward slashes)."""
    escaped = "".join(f"\\{c}" if c in _SPECIAL else c for c in relative)
    trailing = len(escaped) - len(escaped.rstrip(" "))
    return "/" + escaped.rstrip(" ") + "\\ " * trailing


def put_lines(data: bytes, lines: Iterable[str], path: Path) -> bytes:
    """Return the file with our block holding exactly `lines`; without lines the block goes."""
    body = "\n".join(sorted(set(lines)))
    if not body:
        return take_lines(data, path)
    return marked_block.put_block(data, body.encode("utf-8", "surrogateescape"), STYLE, path)


def take_lines(data: bytes, path: Path, before: bytes | None = None) -> bytes:
    return marked_block.take_block(data, STYLE, path, before)
