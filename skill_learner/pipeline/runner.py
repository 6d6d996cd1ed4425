"""Runs queued reviews, one at a time per library, and loses none of the wishes that come meanwhile.

The review lock is held for a whole run. A process that does not get it leaves its wish as a file;
the holder looks for such files when its queue is empty, and once more after it let go of the lock.
"""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import cast

from skill_learner import tally
from skill_learner.errors import ReviewWaitsError, SkillLearnerError
from skill_learner.files import ensure_private_dir
from skill_learner.job import EDITOR, Job
from skill_learner.journal import JournalReading, read_journal
from skill_learner.marks import read_mark, write_mark
from skill_learner.pipeline import news
from skill_learner.pipeline.learn import learn_from
from skill_learner.pipeline.outcome import JobOutcome, nothing
from skill_learner.pipeline.requests import (
    RETRY_SECONDS,
    collect_requests,
    request_files,
    wish_for_session,
)
from skill_learner.pipeline.review_lock import AnotherReviewRunsError, review_lock
from skill_learner.pipeline.review_log import log_fault
from skill_learner.pipeline.services import PipelineServices
from skill_learner.pipeline.tidying import count_uses, tidy
from skill_learner.pipeline.watchdog import Watchdog
from skill_learner.project import load_project, project_key, register
from skill_learner.session_loader import load_session

REVIEW_MARKER = "SKILL_LEARNER_REVIEW"

_REST = 60.0
"""Seconds after a review in which the turns of a project ask for none: what is left of its count
belongs to other sessions' turns that still go on."""
_CEILING_REST = 1_800.0

Progress = Callable[[str], None]


@dataclass
class _Run:
    """One call of `run_jobs`."""

    services: PipelineServices
    progress: Progress
    only_session: str | None
    by_hand: bool
    ended: list[Job] = field(default_factory=list)
    passed_over: set[str] = field(default_factory=set)
    keys: set[str] = field(default_factory=set)
    """Projects whose tally is to be counted anew at the end."""
    heard: bool = False
    """Whether uses or offers were new: they move skills up and down what is published."""
    shown: set[str] = field(default_factory=set)
    """Projects that were published since then."""


def run_jobs(
    services: PipelineServices,
    *,
    progress: Progress | None = None,
    only_session: str | None = None,
    wait: bool = False,
    detached: bool = False,
) -> list[Job]:
    """Run what is queued; returns the jobs as this run left them, oldest first.

    only_session: that session alone, from its beginning, even when no wish for it is queued.
    wait: wait for a run of another process to end; else return at once (that run takes our wishes
    over). detached: a job that exceeds `review_process_timeout` ends the whole process; delays
    after failures are kept.
    """
    run = _Run(services, progress or (lambda _: None), only_session, by_hand=not detached)
    ensure_private_dir(services.paths.root)
    _queue_asked_session(services, only_session)
    while True:
        try:
            with review_lock(services.paths.review_lock, wait=wait):
                for job in services.jobs.requeue_interrupted("editor"):
                    _note_interrupted(run, job)
                run.heard, run.shown = count_uses(services) > 0, set()
                _run_queue(run)
                _count_anew(run)
                tidy(services)
        except AnotherReviewRunsError:
            return run.ended
        if not _has_more(run):
            return run.ended


def run_detached(services: PipelineServices) -> None:
    """What `review --detached` does. Nobody reads its output: faults go to review.log."""
    os.environ[REVIEW_MARKER] = "1"  # whatever we start must not ask for a review of itself
    _exit_on_termination()
    try:
        run_jobs(services, detached=True)
    except Exception as error:
        log_fault(services.paths.review_log, f"review: {type(error).__name__}: {error}")


def collect(services: PipelineServices) -> list[Job]:
    """Turn the hooks' wishes into jobs now, without running them."""
    log = services.paths.review_log
    return collect_requests(services.paths, services.jobs, log=lambda text: log_fault(log, text))


def _queue_asked_session(services: PipelineServices, session: str | None) -> None:
    if session is None:
        return
    wish = wish_for_session(services.paths, session, "manual")
    if wish is not None:
        services.jobs.queue(wish)


def _run_queue(run: _Run) -> None:
    jobs = run.services.jobs
    while True:
        collect(run.services)
        job = jobs.take(
            session=run.only_session,
            owner=EDITOR,
            skip=run.passed_over,
            ignore_delay=run.by_hand,
        )
        if job is None:
            return
        with _bounded(run, job):
            ended = _run_one(run, job)
        run.ended.append(ended)
        if ended.status == "queued":
            run.passed_over.add(ended.id)


def _has_more(run: _Run) -> bool:
    """Whether a wish came after the queue was found empty: from a process that did not get the
    lock, and that relies on us."""
    if request_files(run.services.paths):
        return True
    earlier = run.passed_over | {job.id for job in run.ended}
    return any(
        job.status == "queued"
        and job.owner == EDITOR
        and job.id not in earlier
        and run.only_session in (None, job.session)
        and (run.by_hand or job.not_before == 0)
        for job in run.services.jobs.open()
    )


