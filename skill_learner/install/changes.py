"""Changes to files, planned as a whole before the first is carried out."""

from __future__ import annotations

import contextlib
import functools
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from skill_learner import files
from skill_learner.errors import InstallError


class ChangedMeanwhileError(InstallError):
    """A file that was planned to change is no longer what the plan read."""


@dataclass(frozen=True)
class Change:
    """What one file is to become. before, after: its bytes, None for no file.
    what: the change in words, for the report. kind: as in `records.FileRecord`.
    private: a new file is 0600, else what the user's umask gives."""

    path: Path
    kind: str
    before: bytes | None
    after: bytes | None
    what: str
    private: bool = False

    @property
    def row(self) -> tuple[str, str]:
        if self.before == self.after:
            return str(self.path), "unchanged"
        verb = "created" if self.before is None else "removed" if self.after is None else "changed"
        return str(self.path), f"{verb}: {self.what}" if self.what else verb


def carry_out(changes: Iterable[Change]) -> None:
    """Apply them in order; each file is at any moment as before or as planned. Raises
    ChangedMeanwhileError, with that file as it is, when somebody else has saved it since it was
    read."""
    for change in changes:
        if change.before == change.after:
            continue
        _check_unchanged(change)
        # all who write these files hold the publishing lock, so a draft is a killed write's
        files.remove_old_drafts(Path(os.path.realpath(change.path)).parent, min_age=0)
        if change.after is None and not change.path.is_symlink():
            change.path.unlink(missing_ok=True)
            continue
        change.path.parent.mkdir(parents=True, exist_ok=True)
        mode = None if change.private or change.before is not None else _usual_mode()
        check = functools.partial(_check_unchanged, change)
        # a link is the user's: what it leads to is emptied, not left behind with ours in it
        files.atomic_write(change.path, change.after or b"", mode, check=check)


def _check_unchanged(change: Change) -> None:
    try:
        now: bytes | None = files.read_plain(change.path)
    except FileNotFoundError:
        now = None
    if now != change.before:
        raise ChangedMeanwhileError(
            f"{change.path}: was changed by somebody else at this moment",
            "The file is as they left it. Run the command again.",
        )


def remove_empty_folders(folders: Iterable[str | Path]) -> list[Path]:
    """Remove those that are empty, innermost first; returns the removed."""
    removed = []
    for folder in sorted({Path(f) for f in folders}, key=lambda f: len(f.parts), reverse=True):
        with contextlib.suppress(OSError):
            folder.rmdir()
            removed.append(folder)
    return removed


def _usual_mode() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return 0o666 & ~mask
