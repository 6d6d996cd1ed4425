"""How long journals stay: for some days, and below a total size."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from skill_learner import files
from skill_learner.journal import journal_files
from skill_learner.marks import read_mark_of
from skill_learner.paths import StatePaths

_SECONDS_PER_DAY = 86_400
_BYTES_PER_MEGABYTE = 1_000_000
_AT_WORK = 600.0
"""Seconds after an event during which a journal is not removed for its size."""


def prune_journals(paths: StatePaths, days: float, *, megabytes: int = 0) -> int:
    """Remove journals, and their marks, to which nothing was added for `days` days; then, above a
    total of `megabytes` (0: no limit), reviewed ones and at last unreviewed ones, oldest first.
    Returns how many."""
    oldest = time.time() - days * _SECONDS_PER_DAY
    removed = sum(remove_journal(paths, path, unless_since=oldest) for path in journal_files(paths))
    if megabytes:
        removed += _shrink(paths, megabytes * _BYTES_PER_MEGABYTE)
    return removed


def prune_offers(paths: StatePaths, days: float) -> None:
    """Forget what was offered in sessions of which nothing was heard for `days` days. (It has been
    counted by then.)"""
    oldest = time.time() - days * _SECONDS_PER_DAY
    for path in paths.offered_dir.glob("*"):
        with contextlib.suppress(OSError):
            if path.stat().st_mtime < oldest:
                path.unlink()


def remove_journal(paths: StatePaths, journal: Path, *, unless_since: float) -> bool:
    """Remove a journal with its mark; False when it was written to at or after `unless_since`.

    A hook that waits for the journal's lock meanwhile sees that the file is gone and begins anew;
    the mark goes first, since one without its journal would hide the next one's events.
    """
    try:
        descriptor = os.open(journal, os.O_RDWR)
    except OSError:
        return False
    try:
        if not _lock(descriptor) or os.fstat(descriptor).st_mtime >= unless_since:
            return False
        (paths.marks_dir / f"{journal.stem}.json").unlink(missing_ok=True)
        if not files.ON_WINDOWS:  # there an open file cannot be removed
            journal.unlink()
    except OSError:
        return False
    finally:
        os.close(descriptor)
    if files.ON_WINDOWS:
        with contextlib.suppress(OSError):
            journal.unlink()
        return not journal.exists()
    return True


def _shrink(paths: StatePaths, most: int) -> int:
    sized: list[tuple[bool, int, int, Path]] = []
    for path in journal_files(paths):
        try:
            size = path.stat().st_size
        except OSError:
            continue
        sized.append((read_mark_of(paths, path) < size, len(sized), size, path))
    total = sum(size for _, _, size, _ in sized)
    removed = 0
    for _, _, size, path in sorted(sized):
        if total <= most:
            break
        if remove_journal(paths, path, unless_since=time.time() - _AT_WORK):
            total -= size
            removed += 1
    return removed


def _lock(descriptor: int) -> bool:
    """The lock under which hooks append."""
    if files.ON_WINDOWS:
        from skill_learner import windows

        return windows.take_lock(descriptor, 0)
    import fcntl

    try:
        fcntl.lockf(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