def _run_one(run: _Run, job: Job) -> Job:
    services = run.services
    run.progress(f"{job.session}: started")
    try:
        outcome = _review(run, job)
    except ReviewWaitsError as error:
        later = time.time() + error.seconds if error.seconds else 0.0
        ended = services.jobs.wait(job, f"waits: {error.message}", not_before=later)
        tally.hold_off(services.paths, job.project_key, error.seconds or _CEILING_REST)
    except SkillLearnerError as error:
        ended = _failed(services, job, error.message)
    except Exception as error:
        ended = _failed(services, job, f"{type(error).__name__}: {error}")
    except BaseException:  # Ctrl-C, or a polite kill: not the job's fault
        services.jobs.wait(job, "stopped; it runs at the next start")
        raise
    else:
        ended = services.jobs.finish(job, "done", outcome.detail, outcome.to_json())
        tally.hold_off(services.paths, job.project_key, _REST)
    run.progress(f"{job.session}: {ended.status}: {ended.detail}")
    return ended


def _failed(services: PipelineServices, job: Job, why: str) -> Job:
    log_fault(services.paths.review_log, f"job {job.id}: {why}")
    tally.hold_off(services.paths, job.project_key, RETRY_SECONDS)
    return services.jobs.finish(job, "failed", why)


def _review(run: _Run, job: Job) -> JobOutcome:
    """Everything between taking a job and its result. Mark and tally move only at the end of it,
    so whatever is raised on the way leaves the session as unreviewed as it was."""
    services = run.services
    journal = Path(job.journal) if job.journal else None
    manual = job.reason == "manual"
    mark = 0 if manual or journal is None else read_mark(services.paths, job.session)
    unseen = read_journal(journal, mark) if journal is not None else JournalReading((), 0, 0)
    end = unseen.end
    if journal is not None and journal.exists() and end <= mark:
        return nothing("nothing new since the last review")
    transcript = Path(job.transcript) if job.transcript else None
    session = load_session(journal, transcript, reviewed_to=mark)
    run.heard |= services.usage.harvest_loads(session) > 0
    progress = run.progress
    outcome = learn_from(
        services.for_project(job.project),
        session,
        job=job.id,
        progress=lambda text: progress(f"{job.session}: {text}"),
    )
    key = job.project_key or (project_key(Path(session.project)) if session.project else "")
    project = job.project or session.project
    if project and Path(project).is_dir():
        register(services.paths, Path(project))
        if key and (outcome.skills_written or (run.heard and key not in run.shown)):
            run.shown.add(key)
            _publish(services, job, project, key)
    if outcome.concerns_all_projects:
        _publish(services, job, "", "user")
    if outcome.skills_written and key:
        news.tell(services.paths, key, outcome.skills_written)
    _mark_reviewed(run, job.session, key, unseen)
    return outcome


def _publish(services: PipelineServices, job: Job, project: str, key: str) -> None:
    """The skills are safe in the library by now: a fault here is logged, not a failed review."""
    try:
        services.publish(project, key)
    except (SkillLearnerError, OSError) as error:
        log_fault(
            services.paths.review_log, f"job {job.id}: publishing to {project or key}: {error}"
        )


def _mark_reviewed(run: _Run, session: str, key: str, seen: JournalReading) -> None:
    paths = run.services.paths
    marked = read_mark(paths, session)
    if seen.end:
        write_mark(paths, session, seen.end)
    counted = Counter(
        record.project_key for record in seen.records if record.counts and record.end > marked
    )
    for of, count in counted.items():
        tally.cover(paths, of, count)
    if key:
        run.keys.add(key)


def _count_anew(run: _Run) -> None:
    for key in run.keys:
        record = load_project(run.services.paths, key)
        tally.rebuild(run.services.paths, key, record.aliases if record else ())
    run.keys.clear()


def _note_interrupted(run: _Run, job: Job) -> None:
    """A job that a kill or a reboot cut off is told of. A session that has cut off every review of
    it is not tried again before it goes on."""
    services = run.services
    log_fault(services.paths.review_log, f"job {job.id}: {job.detail}")
    if job.status != "abandoned":
        return
    run.ended.append(job)
    if job.journal:
        _mark_reviewed(run, job.session, job.project_key, read_journal(Path(job.journal)))


@contextlib.contextmanager
def _bounded(run: _Run, job: Job) -> Iterator[None]:
    if run.by_hand:
        yield
        return
    services = run.services
    seconds = services.config.review_process_timeout

    def stop_job() -> None:
        _failed(services, job, f"stopped after {seconds:g} s (review_process_timeout)")

    with Watchdog(seconds, stop_job):
        yield


def _exit_on_termination() -> None:
    """A polite kill unwinds, so that programs we started end with us; the job stays for later."""

    def leave(number: int, frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    with contextlib.suppress(ValueError):  # not in the main thread
        signal.signal(signal.SIGTERM, cast(Callable[[int, FrameType | None], None], leave))
