"""What lies below a folder, for tests that compare before and after."""

from __future__ import annotations

import os
from pathlib import Path

Contents = dict[str, "bytes | str | None"]


def contents_of(folder: Path, *, without: str = "") -> Contents:
    """Bytes of files, targets of links, None for folders; but for what is named `without`."""
    found: Contents = {}
    for path in sorted(folder.rglob("*")):
        inside = path.relative_to(folder)
        if without in inside.parts:
            continue
        if path.is_symlink():
            found[str(inside)] = os.readlink(path)
        else:
            found[str(inside)] = path.read_bytes() if path.is_file() else None
    return found
