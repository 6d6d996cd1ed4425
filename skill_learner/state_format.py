"""The format of the state folder: what an older program left is brought up to date, what a newer
one wrote is refused, and somebody else's folder is left alone.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from skill_learner.errors import StateError
from skill_learner.files import atomic_write, locked
from skill_learner.paths import StatePaths

FORMAT = 1
"""Raised when an older program could no longer read what this one writes."""


class Migration(Protocol):
    """Brings a folder from one format to the next. It may be cut off at any point and is then run
    again from its beginning, so it changes each file atomically and bears finding its own work."""

    def __call__(self, paths: StatePaths) -> None: ...


MIGRATIONS: Mapping[int, Migration] = {}
"""By the format that they start from. Version 0.1.0 wrote format 1."""


def open_state(
    paths: StatePaths, *, current: int = FORMAT, migrations: Mapping[int, Migration] = MIGRATIONS
) -> None:
    """Make an existing state folder fit for this program; one that is not there stays so.

    Raises StateError, with nothing changed, for a folder of a newer program or another user.
    """
    if not paths.root.is_dir():
        return
    _refuse_foreign(paths.root)
    written = _format_of(paths)
    if written > current:
        raise StateError(
            f"{paths.root} was written by a newer skill-learner (format {written}, this is "
            f"{current})",
            "upgrade this one, or set SKILL_LEARNER_STATE_DIR to another folder",
        )
    if written == current and paths.format.exists():
        return
    with locked(paths.root / "format.lock", timeout=60):
        for step in range(_format_of(paths), current):
            migrations[step](paths)
            _note(paths, step + 1)
        _note(paths, current)


def _refuse_foreign(root: Path) -> None:
    """A command run with another user's HOME (sudo keeps it on some systems) would leave files
    there that the user could no longer write."""
    if os.name == "nt":
        return
    owner = root.stat().st_uid
    if owner != os.geteuid():
        raise StateError(
            f"{root} belongs to another user (uid {owner}, you are {os.geteuid()})",
            "run it as that user, or set SKILL_LEARNER_STATE_DIR to a folder of your own",
        )


def _format_of(paths: StatePaths) -> int:
    """Before the number was written down, the format was 1."""
    try:
        text = paths.format.read_bytes()
    except FileNotFoundError:
        return 1
    try:
        return int(text)
    except ValueError:
        raise StateError(
            f"{paths.format}: not a number: {text[:40]!r}",
            "if this skill-learner is the newest that was used here, remove that file",
        ) from None


def _note(paths: StatePaths, number: int) -> None:
    atomic_write(paths.format, f"{number}\n".encode("ascii"), 0o600)
