"""Codex's patches, as the edits that other editors make with tools of their own."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator
from typing import Any

_FILE = re.compile(r"^\*\*\* (Add|Update|Delete) File: (.+?)\s*$")
_MOVE = re.compile(r"^\*\*\* Move to: (.+?)\s*$")
_ABSOLUTE = re.compile(r"^(?:/|[A-Za-z]:[\\/])")


def patch_call(patch: str, folder: str) -> tuple[str, dict[str, Any]]:
    """Name and arguments of the call that does the same: Write for one new file, Edit for one
    place, else MultiEdit, where each edit may name a file of its own.

    folder: what relative paths are relative to; "" leaves them so.
    """
    edits = list(_edits(patch, folder))
    if len(edits) == 1 and "content" in edits[0]:
        return "Write", edits[0]
    if len(edits) == 1:
        return "Edit", edits[0]
    first = edits[0]["file_path"] if edits else ""
    return "MultiEdit", {"file_path": first, "edits": edits}


def _edits(patch: str, folder: str) -> Iterator[dict[str, Any]]:
    """One for each new file and each hunk of a changed one; to delete a file is an empty one."""
    kind, path = "", ""
    old: list[str] = []
    new: list[str] = []

    def done() -> Iterator[dict[str, Any]]:
        if path and (old or new or kind == "Delete"):
            texts = {"old_string": "\n".join(old), "new_string": "\n".join(new)}
            yield {
                "file_path": path,
                **({"content": "\n".join([*new, ""])} if kind == "Add" else texts),
            }
        old.clear()
        new.clear()

    for line in patch.splitlines():
        head = _FILE.match(line)
        moved = _MOVE.match(line)
        if head or moved or line.startswith(("@@", "*** ")):
            yield from done()
            if head:
                kind, path = head[1], _within(folder, head[2])
            elif moved:
                path = _within(folder, moved[1])
            elif line.startswith("*** End Patch"):
                path = ""
        else:
            if line[:1] != "+":
                old.append(line[1:])
            if line[:1] != "-":
                new.append(line[1:])
    yield from done()


def _within(folder: str, path: str) -> str:
    if not folder or _ABSOLUTE.match(path):
        return path
    return posixpath.normpath(posixpath.join(folder, path))
