"""From the wishes that hooks leave behind to durable jobs."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from skill_learner import tally
from skill_learner.hook_runtime.clients import UNKNOWN_CLIENT_REST
from skill_learner.jobs import Job, JobStore, Wish
from skill_learner.journal import JournalRecord, journal_files, journal_path, read_journal
from skill_learner.marks import read_mark_of
from skill_learner.paths import StatePaths

RETRY_SECONDS = 600.0
"""How long a nudge waits after a review of the same session has failed: the tally that caused it
stays above its threshold, so that every turn would ask again."""

_TURN_ENDS = frozenset({"Stop", "StopFailure", "SessionEnd"})
_WITHIN_TURN = frozenset({"UserPromptSubmit", "PostToolUse", "PostToolUseFailure"})


def collect_requests(
    paths: StatePaths, jobs: JobStore, *, log: Callable[[str], None] = lambda _: None
) -> list[Job]:
    """Turn every request file into jobs, then remove it; returns the jobs that were touched.

    A nudge concerns all of the project's sessions that have unreviewed events and whose turn has
    ended, a session's end that session, a recovery the session it names, or all whose client is
    gone.
    """
    requests: list[dict[str, str]] = []
    files = request_files(paths)
    for file in files:
        try:
            requests.append(read_request(file))
        except FileNotFoundError:  # taken by another process
            continue
        except (OSError, UnicodeError) as error:
            log(f"{file}: cannot be read ({error}); removed")
    wishes = list(_delayed(jobs, _wishes(paths, requests)))
    touched = {job.id: job for job in jobs.queue_all(wishes)} if wishes else {}
    for file in files:
        with contextlib.suppress(OSError):
            file.unlink()
    return list(touched.values())


def request_files(paths: StatePaths) -> list[Path]:
    """The hooks' wishes that wait, oldest first."""
    with contextlib.suppress(OSError):
        return sorted(
            path
            for path in paths.requests_dir.iterdir()
            if path.is_file() and not path.name.startswith(".")
        )
    return []


def wish_for_session(paths: StatePaths, session: str, reason: str) -> Wish | None:
    """The wish to review one session, as its journal describes it; None without a journal."""
    journal = journal_path(paths, session)
    records = read_journal(journal).records
    return _wish(session, journal, records[-1], reason) if records else None


def read_request(file: Path) -> dict[str, str]:
    """What a wish says, line by line: `reason`, `session`, `project`, `key`, `editor`."""
    text = file.read_bytes().decode("utf-8", "surrogateescape")
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line)
    return {key.strip(): value for key, _, value in pairs}


def _wishes(paths: StatePaths, requests: Sequence[dict[str, str]]) -> Iterator[Wish]:
    """However many requests there are, each journal is read once for all of them."""
    told = [(one.get("reason", ""), one.get("session", ""), one.get("key", "")) for one in requests]
    if any(reason == "recover" and not session for reason, session, _ in told):
        yield from _recovered(paths)
    nudged = {key for reason, _, key in told if reason == "nudge" and key}
    if nudged:
        yield from _project_sessions(paths, nudged)
    for request, (reason, session, key) in zip(requests, told, strict=True):
        if reason in ("nudge", "session_end", "recover") and session:
            yield Wish(
                session=session,
                project=request.get("project", ""),
                project_key=key,
                editor=request.get("editor", ""),
                reason=reason,
                journal=str(journal_path(paths, session)),
            )


def _project_sessions(paths: StatePaths, keys: Collection[str]) -> Iterator[Wish]:
    for journal, records in _unreviewed(paths):
        ours = records[-1].project_key in keys
        if ours and (_turn_has_ended(records) or _is_silent(records)):
            yield _wish(_session_id(journal, records), journal, records[-1], "nudge")


def _recovered(paths: StatePaths) -> Iterator[Wish]:
    for left in tally.unfinished_sessions(paths):
        yield Wish(
            session=left.session_id,
            project=left.project,
            project_key=left.project_key,
            editor=left.editor,
            reason="recover",
            journal=str(left.journal),
        )


def _unreviewed(paths: StatePaths) -> Iterator[tuple[Path, tuple[JournalRecord, ...]]]:
    for journal in journal_files(paths):
        mark = read_mark_of(paths, journal)
        with contextlib.suppress(OSError):
            if journal.stat().st_size <= mark:
                continue
        records = read_journal(journal, mark).records
        if any(record.counts for record in records):
            yield journal, records


def _turn_has_ended(records: Iterable[JournalRecord]) -> bool:
    """Other events may follow a turn's end (a subagent's, a compaction's)."""
    ended = False
    for record in records:
        if record.event in _TURN_ENDS:
            ended = True
        elif record.event in _WITHIN_TURN and not record.of_subagent:
            ended = False
    return ended


def _is_silent(records: tuple[JournalRecord, ...]) -> bool:
    return 0 < records[-1].at < time.time() - UNKNOWN_CLIENT_REST


def _session_id(journal: Path, records: Iterable[JournalRecord]) -> str:
    named = (record.text("session_id") for record in records)
    return next((name for name in named if name), journal.stem)


def _wish(session: str, journal: Path, record: JournalRecord, reason: str) -> Wish:
    return Wish(
        session=session,
        project=record.project,
        project_key=record.project_key,
        editor=record.editor,
        reason=reason,
        journal=str(journal),
    )


def _delayed(jobs: JobStore, wishes: Iterable[Wish]) -> Iterator[Wish]:
    closed: dict[str, Job] | None = None
    for wish in wishes:
        if wish.reason in ("nudge", "recover"):
            closed = jobs.last_closed() if closed is None else closed
            last = closed.get(wish.session)
            if last is not None and last.status == "failed":
                yield replace(wish, not_before=last.updated + RETRY_SECONDS)
                continue
        yield wish
