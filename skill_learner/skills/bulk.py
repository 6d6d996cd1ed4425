"""Many new files at once: one wait for the disk instead of one a file.

Everything is written under temporary names, then flushed, then renamed in the order in which it was
put. A kill before the renames leaves temporary files; after one of them, what `writer` leaves.
"""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path

from skill_learner.files import DRAFT_SUFFIX, atomic_write


class BulkFiles:
    def __init__(self) -> None:
        self._renames: list[tuple[str, str]] = []
        self._mark = secrets.token_hex(4)

    def put(self, path: str, data: bytes, mode: int = 0o600) -> None:
        """Write a file that `commit` will put in place. Its folder is there already."""
        folder, _, name = path.rpartition(os.sep)
        temporary = (
            f"{folder}{os.sep}.{name[:40]}.{self._mark}-{len(self._renames):x}{DRAFT_SUFFIX}"
        )
        self._renames.append((temporary, path))
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, mode)
        try:
            written = os.write(descriptor, data)
            while written < len(data):
                written += os.write(descriptor, data[written:])
        finally:
            os.close(descriptor)

    def move(self, source: str, target: str) -> None:
        """Let `commit` move a folder that is complete to where an empty one stands."""
        self._renames.append((source, target))

    def commit(self) -> None:
        if not self._renames:
            return
        if hasattr(os, "sync"):
            os.sync()
            for temporary, path in self._renames:
                os.replace(temporary, path)
        else:  # pragma: no cover - Windows
            for temporary, path in self._renames:
                if os.path.isdir(temporary):
                    os.rmdir(path)
                    os.rename(temporary, path)
                    continue
                atomic_write(Path(path), Path(temporary).read_bytes())
                os.unlink(temporary)
        self._renames.clear()

    def abandon(self) -> None:
        """Take away what was not committed, and folders that are empty without it."""
        for temporary, path in self._renames:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
            with contextlib.suppress(OSError):
                os.rmdir(os.path.dirname(path))
        self._renames.clear()
