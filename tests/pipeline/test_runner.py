from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from skill_learner import tally
from skill_learner.errors import LibraryError, ProviderUnavailableError
from skill_learner.files import locked
from skill_learner.interfaces import ReviewRequest
from skill_learner.jobs import Job
from skill_learner.marks import read_mark
from skill_learner.models import Review
from skill_learner.paths import StatePaths
from skill_learner.pipeline import PipelineServices, run_detached, run_jobs
from skill_learner.pipeline.review_lock import review_lock
from skill_learner.reviewers.llm import LLMReviewer
from skill_learner.testing import ScriptedLLM

Journal = Any
MakeServices = Callable[..., PipelineServices]
NOTHING = {"outcome": "done", "skills": [], "nothing_because": "known already"}


def llm_reviewer(*script: Any) -> LLMReviewer:
    return LLMReviewer(ScriptedLLM(*script), "scripted", "m")


def statuses(ended: list[Job]) -> list[tuple[str, str]]:
    return [(job.session, job.status) for job in ended]


def test_a_session_becomes_a_candidate_skill(
    make_services: MakeServices, journal: Journal, published: Any, paths: StatePaths
) -> None:
    path = journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    services = make_services()

    (job,) = run_jobs(services)

    assert (job.status, job.attempts) == ("done", 1)
    (skill,) = services.library.list()
    assert (skill.state, skill.scope, skill.sessions) == ("candidate", journal.key, ("s1",))
    assert job.detail == f"created {skill.name} (candidate)"
    assert job.result["reviewer"] == "offline"
    assert [item["kind"] for item in job.result["episodes"]] == ["fixed_failure"]
    (decision,) = job.result["decisions"]
    assert decision["verdict"] == "candidate"
    assert decision["reasons"]
    assert read_mark(paths, "s1") == path.stat().st_size
    assert published.calls == [(str(journal.project), journal.key)]
    news = (paths.news_dir / journal.key).read_text()
    assert news == "1 candidate waits: skill-learner list --candidates"
    assert services.ledger.calls() == []  # no model was asked


