"""What was recorded of sessions, and taking it away: journals and everything made from them.

The library, installs, consent and the ledger of what was spent are no recordings.
"""

from __future__ import annotations

import contextlib
import json
import shutil
from dataclasses import dataclass, field
from pathlib import Path

from skill_learner import tally
from skill_learner.conversation import files_of_session
from skill_learner.errors import JobError
from skill_learner.files import atomic_write, locked
from skill_learner.jobs import JobStore
from skill_learner.journal import journal_files, journal_path, read_journal
from skill_learner.journal_retention import remove_journal
from skill_learner.paths import StatePaths, safe_file_name

_FOR_EVER = float("inf")


@dataclass(frozen=True)
class Chosen:
    """Which recordings: of these project keys (with what a project was called before), of one
    session, older than unix seconds `before`. Without any of them, all."""

    keys: frozenset[str] = frozenset()
    session: str = ""
    before: float = _FOR_EVER

    @property
    def is_all(self) -> bool:
        return not self.keys and not self.session and self.before == _FOR_EVER


@dataclass
class Purged:
    """How many of each kind are, or would be, gone."""

    counts: dict[str, int] = field(default_factory=dict)

    def add(self, kind: str, number: int = 1) -> None:
        if number:
            self.counts[kind] = self.counts.get(kind, 0) + number


def purge_recordings(paths: StatePaths, chosen: Chosen, *, dry_run: bool = False) -> Purged:
    """Take the chosen recordings away. Raises JobError while a review runs. A session that still
    goes on begins a new journal with its next event."""
    done = Purged()
    if not paths.root.is_dir():
        return done
    try:
        with locked(paths.review_lock, timeout=0):
            _purge(paths, chosen, done, dry_run)
    except TimeoutError:
        raise JobError("a review is running", "try again when it has ended") from None
    return done


def _purge(paths: StatePaths, chosen: Chosen, done: Purged, dry_run: bool) -> None:
    journals = [path for path in journal_files(paths) if _journal_is_chosen(paths, path, chosen)]
    keys = {key for path in journals for key in _keys_of(path)}
    names = {path.stem for path in journals}
    if not dry_run:
        journals = [p for p in journals if remove_journal(paths, p, unless_since=chosen.before)]
    done.add("journals", len(journals))
    jobs = JobStore(paths)
    if paths.jobs_dir.is_dir():
        gone = jobs.forget(
            lambda job: (
                safe_file_name(job.session) in names
                or (bool(chosen.keys) and job.project_key in chosen.keys)
                or (not chosen.keys and not chosen.session and job.updated < chosen.before)
            ),
            dry_run=dry_run,
        )
        done.add("reviews on record", gone)
    _remove_files(_files_of(paths, chosen), done, dry_run)
    _forget_sequences(paths, chosen, done, dry_run)
    if dry_run:
        return
    if chosen.is_all:
        shutil.rmtree(paths.tally_dir, ignore_errors=True)
    else:
        for key in keys | chosen.keys:
            tally.rebuild(paths, key)


def _journal_is_chosen(paths: StatePaths, path: Path, chosen: Chosen) -> bool:
    if chosen.session and path != journal_path(paths, chosen.session):
        return False
    if chosen.keys and not chosen.keys & _keys_of(path):
        return False
    with contextlib.suppress(OSError):
        return path.stat().st_mtime < chosen.before
    return False


def _keys_of(path: Path) -> set[str]:
    return {record.project_key for record in read_journal(path).records}


def _files_of(paths: StatePaths, chosen: Chosen) -> list[tuple[str, Path]]:
    """Files that belong to the chosen as a whole."""
    found: list[tuple[str, Path]] = []
    if chosen.session:
        files = files_of_session(paths, chosen.session)
        found += [("conversations", path) for path in files]
    elif not chosen.keys:
        found += [("conversations", path) for path in paths.conversations_dir.glob("*.jsonl")]
    for key in chosen.keys:
        name = safe_file_name(key)
        found += [("news", paths.news_dir / name), ("news", paths.news_dir / f".{name}.json")]
    if chosen.is_all:
        found += [("wishes for a review", path) for path in paths.requests_dir.glob("*")]
        found += [("news", path) for path in paths.news_dir.glob("*")]
        found += [("news", path) for path in paths.news_dir.glob(".*.json")]
        found += [("marks", path) for path in paths.marks_dir.glob("*.json")]
        found += [("logs", path) for path in (paths.hook_log, paths.review_log)]
    return [
        (kind, path)
        for kind, path in found
        if path.is_file() and (path.stat().st_mtime < chosen.before)
    ]


def _remove_files(files: list[tuple[str, Path]], done: Purged, dry_run: bool) -> None:
    for kind, path in files:
        if not dry_run:
            path.unlink(missing_ok=True)
        done.add(kind)


def _forget_sequences(paths: StatePaths, chosen: Chosen, done: Purged, dry_run: bool) -> None:
    """The commands of earlier sessions, one file a project, one entry a session."""
    for path in (paths.root / "sequences").glob("*.json"):
        if chosen.is_all or path.stem in {safe_file_name(key) for key in chosen.keys}:
            _remove_files([("command memories", path)], done, dry_run)
        elif chosen.session:
            with contextlib.suppress(OSError, ValueError):
                entries = json.loads(path.read_bytes())
                if isinstance(entries, dict) and entries.pop(chosen.session, None) is not None:
                    done.add("command memories")
                    if not dry_run:
                        atomic_write(path, json.dumps(entries).encode())
