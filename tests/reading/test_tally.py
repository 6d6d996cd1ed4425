"""What is unreviewed, per project, and which sessions were left behind."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from skill_learner.hook_runtime import clients
from skill_learner.marks import write_mark
from skill_learner.processes import process_runs
from skill_learner.tally import (
    rebuild,
    unfinished_sessions,
    unreviewed,
)

KEY = "shop-0001"


@pytest.fixture
def tally(state):
    state.tally_dir.mkdir(parents=True)
    return state.tally_dir / KEY


def test_the_hook_counts_the_same(state, tally):
    from skill_learner.hook_runtime.follow_up import unreviewed as hook_counts

    tally.write_bytes(b"......")
    (state.tally_dir / f"{KEY}.base").write_bytes(b"4")
    assert hook_counts(os.fsencode(state.root), KEY) == unreviewed(state, KEY) == 2


@pytest.mark.parametrize("base", [b"", b"x", b"-"])
def test_a_damaged_base_counts_all(state, tally, base):
    tally.write_bytes(b"...")
    (state.tally_dir / f"{KEY}.base").write_bytes(base)
    assert unreviewed(state, KEY) == 3


@pytest.mark.parametrize("there", [0, 2, 50])
def test_rebuilding_from_journals_and_marks(state, journal, there):
    journal.prompt("seen").bash("t1", "ls")
    write_mark(state, journal.session, journal.end)
    journal.prompt("new").bash("t2", "ls").bash_fails("t3", "x", "Exit code 1").stop("done")
    journal.event("PostToolUse", tool_name="Bash", agent_id="a1")
    journal.key = "other-0002"
    journal.prompt("of another project")
    journal.key = "moved-0003"
    journal.prompt("before the move")
    if there:
        state.tally_dir.mkdir()
        (state.tally_dir / KEY).write_bytes(b"." * there)
    assert rebuild(state, KEY) == unreviewed(state, KEY) == 3
    assert rebuild(state, KEY, aliases=["moved-0003"]) == unreviewed(state, KEY) == 4


def test_a_session_whose_client_is_gone_is_unfinished(state, journal):
    journal.prompt("go").bash("t1", "ls")
    (found,) = unfinished_sessions(state, alive=lambda pid: False, now=journal.at + 5)
    assert (found.session_id, found.journal) == (journal.session, journal.path)
    assert (found.project, found.project_key, found.client_pid) == ("/work/shop", KEY, 4242)
    assert found.idle == 5


@pytest.mark.parametrize(("hours", "count"), [(1, 0), (7, 0), (25, 1)])
def test_a_living_client_that_was_idle_for_long(state, journal, hours, count):
    journal.prompt("go")
    now = journal.at + hours * 3600
    assert len(unfinished_sessions(state, alive=lambda pid: True, now=now)) == count


@pytest.mark.parametrize(
    ("pid", "idle", "runs", "gone"),
    [
        (0, 3_500, False, False), (0, 3_700, False, True), (42, 10, True, False),
        (42, 10, False, True), (42, 20_000, True, False), (42, 90_000, True, True),
        (10**25, 10, False, False), (10**25, 3_700, True, True),
    ],
)  # fmt: skip
def test_hook_and_commands_agree_on_who_is_gone(state, journal, pid, idle, runs, gone):
    """The pid as it stands in a journal may be any number."""
    journal.pid = pid
    journal.prompt("go")
    found = unfinished_sessions(state, alive=lambda _: runs, now=journal.at + idle)
    assert (len(found) == 1) is clients.is_gone(pid, idle, lambda _: runs) is gone


def test_finished_reviewed_and_empty_sessions_are_not_unfinished(state, journal):
    def lost():
        return unfinished_sessions(state, alive=lambda pid: False, now=journal.at)

    journal.event("SessionStart", source="startup")
    assert lost() == []
    journal.prompt("go").event("SessionEnd", reason="other")
    assert lost() == []
    journal.event("SessionStart", source="resume").prompt("more")
    assert len(lost()) == 1
    journal.event("SessionEnd", reason="resume")
    assert len(lost()) == 1
    write_mark(state, journal.session, journal.end)
    assert lost() == []


def test_which_processes_run():
    assert process_runs(os.getpid())
    assert not process_runs(0)
    assert not process_runs(2**22 + 12345)
    assert not process_runs(10**25)
    ended = os.fork() or os._exit(0)
    os.waitid(os.P_PID, ended, os.WEXITED | os.WNOWAIT)  # ended, and its parent never asked
    assert process_runs(ended) is not Path("/proc/self/stat").exists()
    os.waitpid(ended, 0)
