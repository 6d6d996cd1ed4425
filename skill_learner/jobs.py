"""Durable review jobs: one JSON file each, so that a killed process or a reboot loses none.

    queued ──take──▶ running ──finish──▶ done | failed
      ▲                 │
      ├──── wait ───────┤                (a daily ceiling, kept with the reason in `detail`)
      └── requeue_interrupted ───────────▶ abandoned after MAX_ATTEMPTS starts

Open jobs lie in `jobs/`, closed ones in `jobs/closed/` (the last `keep_closed` of them).
`jobs/pending` exists exactly while an editor's job is open; the hook looks at nothing else. It
stays while a job runs: after a kill or a reboot nobody is left to set it. A session (of a host: a
conversation) has at most one queued job; a wish that comes while its job runs makes one follow-up
when that one closes.
"""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import asdict, fields, replace
from pathlib import Path
from typing import Any, Literal

from skill_learner.errors import JobError
from skill_learner.files import atomic_write, ensure_private_dir, locked, remove_old_drafts
from skill_learner.job import EDITOR, Job, Wish, merged, subject
from skill_learner.paths import StatePaths

__all__ = ["MAX_ATTEMPTS", "Job", "JobStore", "Wish"]

MAX_ATTEMPTS = 3


class JobStore:
    """The jobs of one state folder. Every method is safe against other processes and threads."""

    def __init__(
        self,
        paths: StatePaths,
        *,
        keep_closed: int = 500,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._folder = paths.jobs_dir
        self._closed_folder = paths.jobs_dir / "closed"
        self._keep_closed = keep_closed
        self._clock = clock

    @property
    def pending_marker(self) -> Path:
        return self._folder / "pending"

    def queue(self, wish: Wish) -> Job:
        """Queue a review of the wish's session, or merge it into the job that is open for it."""
        return self.queue_all([wish])[0]

    def queue_all(self, wishes: Sequence[Wish]) -> list[Job]:
        """The same for many at once, for which the open jobs are read once; one job for each."""
        if not all(wish.session for wish in wishes):
            raise JobError("a review needs a session id")
        with self._changing():
            open_jobs: dict[tuple[str, ...], Job] = {}
            for job in self._open():
                open_jobs.setdefault(subject(job), job)
            touched = []
            first = self._next_number() if wishes else 0
            for number, wish in enumerate(wishes, first):
                known = open_jobs.get(subject(wish))
                job = self._write(merged(known, wish) if known else self._created(wish, number))
                open_jobs[subject(wish)] = job
                touched.append(job)
        return touched

    def take(
        self,
        *,
        session: str | None = None,
        owner: str | None = None,
        provider: str | None = None,
        skip: Collection[str] = (),
        ignore_delay: bool = False,
    ) -> Job | None:
        """Start the oldest queued job: it becomes `running` and its attempts grow by one.

        session, owner, provider: only such a job. skip: ids to pass over. ignore_delay:
        `not_before` too.
        """
        now = float("inf") if ignore_delay else self._clock()
        with self._changing():
            for job in self._open():
                wanted = job.status == "queued" and job.id not in skip and job.not_before <= now
                ours = owner in (None, job.owner) and provider in (None, job.provider)
                if wanted and ours and session in (None, job.session):
                    started = replace(job, status="running", detail="", attempts=job.attempts + 1)
                    return self._write(started)
        return None

    def finish(
        self,
        job: Job,
        status: Literal["done", "failed", "abandoned"],
        detail: str,
        result: Mapping[str, Any] | None = None,
    ) -> Job:
        """Close a job; the first close counts. A wish that came in the meantime is queued as a job
        of its own."""
        with self._changing():
            ended = self._read(self._closed_folder / f"{job.id}.json")
            if ended is not None:
                return ended
            current = self._read(self._path(job.id)) or job
            closed = replace(current, status=status, detail=detail, again="", result=result or {})
            written = self._close(closed)
            if current.again:
                now = self._clock()
                follow_up = replace(
                    current,
                    id=_identity(self._next_number()),
                    status="queued",
                    reason=current.again,
                    detail="",
                    attempts=0,
                    created=now,
                    again="",
                    result={},
                )
                self._write(follow_up)
            return written

    def wait(self, job: Job, detail: str, *, not_before: float = 0.0) -> Job:
        """Put a started job back in the queue; the start does not count as an attempt. One that is
        closed meanwhile stays closed."""
        attempts = max(0, job.attempts - 1)
        return self._put_back(
            job, detail=detail, attempts=attempts, not_before=not_before, again=""
        )

    def postpone(self, job: Job, detail: str, *, seconds: float) -> Job:
        """Put a started job that failed back in the queue, for later; the start counts. One that is
        closed meanwhile stays closed."""
        return self._put_back(job, detail=detail, not_before=self._clock() + seconds)

    def _put_back(self, job: Job, **changes: Any) -> Job:
        with self._changing():
            closed = self._read(self._closed_folder / f"{job.id}.json")
            if closed is not None or not self._path(job.id).exists():  # or off the record
                return closed or job
            current = self._read(self._path(job.id)) or job
            return self._write(replace(current, status="queued", **changes))

    def requeue_interrupted(self, owner: str | None = None) -> list[Job]:
        """Put every running job (of an owner) back in the queue, or abandon it after
        `MAX_ATTEMPTS` starts.

        Only for the holder of that owner's review lock: while it is held nobody else runs such a
        job, so whatever stands as running was cut off by a crash, a kill or a reboot.
        """
        with self._changing():
            for folder in (self._folder, self._closed_folder):
                remove_old_drafts(folder, min_age=0)  # nobody writes one: that takes our lock
            for half in {*_job_files(self._folder)} & {*_job_files(self._closed_folder)}:
                (self._folder / half).unlink()  # its close was cut off
            running = [
                job
                for job in self._open()
                if job.status == "running" and owner in (None, job.owner)
            ]
            return [self._requeued(job) for job in running]

    def get(self, job_id: str) -> Job | None:
        for folder in (self._closed_folder, self._folder):
            job = self._read(folder / f"{job_id}.json")
            if job is not None:
                return job
        return None

    def open(self) -> list[Job]:
        """Queued and running jobs, oldest first."""
        return list(self._open())

    def all(self) -> list[Job]:
        """Every job that is still on record, oldest first."""
        jobs = {job.id: job for job in self._open()}
        jobs.update({job.id: job for job in self._in(self._closed_folder)})
        return [jobs[job_id] for job_id in sorted(jobs)]

    def last_closed(self) -> dict[str, Job]:
        """The newest closed job of each session."""
        return {job.session: job for job in self._in(self._closed_folder)}

    def forget(self, is_chosen: Callable[[Job], bool], *, dry_run: bool = False) -> int:
        """Take jobs off the record, open ones too; how many. For the holder of the review lock."""
        with self._changing():
            chosen = [job for job in self.all() if is_chosen(job)]
            for job in () if dry_run else chosen:
                self._path(job.id).unlink(missing_ok=True)
                (self._closed_folder / f"{job.id}.json").unlink(missing_ok=True)
        return len(chosen)

    # -- below: callers hold the lock ----------------------------------------------------------

    @contextlib.contextmanager
    def _changing(self) -> Iterator[None]:
        ensure_private_dir(self._folder)
        ensure_private_dir(self._closed_folder)
        with locked(self._folder / ".lock"):
            try:
                yield
            finally:
                self._set_marker()

    def _created(self, wish: Wish, number: int) -> Job:
        now = self._clock()
        return Job(id=_identity(number), status="queued", created=now, updated=now, **asdict(wish))

    def _next_number(self) -> int:
        """What the id of a new job begins with: the time in milliseconds, or one more than the
        newest job's, so that ids sort as jobs were made, whatever the clock says."""
        names = [*_job_files(self._folder), *_job_files(self._closed_folder)]
        newest = max(map(_number, names), default=0)
        return max(int(self._clock() * 1000), newest + 1)

    def _set_marker(self) -> None:
        if any(job.owner == EDITOR for job in self._open()):
            self.pending_marker.touch(mode=0o600)
        else:
            self.pending_marker.unlink(missing_ok=True)

    def _requeued(self, job: Job) -> Job:
        if job.attempts >= MAX_ATTEMPTS:
            detail = f"given up: cut off {job.attempts} times before it could finish"
            return self._close(replace(job, status="abandoned", detail=detail, again=""))
        detail = f"start {job.attempts} was cut off; it runs again"
        return self._write(replace(job, status="queued", detail=detail, again=""))

    def _close(self, job: Job) -> Job:
        written = self._write(job, self._closed_folder)
        self._path(job.id).unlink(missing_ok=True)
        closed = _job_files(self._closed_folder)
        for old in closed[: max(0, len(closed) - self._keep_closed)]:
            (self._folder / old).unlink(missing_ok=True)  # closed by half: it would be open again
            (self._closed_folder / old).unlink(missing_ok=True)
        return written

    def _write(self, job: Job, folder: Path | None = None) -> Job:
        written = replace(job, updated=self._clock())
        data = json.dumps(asdict(written), indent=1).encode()
        atomic_write((folder or self._folder) / f"{job.id}.json", data + b"\n")
        return written

    def _path(self, job_id: str) -> Path:
        return self._folder / f"{job_id}.json"

    def _open(self) -> Iterator[Job]:
        """Oldest first, each read when it is asked for: whoever wants the first pays for no more. A
        job that was being closed when its process died lies in both folders: closed wins."""
        for job in self._in(self._folder):
            if not (self._closed_folder / f"{job.id}.json").exists():
                yield job

    def _in(self, folder: Path) -> Iterator[Job]:
        for name in _job_files(folder):
            job = self._read(folder / name)
            if job is not None:
                yield job

    @staticmethod
    def _read(path: Path) -> Job | None:
        """A file that is no job (cut short, foreign) is passed over; nothing hangs on one file."""
        try:
            raw = json.loads(path.read_bytes())
            known = {name.name for name in fields(Job)}
            return Job(**{key: value for key, value in raw.items() if key in known})
        except (OSError, ValueError, TypeError, AttributeError, RecursionError):
            return None


def _job_files(folder: Path) -> list[str]:
    """Names, oldest first. Every change of the queue lists them, so no path is made of each."""
    try:
        return sorted(
            name for name in os.listdir(folder) if name.endswith(".json") and name[0] != "."
        )
    except FileNotFoundError:
        return []


def _identity(number: int) -> str:
    return f"{number:013d}-{secrets.token_hex(4)}"


def _number(name: str) -> int:
    """The number a job's file name begins with; 0 for a foreign file."""
    head = name.partition("-")[0]
    return int(head) if head.isdecimal() and len(head) == 13 else 0
