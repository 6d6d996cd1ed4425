from __future__ import annotations

import json
import multiprocessing
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pytest
from dying import killed_at

from skill_learner.errors import JobError
from skill_learner.jobs import MAX_ATTEMPTS, Job, JobStore, Wish
from skill_learner.paths import StatePaths

MakeWish = Callable[..., Wish]


def test_a_queued_job_is_on_disk_and_marked_as_pending(
    paths: StatePaths, jobs: JobStore, make_wish: MakeWish
) -> None:
    queued = jobs.queue(make_wish("s1"))

    assert jobs.pending_marker.exists()
    assert JobStore(paths).get(queued.id) == queued
    assert queued.status == "queued"
    places = [paths.jobs_dir, paths.jobs_dir / "closed", paths.jobs_dir / f"{queued.id}.json"]
    assert [place.stat().st_mode & 0o777 for place in places] == [0o700, 0o700, 0o600]


def test_a_session_has_one_queued_job_whose_reason_is_the_strongest(
    jobs: JobStore, make_wish: MakeWish
) -> None:
    first = jobs.queue(make_wish("s1", "nudge"))
    second = jobs.queue(make_wish("s1", "session_end"))
    third = jobs.queue(make_wish("s1", "recover"))

    assert first.id == second.id == third.id
    assert third.reason == "session_end"
    assert len(jobs.open()) == 1


def test_drafts_that_a_killed_writer_left_are_gone_after_the_recovery(
    paths: StatePaths, jobs: JobStore, make_wish: MakeWish
) -> None:
    """However young: jobs are written under a lock, and the recovery holds it."""
    job = jobs.queue(make_wish("s1"))
    closed = paths.jobs_dir / "closed"
    for folder in (paths.jobs_dir, closed):
        (folder / f".{job.id}.json.abcdefgh.sl-draft").write_bytes(b'{"id"')

    jobs.requeue_interrupted()

    assert [path.name for path in closed.iterdir()] == []
    assert not list(paths.jobs_dir.glob("*.sl-draft"))
    assert jobs.get(job.id) == job


def test_jobs_are_taken_oldest_first_and_counted(jobs: JobStore, make_wish: MakeWish) -> None:
    jobs.queue(make_wish("s1"))
    jobs.queue(make_wish("s2"))

    first, second = jobs.take(), jobs.take()

    assert first is not None
    assert second is not None
    assert (first.session, second.session) == ("s1", "s2")
    assert first.attempts == 1
    assert first.status == "running"
    assert jobs.take() is None


def test_jobs_of_one_moment_keep_the_order_they_were_made_in(
    paths: StatePaths, make_wish: MakeWish
) -> None:
    times = iter([1_700_000_000.0] * 40 + [1_600_000_000.0] * 40)  # then the clock goes back
    jobs = JobStore(paths, clock=lambda: next(times, 1_600_000_000.0))
    sessions = [f"s{number}" for number in range(20)]

    for session in sessions:
        jobs.queue(make_wish(session))

    assert [job.session for job in jobs.open()] == sessions


def test_what_follows_a_running_job_comes_after_what_waited_before_it(
    paths: StatePaths, make_wish: MakeWish
) -> None:
    jobs = JobStore(paths, clock=lambda: 1_700_000_000.0)
    jobs.queue(make_wish("first"))
    running = jobs.take()
    assert running is not None
    others = [f"s{number}" for number in range(10)]
    for session in ["first", *others]:
        jobs.queue(make_wish(session))

    jobs.finish(running, "done", "fine")

    assert [job.session for job in jobs.open()] == [*others, "first"]


def test_the_marker_stays_until_the_last_job_is_closed(jobs: JobStore, make_wish: MakeWish) -> None:
    jobs.queue(make_wish("s1"))
    job = jobs.take()
    assert job is not None
    assert jobs.pending_marker.exists()  # a reboot now must not leave the job unseen
    jobs.finish(job, "done", "fine")
    assert not jobs.pending_marker.exists()


def test_a_wish_during_a_run_makes_a_follow_up(jobs: JobStore, make_wish: MakeWish) -> None:
    jobs.queue(make_wish("s1", "nudge"))
    running = jobs.take()
    assert running is not None
    jobs.queue(make_wish("s1", "session_end"))
    assert jobs.take() is None  # one review of a session at a time

    jobs.finish(running, "done", "fine", {"n": 1})
    follow_up = jobs.take()

    assert follow_up is not None
    assert follow_up.id != running.id
    assert (follow_up.reason, follow_up.attempts) == ("session_end", 1)
    assert [job.status for job in jobs.all()] == ["done", "running"]


