"""What was recorded of sessions, and taking it away: journals and everything made from them.

The library, how often its skills were used, installs, consent and the ledger of what was spent are
no recordings.
"""

from __future__ import annotations

import contextlib
import shutil
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from skill_learner import tally
from skill_learner.conversation import files_of_session
from skill_learner.errors import JobError
from skill_learner.files import locked
from skill_learner.jobs import Job, JobStore
from skill_learner.journal import journal_files, journal_path, read_journal
from skill_learner.journal_retention import remove_journal
from skill_learner.paths import StatePaths, safe_file_name
from skill_learner.pipeline.requests import read_request, request_files
from skill_learner.pipeline.sequences import forget_sequences

_FOR_EVER = float("inf")


@dataclass(frozen=True)
class Chosen:
    """Which recordings: of these project keys (with what a project was called before), of one
    session, older than unix seconds `before`; what is named together holds together. Without any
    of them, all."""

    keys: frozenset[str] = frozenset()
    session: str = ""
    before: float = _FOR_EVER

    @property
    def is_all(self) -> bool:
        return self.is_anybodys and self.before == _FOR_EVER

    @property
    def is_anybodys(self) -> bool:
        """Of whichever project and session."""
        return not self.keys and not self.session

    def has(self, key: str, session: str) -> bool:
        """Whether what tells its project and session is of the chosen ones."""
        return (not self.keys or key in self.keys) and (
            not self.session or safe_file_name(session) == safe_file_name(self.session)
        )


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
    if not dry_run:
        journals = [p for p in journals if remove_journal(paths, p, unless_since=chosen.before)]
    done.add("journals", len(journals))
    sessions = {path.stem for path in journals}
    sessions |= _forget_jobs(paths, chosen, sessions, done, dry_run)
    if chosen.session:
        sessions.add(safe_file_name(chosen.session))
    files = [*_files_of_sessions(paths, chosen, sessions), *_files_of(paths, chosen)]
    _remove_files(_older(files, chosen.before), done, dry_run)
    memories = forget_sequences(paths, chosen.has, before=chosen.before, dry_run=dry_run)
    done.add("command memories", memories)
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


def _forget_jobs(
    paths: StatePaths, chosen: Chosen, sessions: Collection[str], done: Purged, dry_run: bool
) -> set[str]:
    """Reviews of the chosen and of sessions whose journals go; returns whose they were."""
    if not paths.jobs_dir.is_dir():
        return set()
    found: set[str] = set()

    def is_chosen(job: Job) -> bool:
        name = safe_file_name(job.session)
        if job.updated >= chosen.before:
            return False
        if name not in sessions and not chosen.has(job.project_key, job.session):
            return False
        found.add(name)
        return True

    done.add("reviews on record", JobStore(paths).forget(is_chosen, dry_run=dry_run))
    return found


def _files_of_sessions(
    paths: StatePaths, chosen: Chosen, sessions: Collection[str]
) -> Iterable[tuple[str, Path]]:
    """Files that bear a session's name. Of marks those whose journal is gone: as long as it is
    there, its events would be reviewed again."""
    if chosen.is_anybodys:
        offers = list(paths.offered_dir.glob("*"))
        marks = list(paths.marks_dir.glob("*.json"))
    else:
        offers = [paths.offered_dir / name for name in sessions]
        marks = [paths.marks_dir / f"{name}.json" for name in sessions]
    yield from (("offers", path) for path in offers)
    for mark in marks:
        if not (paths.journal_dir / f"{mark.stem}.jsonl").exists():
            yield "marks", mark


def _files_of(paths: StatePaths, chosen: Chosen) -> Iterable[tuple[str, Path]]:
    """Files that belong to the chosen as a whole. (Conversations are of no project.)"""
    if chosen.session:
        files = files_of_session(paths, chosen.session)
        yield from (("conversations", path) for path in files)
    elif not chosen.keys:
        yield from (("conversations", path) for path in paths.conversations_dir.glob("*.jsonl"))
    for request in request_files(paths):
        with contextlib.suppress(OSError):
            told = read_request(request)
            if chosen.has(told.get("key", ""), told.get("session", "")):
                yield "wishes for a review", request
    if chosen.is_anybodys:
        yield from (("news", path) for path in paths.news_dir.glob("*"))
        yield from (("news", path) for path in paths.news_dir.glob(".*.json"))
        yield from (("logs", path) for path in (paths.hook_log, paths.review_log))
    for name in map(safe_file_name, () if chosen.session else chosen.keys):
        yield from (("news", paths.news_dir / file) for file in (name, f".{name}.json"))


def _older(files: Iterable[tuple[str, Path]], before: float) -> list[tuple[str, Path]]:
    return [
        (kind, path) for kind, path in files if path.is_file() and path.stat().st_mtime < before
    ]


def _remove_files(files: Iterable[tuple[str, Path]], done: Purged, dry_run: bool) -> None:
    for kind, path in files:
        if not dry_run:
            path.unlink(missing_ok=True)
        done.add(kind)
