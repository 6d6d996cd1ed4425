"""What is unreviewed: the number per project that triggers a review, and sessions left behind.

`tally/<key>` grows by one byte for each tool call or human turn (the hook appends it), and
`tally/<key>.base` says how many of them are reviewed. Both are a cache of journals and marks.
`tally/<key>.wait` holds unix seconds before which the number is not acted upon.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass
from pathlib import Path

from skill_learner.files import atomic_write, ensure_private_dir
from skill_learner.hook_runtime.clients import is_gone
from skill_learner.journal import JournalRecord, journal_files, read_journal
from skill_learner.marks import read_mark_of
from skill_learner.paths import StatePaths, safe_file_name


def unreviewed(paths: StatePaths, key: str) -> int:
    """How many tool calls and human turns of the project no completed review has seen."""
    return max(0, _length(paths, key) - _base(paths, key))


def cover(paths: StatePaths, key: str, count: int) -> None:
    """Take `count` more of the project's calls and turns as reviewed. `rebuild` counts exactly, but
    reads every journal; this is for each of a row of reviews, that for its end."""
    if key and count:
        _write_base(paths, key, min(_base(paths, key) + count, _length(paths, key)))


def hold_off(paths: StatePaths, key: str, seconds: float) -> None:
    """Let no turn of the project ask for a review for so long; ends of sessions still do."""
    if key:
        ensure_private_dir(paths.tally_dir)
        until = str(int(time.time() + seconds)).encode("ascii")
        atomic_write(paths.tally_dir / f"{safe_file_name(key)}.wait", until)


def rebuild(paths: StatePaths, key: str, aliases: Collection[str] = ()) -> int:
    """Count anew from journals and marks, and make the tally say so; returns the number.

    aliases: keys that the project had before it was moved.
    """
    length = _length(paths, key)
    keys = {key, *aliases}
    count = sum(
        record.counts and record.project_key in keys
        for journal in journal_files(paths)
        for record in read_journal(journal, read_mark_of(paths, journal)).records
    )
    ensure_private_dir(paths.tally_dir)
    if count > length:
        descriptor = os.open(_tally(paths, key), os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        try:
            os.write(descriptor, b"." * (count - length))
        finally:
            os.close(descriptor)
    _write_base(paths, key, max(0, length - count))
    return count


@dataclass(frozen=True)
class UnfinishedSession:
    """A session with unreviewed events that got no end. idle: seconds since its last event."""

    session_id: str
    journal: Path
    project: str
    project_key: str
    editor: str
    client_pid: int
    idle: float


def unfinished_sessions(
    paths: StatePaths,
    *,
    alive: Callable[[int], bool] | None = None,
    now: float | None = None,
) -> list[UnfinishedSession]:
    """Sessions whose client is gone, by the rule that the hook has, without a SessionEnd after
    their last event, and with tool calls or human turns that no completed review has seen.

    alive: tells whether a process with that id runs.
    """
    now = time.time() if now is None else now
    found = []
    for journal in journal_files(paths):
        records = read_journal(journal, read_mark_of(paths, journal)).records
        if not any(record.counts for record in records) or _ended(records[-1]):
            continue
        last = records[-1]
        pid = next((r.client_pid for r in reversed(records) if r.client_pid), 0)
        idle = max(0.0, now - last.at)
        if is_gone(pid, idle, alive):
            found.append(_unfinished(journal, records, pid, idle))
    return found


def _ended(last: JournalRecord) -> bool:
    # With the reason `resume` the client only leaves the session to come back to it.
    return last.event == "SessionEnd" and last.text("reason") != "resume"


def _unfinished(
    journal: Path, records: tuple[JournalRecord, ...], pid: int, idle: float
) -> UnfinishedSession:
    last = records[-1]
    session_id = next((r.text("session_id") for r in records if r.text("session_id")), journal.stem)
    return UnfinishedSession(
        session_id, journal, last.project, last.project_key, last.editor, pid, idle
    )


def _tally(paths: StatePaths, key: str) -> Path:
    return paths.tally_dir / safe_file_name(key)


def _length(paths: StatePaths, key: str) -> int:
    try:
        return _tally(paths, key).stat().st_size
    except OSError:
        return 0


def _base(paths: StatePaths, key: str) -> int:
    try:
        return int(_base_path(paths, key).read_bytes())
    except (OSError, ValueError):
        return 0


def _base_path(paths: StatePaths, key: str) -> Path:
    return paths.tally_dir / f"{safe_file_name(key)}.base"


def _write_base(paths: StatePaths, key: str, length: int) -> None:
    ensure_private_dir(paths.tally_dir)
    atomic_write(_base_path(paths, key), str(length).encode("ascii"))