def test_the_first_close_counts(jobs: JobStore, make_wish: MakeWish) -> None:
    jobs.queue(make_wish())
    job = jobs.take()
    assert job is not None
    jobs.finish(job, "failed", "stopped by the watchdog")

    late = jobs.finish(job, "done", "too late")

    assert (late.status, late.detail) == ("failed", "stopped by the watchdog")


def test_waiting_is_no_attempt(jobs: JobStore, make_wish: MakeWish) -> None:
    jobs.queue(make_wish())
    job = jobs.take()
    assert job is not None

    waiting = jobs.wait(job, "waits: 20 of 20 reviews of today are used")

    assert (waiting.status, waiting.attempts) == ("queued", 0)
    assert jobs.pending_marker.exists()
    assert jobs.take(skip={waiting.id}) is None


def test_a_delayed_job_is_passed_over_until_its_time(
    paths: StatePaths, make_wish: MakeWish
) -> None:
    now = [1_000.0]
    jobs = JobStore(paths, clock=lambda: now[0])
    jobs.queue(make_wish(not_before=2_000.0))

    assert jobs.take() is None
    now[0] = 2_000.0
    assert jobs.take() is not None


def test_an_end_of_session_lifts_a_delay(jobs: JobStore, make_wish: MakeWish) -> None:
    jobs.queue(make_wish("s1", "nudge", not_before=9e12))
    jobs.queue(make_wish("s1", "session_end"))
    assert jobs.take() is not None


def test_an_interrupted_job_runs_again_and_is_given_up_in_the_end(
    jobs: JobStore, make_wish: MakeWish
) -> None:
    jobs.queue(make_wish())
    for attempt in range(1, MAX_ATTEMPTS + 1):
        job = jobs.take()
        assert job is not None
        assert job.attempts == attempt
        (interrupted,) = jobs.requeue_interrupted()
        expected = "queued" if attempt < MAX_ATTEMPTS else "abandoned"
        assert interrupted.status == expected

    assert jobs.take() is None
    assert not jobs.pending_marker.exists()
    assert jobs.all()[0].detail.startswith("given up")


def test_jobs_of_another_owner_are_left_alone(jobs: JobStore, make_wish: MakeWish) -> None:
    jobs.queue(make_wish("s1", owner="library", provider="mine"))
    assert jobs.take(owner="editor") is None
    taken = jobs.take(owner="library")
    assert taken is not None
    assert taken.provider == "mine"


def test_old_closed_jobs_go(paths: StatePaths, make_wish: MakeWish) -> None:
    jobs = JobStore(paths, keep_closed=3)
    for number in range(5):
        jobs.queue(make_wish(f"s{number}"))
        job = jobs.take()
        assert job is not None
        jobs.finish(job, "done", "")

    assert [job.session for job in jobs.all()] == ["s2", "s3", "s4"]


def test_a_file_that_is_no_job_holds_nothing_up(
    paths: StatePaths, jobs: JobStore, make_wish: MakeWish
) -> None:
    good = jobs.queue(make_wish())
    (paths.jobs_dir / "0000-torn.json").write_text('{"id": "0000-to')
    (paths.jobs_dir / "0001-list.json").write_text("[1]")
    foreign = json.loads((paths.jobs_dir / f"{good.id}.json").read_text()) | {"new_field": 1}
    (paths.jobs_dir / f"{good.id}.json").write_text(json.dumps(foreign))

    assert [job.id for job in jobs.all()] == [good.id]


def test_a_crash_between_the_two_steps_of_closing_leaves_a_closed_job(
    paths: StatePaths, jobs: JobStore, make_wish: MakeWish
) -> None:
    jobs.queue(make_wish())
    job = jobs.take()
    assert job is not None
    before = (paths.jobs_dir / f"{job.id}.json").read_bytes()
    jobs.finish(job, "done", "fine")
    (paths.jobs_dir / f"{job.id}.json").write_bytes(before)  # as if unlink had not happened

    assert jobs.open() == []
    assert [item.status for item in jobs.all()] == ["done"]


@pytest.mark.parametrize("back", ["wait", "postpone"])
def test_a_closed_job_does_not_come_back(paths: StatePaths, make_wish: MakeWish, back: str) -> None:
    """Whoever stops a worker puts its job back, and may come a moment after the job was done."""

    def put_back(job: Job) -> Job:
        if back == "wait":
            return jobs.wait(job, "the program ended")
        return jobs.postpone(job, "the program ended", seconds=0)

    jobs = JobStore(paths, keep_closed=2)
    jobs.queue(make_wish("s1", owner="library"))
    job = jobs.take()
    assert job is not None
    done = jobs.finish(job, "done", "fine")

    assert put_back(job) == done
    assert not paths.have_open_reviews()

    for number in range(3):
        jobs.queue(make_wish(f"later{number}", owner="library"))
        later = jobs.take()
        assert later is not None
        jobs.finish(later, "done", "fine")
    put_back(job)
    assert jobs.take() is None
    assert not paths.have_open_reviews()


