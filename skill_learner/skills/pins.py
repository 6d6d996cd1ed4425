"""Names of skills that the user wants to keep whatever happens."""

from __future__ import annotations

import json
from pathlib import Path

from skill_learner.files import atomic_write, ensure_private_dir, locked


class Pins:
    def __init__(self, file: Path) -> None:
        self._file = file

    def names(self) -> frozenset[str]:
        """The pinned names; none when the file is missing or damaged."""
        try:
            data = json.loads(self._file.read_bytes())
        except (OSError, ValueError, RecursionError):
            return frozenset()
        names = data if isinstance(data, list) else ()
        return frozenset(name for name in names if isinstance(name, str))

    def set(self, name: str, pinned: bool) -> None:
        ensure_private_dir(self._file.parent)
        with locked(self._file.with_suffix(".lock"), timeout=10.0):
            names = set(self.names()) - {name} | ({name} if pinned else set())
            atomic_write(self._file, json.dumps(sorted(names)).encode())
