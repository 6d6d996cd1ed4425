from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from skill_learner.jobs import JobStore
from skill_learner.journal import journal_path
from skill_learner.marks import write_mark
from skill_learner.paths import StatePaths
from skill_learner.pipeline import requests
from skill_learner.pipeline.requests import RETRY_SECONDS, collect_requests, request_files

Journal = Any


def sessions(jobs: JobStore) -> dict[str, str]:
    return {job.session: job.reason for job in jobs.open()}


def test_an_end_of_session_concerns_that_session(
    paths: StatePaths, jobs: JobStore, journal: Journal
) -> None:
    journal.routine("s1")
    journal.routine("s2")
    journal.request("session_end", "s1")

    collect_requests(paths, jobs)

    assert sessions(jobs) == {"s1": "session_end"}
    (job,) = jobs.open()
    assert (job.project, job.project_key) == (str(journal.project), journal.key)
    assert job.journal == str(journal_path(paths, "s1"))
    assert request_files(paths) == []


def test_a_nudge_concerns_the_projects_sessions_whose_turn_has_ended(
    paths: StatePaths, jobs: JobStore, journal: Journal
) -> None:
    journal.routine("asking")
    journal.routine("ended")
    journal.prompt("in-the-middle", "go on")
    journal.bash("in-the-middle", "ls", "x")
    reviewed = journal.routine("reviewed")
    write_mark(paths, "reviewed", reviewed.stat().st_size)
    journal.event("empty", "SessionStart")
    journal.request("nudge", "asking")

    collect_requests(paths, jobs)

    assert sessions(jobs) == {"asking": "nudge", "ended": "nudge"}


def test_a_nudge_leaves_other_projects_alone(
    paths: StatePaths, jobs: JobStore, journal: Journal
) -> None:
    journal.routine("other")
    journal.request("nudge", "s1", key="another-project-1")
    collect_requests(paths, jobs)
    assert sessions(jobs) == {"s1": "nudge"}


def test_events_after_the_turns_end_do_not_reopen_it(
    paths: StatePaths, jobs: JobStore, journal: Journal
) -> None:
    journal.routine("s1")
    journal.event("s1", "SubagentStop", agent_id="a1")
    journal.event("s1", "PostToolUse", agent_id="a1", tool_name="Bash", tool_input={})
    journal.request("nudge", "asking")
    collect_requests(paths, jobs)
    assert "s1" in sessions(jobs)


def test_a_recovery_concerns_the_session_it_names(
    paths: StatePaths, jobs: JobStore, journal: Journal
) -> None:
    journal.prompt("killed", "go on")
    journal.request("recover", "killed")
    collect_requests(paths, jobs)
    assert sessions(jobs) == {"killed": "recover"}


def test_several_wishes_make_one_job(paths: StatePaths, jobs: JobStore, journal: Journal) -> None:
    journal.routine("s1")
    for reason in ("nudge", "nudge", "session_end", "recover"):
        journal.request(reason, "s1")
    collect_requests(paths, jobs)
    assert sessions(jobs) == {"s1": "session_end"}


@pytest.mark.parametrize("content", [b"", b"\xff\xfe", b"reason=dance\nsession=s1\n", b"reason="])
def test_a_request_that_says_nothing_is_removed(
    paths: StatePaths, jobs: JobStore, journal: Journal, content: bytes
) -> None:
    journal.request("nudge", "s1").write_bytes(content)
    collect_requests(paths, jobs)
    assert sessions(jobs) == {}
    assert request_files(paths) == []


def test_after_a_failure_a_nudge_waits_and_an_end_does_not(
    paths: StatePaths, jobs: JobStore, journal: Journal
) -> None:
    journal.routine("s1")
    journal.request("session_end", "s1")
    collect_requests(paths, jobs)
    job = jobs.take()
    assert job is not None
    failed = jobs.finish(job, "failed", "no login")

    journal.request("nudge", "s1")
    collect_requests(paths, jobs)

    (waiting,) = jobs.open()
    assert waiting.not_before == pytest.approx(failed.updated + RETRY_SECONDS)
    assert jobs.take() is None
    journal.request("session_end", "s1")
    collect_requests(paths, jobs)
    assert jobs.take() is not None


def test_a_session_name_that_is_no_file_name_stays_in_its_folder(
    paths: StatePaths, jobs: JobStore, journal: Journal
) -> None:
    journal.request("session_end", "../../etc/passwd")
    collect_requests(paths, jobs)
    (job,) = jobs.open()
    assert job.session == "../../etc/passwd"
    assert journal_path(paths, job.session).parent == paths.journal_dir
    assert job.journal == str(journal_path(paths, job.session))


def test_however_many_ask_each_journal_is_read_once(
    paths: StatePaths, jobs: JobStore, journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"s{number}" for number in range(8)]
    for name in names:
        journal.routine(name)
        journal.request("nudge", name)
    read: list[str] = []
    whole = requests.read_journal

    def counted(path: Path, start: int = 0) -> Any:
        read.append(path.stem)
        return whole(path, start)

    monkeypatch.setattr(requests, "read_journal", counted)
    collect_requests(paths, jobs)
    assert sorted(read) == names
    assert sessions(jobs) == dict.fromkeys(names, "nudge")
    assert request_files(paths) == []