def test_a_job_that_was_closed_by_half_never_runs_again(
    paths: StatePaths, make_wish: MakeWish
) -> None:
    jobs = JobStore(paths, keep_closed=1)
    jobs.queue(make_wish("s1"))
    job = jobs.take()
    assert job is not None
    open_file = paths.jobs_dir / f"{job.id}.json"
    before = open_file.read_bytes()
    jobs.finish(job, "done", "fine")
    open_file.write_bytes(before)  # as if unlink had not happened
    got = jobs.get(job.id)
    assert got is not None
    assert got.status == "done"

    jobs.queue(make_wish("s2"))
    later = jobs.take()
    assert later is not None
    jobs.finish(later, "done", "fine")

    assert jobs.take() is None
    assert [one.session for one in jobs.all()] == ["s2"]


@pytest.mark.process
def test_a_close_that_is_killed_at_any_step_leaves_the_job_open_or_closed(
    paths: StatePaths, make_wish: MakeWish
) -> None:
    jobs = JobStore(paths, keep_closed=1)
    step, at_work = 0, True
    while at_work:
        step += 1
        jobs.queue(make_wish(f"s{step}", owner="library"))
        job = jobs.take()
        assert job is not None
        at_work = killed_at(partial(jobs.finish, job, "done", "fine"), step)

        jobs.requeue_interrupted()
        if paths.have_open_reviews():
            again = jobs.take()
            assert again is not None
            assert again.id == job.id
            jobs.finish(again, "done", "fine")
        assert jobs.take() is None
        assert not paths.have_open_reviews()
        newest = jobs.all()[-1]
        assert (newest.session, newest.status) == (f"s{step}", "done")
    assert step > 5


def test_a_session_id_needs_not_be_text(jobs: JobStore, make_wish: MakeWish) -> None:
    odd = b"s\xff/../x".decode("utf-8", "surrogateescape")
    jobs.queue(make_wish(odd))
    taken = jobs.take()
    assert taken is not None
    assert taken.session == odd


def test_a_wish_without_a_session_is_refused(jobs: JobStore, make_wish: MakeWish) -> None:
    with pytest.raises(JobError):
        jobs.queue(make_wish(""))


def _queue_many(root: Path, start: int) -> None:
    jobs = JobStore(StatePaths(root))
    for number in range(20):
        jobs.queue(
            Wish(f"s{(start + number) % 20}", "/p", "p-1", "claude-code", "nudge"),
        )


@pytest.mark.process
def test_many_processes_queue_one_job_for_each_session(paths: StatePaths) -> None:
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=_queue_many, args=(paths.root, n * 5)) for n in range(4)]
    for process in processes:
        process.start()
    for process in processes:
        process.join(60)
        assert process.exitcode == 0

    assert sorted(job.session for job in JobStore(paths).open()) == sorted(
        f"s{number}" for number in range(20)
    )


def test_jobs_of_a_host_program_do_not_call_the_editors_review(
    jobs: JobStore, make_wish: MakeWish
) -> None:
    jobs.queue(make_wish("s1", owner="library"))
    assert not jobs.pending_marker.exists()
    jobs.queue(make_wish("s1"))
    assert jobs.pending_marker.exists()
    assert len(jobs.open()) == 2  # each owner has its own job for a session of that name


def test_only_the_own_interrupted_jobs_are_put_back(jobs: JobStore, make_wish: MakeWish) -> None:
    jobs.queue(make_wish("s1", owner="library"))
    jobs.queue(make_wish("s2"))
    assert jobs.take() is not None
    assert jobs.take() is not None
    assert [job.session for job in jobs.requeue_interrupted("editor")] == ["s2"]


def test_a_long_row_costs_each_job_the_same(
    jobs: JobStore, make_wish: MakeWish, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"s{number:02}" for number in range(20)]
    queued = jobs.queue_all([make_wish(name) for name in names])
    assert [job.session for job in jobs.open()] == names == [job.session for job in queued]
    reads: list[Path] = []
    read = JobStore._read
    monkeypatch.setattr(
        JobStore, "_read", staticmethod(lambda path: reads.append(path) or read(path))
    )
    for name in names:
        job = jobs.take()
        assert job is not None
        assert job.session == name
        jobs.finish(job, "done", "fine")
    assert len(reads) <= 6 * len(names)
    assert not jobs.pending_marker.exists()
