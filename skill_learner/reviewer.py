"""Reviews of a host program's conversations, beside it: the same core as the editors' reviews.

Each wish is a durable job, so that nothing is lost when the program ends: the next engine with the
same provider on that library runs it. A conversation goes to no other provider by itself.
"""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from skill_learner.conversation import ConversationStore, StoredConversation
from skill_learner.errors import JobError, ReviewWaitsError, SkillLearnerError
from skill_learner.files import ensure_private_dir, locked
from skill_learner.jobs import MAX_ATTEMPTS, Job, Wish
from skill_learner.pipeline import JobOutcome, PipelineServices, learn_from
from skill_learner.processes import process_runs
from skill_learner.review_counts import ReviewCounts

log = logging.getLogger("skill_learner")

OWNER = "library"
_OTHER_PROCESS_PAUSE = 0.2
_RETRY_SECONDS = 60.0
_CEILING_SECONDS = 600.0

Reviewed = Callable[[StoredConversation, Sequence[str]], None]


class BackgroundReviewer:
    """Runs the jobs of one provider in a worker thread that ends when nothing is left to do.

    on_reviewed: told of each completed review: the conversation that it saw, the skills it wrote.
    """

    def __init__(
        self,
        services: PipelineServices,
        provider: str | None,
        on_reviewed: Reviewed = lambda conversation, skills: None,
    ) -> None:
        self.counts = ReviewCounts()
        self._services = services
        self._provider = provider
        self._on_reviewed = on_reviewed
        self._store = ConversationStore(services.paths)
        self._changed = threading.Condition()
        self._pending: set[str] = set()
        self._put_off: set[str] = set()
        self._thread: threading.Thread | None = None
        self._running: Job | None = None
        self._stopping = False
        self._recovered = False

    # -- asked from the host's threads ---------------------------------------------------------

    def submit(self, session: str, file: Path, reason: str) -> None:
        """Queue a review of a stored conversation and return at once. One that is asked for while
        another of the same conversation runs follows it."""
        with self._changed:
            self._put_off.add(session)  # unless it comes to be queued
            self._services.jobs.queue(self._wish(session, file, reason))
            self._put_off.discard(session)
            self._pending.add(session)
        self._start()

    def resume(self) -> None:
        """Take up what earlier processes left, if there is anything."""
        if self._services.paths.have_open_reviews():
            self._start()

    def wait(self, timeout: float, session: str | None = None) -> bool:
        """Wait for the reviews that were submitted (or one session's); False when time ran out, or
        when one failed and is put off."""
        deadline = time.monotonic() + timeout
        with self._changed:
            while self._pending if session is None else session in self._pending:
                left = deadline - time.monotonic()
                if left <= 0:
                    return False
                self._changed.wait(left)
            return not self._put_off if session is None else session not in self._put_off

    def close(self, timeout: float) -> bool:
        """Wait at most so long; what is not done by then stays a job. False when there is such."""
        done = self.wait(timeout)
        with self._changed:
            self._stopping = True
            job = self._running
            self._changed.notify_all()
        if job is not None:
            with contextlib.suppress(SkillLearnerError, OSError):
                self._services.jobs.wait(job, "the program ended; it runs at the next start")
        return done

    @property
    def waiting(self) -> int:
        with self._changed:
            return len(self._pending | self._put_off)

    # -- the worker ----------------------------------------------------------------------------

    def _start(self) -> None:
        with self._changed:
            self._changed.notify_all()
            if self._stopping or (self._thread is not None and self._thread.is_alive()):
                return
            self._thread = threading.Thread(
                target=self._work, name="skill-learner review", daemon=True
            )
            try:
                self._thread.start()
            except RuntimeError:  # the interpreter is ending: the job is on disk
                self._thread = None

    def _work(self) -> None:
        try:
            if not self._recovered:
                self._recover()
                self._recovered = True
            while not self._stopping:
                busy = not self._run_queue()
                with self._changed:
                    pause = _OTHER_PROCESS_PAUSE if busy else self._pause()
                    if pause is None or self._stopping:
                        self._thread = None
                        return
                    self._changed.wait(pause)
        except Exception as error:  # nothing of ours may end in the host's stderr as a traceback
            self._note_failure(f"{type(error).__name__}: {error}")
            with self._changed:
                self._put_off |= self._pending  # they are on disk, for the next who starts
                self._pending.clear()
                self._thread = None
                self._changed.notify_all()

    def _run_queue(self) -> bool:
        """Run what is due; False when another process holds the lock."""
        try:
            with self.locked():
                self._services.jobs.requeue_interrupted(OWNER)
                while not self._stopping:
                    job = self._services.jobs.take(owner=OWNER, provider=self._provider)
                    if job is None:
                        return True
                    self.run_one(job)
                    with self._changed:
                        self._settle()
        except TimeoutError:
            return False
        return True

    def _pause(self) -> float | None:
        """Seconds until the next job of ours is due; None when there is none."""
        waits = [max(0.05, job.not_before - time.time()) for job in self._settle()]
        return min(waits, default=None)

    def _settle(self) -> list[Job]:
        """Forget the wishes that are served, or put off; returns the jobs that are open."""
        open_jobs = [job for job in self._services.jobs.open() if self._is_ours(job)]
        due = {job.session for job in open_jobs if job.not_before <= time.time()}
        self._put_off = {job.session for job in open_jobs} - due
        self._pending &= due
        self._changed.notify_all()
        return open_jobs

    def run_one(self, job: Job) -> Job:
        """Run a job that was taken, under the lock; whatever fails is counted and logged."""
        services = self._services
        self._running = job
        started = time.monotonic()
        try:
            outcome = self._review(job)
        except ReviewWaitsError as error:
            later = time.time() + (error.seconds or _CEILING_SECONDS)
            ended = services.jobs.wait(job, f"waits: {error.message}", not_before=later)
            if not error.seconds:
                self._note_failure(error.message)
        except JobError as error:  # no later try would find the file
            ended = self._unreadable(job, error.message)
        except SkillLearnerError as error:
            ended = self._failed(job, error.message)
        except Exception as error:
            ended = self._failed(job, f"{type(error).__name__}: {error}")
        else:
            ended = services.jobs.finish(job, "done", outcome.detail, outcome.to_json())
            self.counts.completed += 1
            self.counts.skills.update(change.change for change in outcome.skills_written)
            log.info("review of %s: %s", job.session, outcome.detail)
        self.counts.seconds += time.monotonic() - started
        self._running = None
        return ended

    def _review(self, job: Job) -> JobOutcome:
        conversation = self._store.read(Path(job.transcript))
        session = conversation.as_session()
        when = self._services.config.review_when or "always"
        outcome = learn_from(self._services, session, job=job.id, review_when=when)
        self._store.mark_reviewed(conversation.path, len(conversation.steps))
        written = [c.name for c in outcome.skills_written if c.change != "archived"]
        self._on_reviewed(conversation, written)
        if conversation.ended:
            conversation.path.unlink(missing_ok=True)
        return outcome

    def _unreadable(self, job: Job, why: str) -> Job:
        """A wish that came just before the review that saw the conversation's end finds no file."""
        jobs = self._services.jobs
        if any(one.transcript == job.transcript and one.status == "done" for one in jobs.all()):
            return jobs.finish(job, "done", "nothing new: the review before it saw the end")
        self.counts.failed += 1
        self._note_failure(f"review of {job.session}: {why}")
        return jobs.finish(job, "failed", why)

    def _failed(self, job: Job, why: str) -> Job:
        """Asked again later, so that an outage costs no learning; given up after some tries."""
        self.counts.provider_errors += 1
        self._note_failure(f"review of {job.session}: {why}")
        jobs = self._services.jobs
        if job.attempts < MAX_ATTEMPTS:
            return jobs.postpone(job, why, seconds=_RETRY_SECONDS * 2 ** (job.attempts - 1))
        self.counts.failed += 1
        return jobs.finish(job, "failed", why)

    def _note_failure(self, why: str) -> None:
        self.counts.last_error = why
        log.warning("skill-learner: %s", why)

    def _recover(self) -> None:
        """Queue the conversations of processes that ended without a word."""
        jobs = self._services.jobs
        told = jobs.all()
        busy = {Path(job.transcript) for job in told if job.is_open}
        given_up = {Path(job.transcript) for job in told if job.status in ("failed", "abandoned")}
        for conversation in self._store.all():
            file = conversation.path
            if conversation.provider != self._provider or file in busy:
                continue
            if conversation.is_reviewed:
                if conversation.ended or not process_runs(conversation.pid):
                    file.unlink(missing_ok=True)
                continue
            if file not in given_up and not process_runs(conversation.pid):
                self._store.mark_ended(file)
                jobs.queue(self._wish(conversation.session, file, "recover"))
        self._store.prune(self._services.config.journal_days, keep=busy)

    def _wish(self, session: str, file: Path, reason: str) -> Wish:
        return Wish(
            session=session,
            project="",
            project_key="user",
            editor=OWNER,
            reason=reason,
            transcript=str(file),
            owner=OWNER,
            provider=self._provider or "",
        )

    def _is_ours(self, job: Job) -> bool:
        return job.owner == OWNER and self._provider in (None, job.provider)

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """The library's lock for reviews of hosts; TimeoutError when another process has it."""
        root = ensure_private_dir(self._services.paths.root)
        with locked(root / "library-review.lock", timeout=0):
            yield


def run_library_jobs(services: PipelineServices, *, only_session: str | None = None) -> list[Job]:
    """Run what library conversations wait for, by hand and with whatever provider `services` has;
    the jobs as they ended. Empty when another process is at it."""
    reviewer = BackgroundReviewer(services, None)
    ended: list[Job] = []
    seen: set[str] = set()
    with contextlib.suppress(TimeoutError), reviewer.locked():
        services.jobs.requeue_interrupted(OWNER)
        while job := services.jobs.take(
            session=only_session, owner=OWNER, skip=seen, ignore_delay=True
        ):
            seen.add(job.id)
            ended.append(reviewer.run_one(job))
    return ended