def test_a_second_session_makes_it_active(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    services = make_services()
    for session in ("s1", "s2"):
        journal.fixed_failure(session)
        journal.request("session_end", session)
        run_jobs(services)

    (skill,) = services.library.list()
    assert (skill.state, skill.sessions) == ("active", ("s1", "s2"))
    news = (paths.news_dir / journal.key).read_text()
    assert news.startswith("skill-learner learned 1 skill from this project's last session: ")
    assert f"See: skill-learner show {skill.name}" in news


def test_without_an_episode_no_reviewer_is_asked(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    path = journal.routine("s1")
    journal.request("session_end", "s1")

    (job,) = run_jobs(make_services(llm_reviewer()))

    assert (job.status, job.detail) == ("done", "nothing non-obvious")
    assert read_mark(paths, "s1") == path.stat().st_size


def test_review_when_always_asks(make_services: MakeServices, journal: Journal) -> None:
    journal.routine("s1")
    journal.request("session_end", "s1")
    services = make_services(llm_reviewer(NOTHING), review_when="always")

    (job,) = run_jobs(services)

    assert job.detail == "nothing to save: known already"
    assert services.ledger.today().reviews == 1


def test_a_completed_review_clears_the_tally(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    journal.fixed_failure("s1")
    tally.rebuild(paths, journal.key)
    assert tally.unreviewed(paths, journal.key) == 4
    journal.request("nudge", "s1")
    run_jobs(make_services())
    assert tally.unreviewed(paths, journal.key) == 0


def test_a_failed_review_clears_nothing(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    journal.fixed_failure("s1")
    tally.rebuild(paths, journal.key)
    journal.request("nudge", "s1")
    services = make_services(llm_reviewer(ProviderUnavailableError("not logged in")))

    (job,) = run_jobs(services)

    assert (job.status, job.detail) == ("failed", "not logged in")
    assert read_mark(paths, "s1") == 0
    assert tally.unreviewed(paths, journal.key) == 4
    assert "not logged in" in paths.review_log.read_text()
    assert services.ledger.today().reviews == 0


def test_at_the_ceiling_jobs_wait_and_say_so(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    for session in ("s1", "s2"):
        journal.fixed_failure(session)
        journal.request("session_end", session)
    services = make_services(llm_reviewer(NOTHING, NOTHING), daily_reviews=1)

    ended = run_jobs(services)

    assert statuses(ended) == [("s1", "done"), ("s2", "queued")]
    assert ended[1].detail == "waits: 1 of 1 reviews of today are used"
    assert read_mark(paths, "s2") == 0
    assert services.jobs.pending_marker.exists()

    raised = make_services(llm_reviewer(NOTHING), daily_reviews=2)
    assert statuses(run_jobs(raised)) == [("s2", "done")]


def test_the_offline_reviewer_knows_no_ceiling(
    make_services: MakeServices, journal: Journal
) -> None:
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    assert statuses(run_jobs(make_services(daily_reviews=0))) == [("s1", "done")]


def test_a_session_is_reviewed_from_where_the_last_review_ended(
    make_services: MakeServices, journal: Journal
) -> None:
    services = make_services()
    journal.fixed_failure("s1")
    journal.request("nudge", "s1")
    run_jobs(services)
    journal.request("session_end", "s1")
    (nothing_new,) = run_jobs(services)
    assert nothing_new.detail == "nothing new since the last review"

    journal.routine("s1")
    journal.request("session_end", "s1")
    (job,) = run_jobs(services)

    assert job.detail == "nothing non-obvious"
    assert len(services.library.list()) == 1


def test_by_hand_a_session_is_reviewed_as_a_whole(
    make_services: MakeServices, journal: Journal
) -> None:
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    run_jobs(make_services())

    asking = make_services(llm_reviewer(NOTHING))
    (job,) = run_jobs(asking, only_session="s1")

    assert (job.reason, job.detail) == ("manual", "nothing to save: known already")
    assert run_jobs(asking, only_session="never-seen") == []


def test_a_fault_in_one_job_does_not_stop_the_next(
    make_services: MakeServices, journal: Journal
) -> None:
    journal.request("session_end", "no-journal")
    journal.fixed_failure("s2")
    journal.request("session_end", "s2")

    ended = run_jobs(make_services())

    assert statuses(ended) == [("no-journal", "failed"), ("s2", "done")]
    assert "no event and no transcript" in ended[0].detail


def test_what_the_library_refuses_is_told_and_the_rest_is_kept(
    make_services: MakeServices, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    services = make_services()

    def refuse(*_: object, **__: object) -> None:
        raise LibraryError("the disk is full")

    monkeypatch.setattr(services.library, "create", refuse)
    (job,) = run_jobs(services)

    assert job.status == "done"
    assert "1 refused by the library" in job.detail
    assert "the disk is full" in job.result["failures"][0]


def test_sessions_of_reviews_are_passed_over(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    from skill_learner.reviewers.llm import load_prompt

    journal.prompt("own", load_prompt() + "\n<session-digest-0123456789ab>")
    journal.bash("own", "pytest", "boom", failed=True)
    journal.bash("own", "pytest", "1 passed")
    journal.prompt("other", "You are a Claude-Mem, a specialized observer tool.")
    journal.bash("other", "pytest", "boom", failed=True)
    journal.bash("other", "pytest", "1 passed")
    for session in ("own", "other"):
        journal.event(session, "SessionEnd")
        journal.request("session_end", session)

    ended = run_jobs(make_services(llm_reviewer()))

    assert [job.detail for job in ended] == [
        "passed over: a review of skill-learner itself",
        "passed over: a headless session of another learning tool",
    ]
    assert read_mark(paths, "own") > 0


def test_a_person_who_speaks_of_such_tools_is_heard(
    make_services: MakeServices, journal: Journal
) -> None:
    journal.prompt("s1", "Why does it say `You are a Claude-Mem, a specialized observer`?")
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    (job,) = run_jobs(make_services())
    assert "passed over" not in job.detail


class WishesMeanwhile:
    """A reviewer during whose work other hooks leave wishes."""

    name = "meanwhile"

    def __init__(self, leave_wish: Callable[[], None]) -> None:
        self.leave_wish = leave_wish
        self.reviewed: list[str] = []

    def review(self, request: ReviewRequest) -> Review:
        self.reviewed.append(request.session.id)
        if len(self.reviewed) == 1:
            self.leave_wish()
        return Review("done", (), "nothing")


def test_a_wish_that_comes_during_a_review_is_not_lost(
    make_services: MakeServices, journal: Journal
) -> None:
    def another() -> None:
        journal.fixed_failure("s2")
        journal.request("session_end", "s2")

    reviewer = WishesMeanwhile(another)
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    run_jobs(make_services(reviewer))
    assert reviewer.reviewed == ["s1", "s2"]


def test_the_same_session_is_reviewed_again_when_it_went_on_meanwhile(
    make_services: MakeServices, journal: Journal
) -> None:
    def goes_on() -> None:
        journal.fixed_failure("s1")
        journal.request("session_end", "s1")

    reviewer = WishesMeanwhile(goes_on)
    journal.fixed_failure("s1")
    journal.request("nudge", "s1")
    ended = run_jobs(make_services(reviewer))
    assert reviewer.reviewed == ["s1", "s1"]
    assert [job.reason for job in ended] == ["nudge", "session_end"]


def test_who_does_not_get_the_lock_leaves_its_wish(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    services = make_services()

    with review_lock(paths.review_lock, wait=False):
        assert run_jobs(services) == []
        assert services.jobs.all() == []

    waiting = threading.Thread(target=run_jobs, args=(services,), kwargs={"wait": True})
    with locked(paths.review_lock):
        waiting.start()
        assert services.jobs.all() == []
    waiting.join(30)
    assert [job.status for job in services.jobs.all()] == ["done"]


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="forks")
def test_a_program_that_a_killed_review_was_starting_does_not_stop_the_next_one(
    make_services: MakeServices, journal: Journal, paths: StatePaths, tmp_path: Path
) -> None:
    """It holds the lock until its exec, which may be late on a busy machine."""
    starting = tmp_path / "starting"
    code = (
        "import pathlib, subprocess, sys, time\n"
        "from skill_learner.pipeline.review_lock import review_lock\n"
        "def late():\n"
        f"    pathlib.Path({str(starting)!r}).touch()\n"
        "    time.sleep(1.5)\n"
        f"with review_lock(pathlib.Path({str(paths.review_lock)!r}), wait=False):\n"
        "    subprocess.run(['true'], preexec_fn=late)\n"
    )
    review = subprocess.Popen([sys.executable, "-c", code])
    while not starting.exists():
        assert review.poll() is None
        time.sleep(0.02)
    review.kill()
    review.wait()
    with pytest.raises(TimeoutError), locked(paths.review_lock, timeout=0):
        pass
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    assert statuses(run_jobs(make_services(), detached=True)) == [("s1", "done")]


def test_a_wish_left_while_the_lock_is_let_go_is_seen(
    make_services: MakeServices, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other process found the lock taken after our last look at its wish."""
    from skill_learner.pipeline import runner

    tidy = runner.tidy
    late = iter(["s2"])

    def leave_wish(services: PipelineServices) -> None:
        tidy(services)
        for session in late:
            journal.fixed_failure(session)
            journal.request("session_end", session)

    monkeypatch.setattr(runner, "tidy", leave_wish)
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    ended = run_jobs(make_services())
    assert statuses(ended) == [("s1", "done"), ("s2", "done")]


def test_ctrl_c_leaves_the_job_for_later(make_services: MakeServices, journal: Journal) -> None:
    def interrupt() -> None:
        raise KeyboardInterrupt

    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    services = make_services(WishesMeanwhile(interrupt))
    with pytest.raises(KeyboardInterrupt):
        run_jobs(services)
    (job,) = services.jobs.open()
    assert (job.status, job.attempts) == ("queued", 0)


def test_a_session_that_kills_every_review_is_given_up(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    path = journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    services = make_services()
    from skill_learner.pipeline import collect_requests

    collect_requests(services)
    for _ in range(3):
        assert services.jobs.take() is not None
        services.jobs.requeue_interrupted() if _ < 2 else None

    ended = run_jobs(services)

    assert statuses(ended) == [("s1", "abandoned")]
    assert read_mark(paths, "s1") == path.stat().st_size
    assert "given up" in paths.review_log.read_text()


def test_faults_of_a_detached_review_go_to_the_log(
    make_services: MakeServices, paths: StatePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skill_learner.pipeline import runner

    def explode(*_: object, **__: object) -> list[Job]:
        raise RuntimeError("no such luck")

    monkeypatch.setattr(runner, "run_jobs", explode)
    run_detached(make_services())
    assert "RuntimeError: no such luck" in paths.review_log.read_text()


def test_secrets_do_not_reach_the_model(make_services: MakeServices, journal: Journal) -> None:
    token = "ghp_" + "a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8"[:36]
    journal.prompt("s1", "make the deploy work")
    failing = f"curl -H 'Authorization: Bearer {token}' https://api.example.com/deploy"
    journal.bash("s1", failing, f"error: token {token} lacks scope", failed=True)
    journal.edit("s1", "deploy.toml", "a", "b")
    journal.bash("s1", failing, "deployed")
    journal.event("s1", "Stop")
    journal.request("session_end", "s1")
    reviewer = llm_reviewer(NOTHING)

    (job,) = run_jobs(make_services(reviewer, review_when="always"))

    (request,) = reviewer._provider.requests  # type: ignore[attr-defined]
    assert "lacks scope" in str(request.messages)
    assert token not in str(request.messages)
    assert token not in str(job.result)


def test_a_projects_own_settings_are_heeded(make_services: MakeServices, journal: Journal) -> None:
    journal.routine("s1")
    journal.request("session_end", "s1")
    asked: list[str] = []
    services = make_services(llm_reviewer(NOTHING))

    def settings_for(project: str) -> Any:
        asked.append(project)
        return replace(services.config, review_when="always")  # type: ignore[type-var]

    (job,) = run_jobs(replace(services, settings_for=settings_for))

    assert asked == [str(journal.project)]
    assert job.detail == "nothing to save: known already"


def test_what_each_call_cost_stays_with_the_job(
    make_services: MakeServices, journal: Journal
) -> None:
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    (job,) = run_jobs(make_services(llm_reviewer("no answer", NOTHING)))
    assert [call["provider"] for call in job.result["calls"]] == ["scripted", "scripted"]
    assert job.result["calls"][1]["tokens_in"] > job.result["calls"][0]["tokens_in"] > 0


def test_a_row_of_reviews_takes_each_from_the_count_and_counts_anew_at_the_end(
    make_services: MakeServices,
    journal: Journal,
    paths: StatePaths,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    names = ["s1", "s2", "s3"]
    for name in names:
        journal.fixed_failure(name)
        journal.request("session_end", name)
    journal.routine("unasked")
    left = tally.rebuild(paths, journal.key)
    rebuilt: list[int] = []
    left_after: list[int] = []
    rebuild = tally.rebuild

    def counted(*given: Any) -> int:
        rebuilt.append(tally.unreviewed(paths, journal.key))
        return rebuild(*given)

    monkeypatch.setattr(tally, "rebuild", counted)
    run_jobs(
        make_services(),
        progress=lambda text: (
            left_after.append(tally.unreviewed(paths, journal.key)) if "done" in text else None
        ),
    )
    assert left_after == [left - 4, left - 8, left - 12]
    assert rebuilt == [left - 12]
    assert tally.unreviewed(paths, journal.key) == left - 12


def test_offers_that_nobody_takes_are_counted_and_published(
    make_services: MakeServices, journal: Journal, published: Any, paths: StatePaths
) -> None:
    services = make_services()
    paths.offered_dir.mkdir()
    (paths.offered_dir / "s1").write_text("100\tprompt\ta-skill\n")
    journal.routine("s1")
    journal.request("session_end", "s1")
    run_jobs(services)
    assert services.usage.offers()["a-skill"].offered == 1
    assert published.calls == [(str(journal.project), journal.key)]

    journal.routine("s1")
    journal.request("session_end", "s1")
    run_jobs(services)
    assert len(published.calls) == 1  # nothing new was heard


def test_what_was_offered_in_sessions_long_ago_is_forgotten(
    make_services: MakeServices, journal: Journal, paths: StatePaths
) -> None:
    services = make_services()
    paths.offered_dir.mkdir()
    for name, age in (("old", 30), ("new", 1)):
        (paths.offered_dir / name).write_text("100\tprompt\ta-skill\n")
        at = time.time() - age * 86_400
        os.utime(paths.offered_dir / name, (at, at))
    run_jobs(services)
    assert [path.name for path in paths.offered_dir.iterdir()] == ["new"]
    assert services.usage.offers()["a-skill"].offered == 2


def test_what_serves_all_projects_is_published_in_all(
    make_services: MakeServices, journal: Journal, published: Any
) -> None:
    draft = {
        "action": "create",
        "name": "linker-missing",
        "description": "Use when `cargo build` fails with linker `cc` not found.",
        "body": "1. `apt-get install -y gcc`\n\n## Check\n`cargo build` passes.\n",
        "evidence": [{"claim": "fails, then passes", "steps": [2, 3, 4]}],
        "confidence": 0.9,
    }
    journal.prompt("s1", "make it build")
    journal.bash("s1", "cargo build", "error: linker `cc` not found", failed=True)
    journal.bash("s1", "apt-get install -y gcc", "done")
    journal.bash("s1", "cargo build", "Finished in 3.1 s")
    journal.event("s1", "Stop")
    journal.event("s1", "SessionEnd")
    journal.request("session_end", "s1")
    answer = {"outcome": "done", "skills": [draft]}
    services = make_services(reviewer=llm_reviewer(answer))
    (job,) = run_jobs(services)
    (skill,) = services.library.list()
    assert (skill.state, skill.scope) == ("active", "user"), job.result["decisions"]
    assert published.calls[-1] == ("", "user")
    assert "for all projects" in services.library.history(skill.name)[0].why

    moved = services.library.set_scope(skill.name, journal.key)
    journal.bash("s2", "cargo build", "error: linker `cc` not found", failed=True)
    journal.bash("s2", "apt-get install -y gcc", "done")
    journal.bash("s2", "cargo build", "Finished in 3.1 s")
    journal.request("session_end", "s2")
    run_jobs(make_services(reviewer=llm_reviewer(answer)))
    assert services.library.get(skill.name).scope == moved.scope == journal.key
