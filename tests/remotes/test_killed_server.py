"""A PostgreSQL server that is killed in mid-sync, as by the system when memory runs out."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from remote_homes import Home, home_maker, words

from skill_learner.errors import RemoteError
from skill_learner.exchange.safe_files import SkillFileData
from skill_learner.remotes.postgres import PostgresRemote
from skill_learner.remotes.postgres_connection import PostgresConnection
from skill_learner.remotes.protocol import OutgoingSkill
from skill_learner.remotes.sync import SyncReport

pytestmark = pytest.mark.process


def kill(server: Any, *, backends_too: bool) -> None:
    """SIGKILL for the postmaster that this test started. Its backends see that it is gone, and end
    once they have done what they are at."""
    psutil = pytest.importorskip("psutil")
    postmaster = psutil.Process(server.get_pid())
    children = postmaster.children(recursive=True)
    os.kill(postmaster.pid, signal.SIGKILL)
    for child in children if backends_too else ():
        with contextlib.suppress(psutil.NoSuchProcess):
            child.kill()
    _, alive = psutil.wait_procs([postmaster, *children], timeout=30)
    assert alive == []


def database(server: Any) -> str:
    return str(server.get_uri()).replace("postgres:@", "postgres@")


def while_it_pushes(home: Home, url: str, act: Callable[[], None]) -> SyncReport:
    """A sync that has begun to write its push, one row of which somebody else holds, when something
    happens."""
    import psycopg

    reports: list[SyncReport] = []
    thread = threading.Thread(target=lambda: reports.append(home.synchroniser().sync()))
    with (
        contextlib.suppress(psycopg.OperationalError),  # these two are killed as well
        psycopg.connect(url) as blocker,
        psycopg.connect(url, autocommit=True) as observer,
    ):
        blocker.execute("SELECT * FROM skill_learner.skills WHERE name = 'deploy' FOR UPDATE")
        thread.start()
        try:
            for _ in range(1000):
                waiting = observer.execute(
                    "SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock'"
                    " AND application_name = 'skill-learner'"
                ).fetchone()
                if waiting and waiting[0]:
                    break
                time.sleep(0.01)
        finally:
            act()
    thread.join()
    return reports[0]


@pytest.mark.parametrize("backends_too", [False, True])
def test_a_server_that_is_killed_in_mid_push_has_old_or_new(
    mortal_server: Any, tmp_path: Path, backends_too: bool
) -> None:
    url = database(mortal_server)
    make = home_maker(url, tmp_path)
    one, two = make("one"), make("two")
    for name in ("a-first", "deploy", "z-last"):
        one.add(name)
    one.sync()
    for name in ("a-first", "deploy", "z-last"):
        one.patch(name, "First step.", "First edit.")
    report = while_it_pushes(one, url, lambda: kill(mortal_server, backends_too=backends_too))
    assert "PostgreSQL" in report.error
    assert words(report, "out") == {}
    mortal_server.start()
    assert words(two.sync()) == dict.fromkeys(("a-first", "deploy", "z-last"), "new")
    assert "First step." in two.library.get("a-first").body  # all of a push, or nothing
    one.patch("deploy", "First edit.", "Second edit.")
    assert set(words(one.sync(), "out").values()) == {"sent"}
    two.sync()
    assert {s.name: s.body for s in one.library.list()} == {
        s.name: s.body for s in two.library.list()
    }
    assert one.sync().outcomes == two.sync().outcomes == []


def test_what_was_accepted_survives_the_servers_kill(mortal_server: Any, tmp_path: Path) -> None:
    make = home_maker(database(mortal_server), tmp_path)
    one, two = make("one"), make("two")
    keeps = one.synchroniser()
    for number in range(2):
        one.add(f"s-{number}")
        one.use(f"s-{number}", "s-1")
        assert words(keeps.sync(), "out") == {f"s-{number}": "sent"}
        kill(mortal_server, backends_too=True)
        assert "PostgreSQL" in keeps.sync().error
        mortal_server.start()
        assert words(two.sync()) == {f"s-{number}": "new"}
    keeps.close()
    uses = {k[1]: v for k, v in two.state.counters().items() if k[2] == "uses"}
    assert uses == {f"s-{number}": 1 for number in range(2)}


def test_a_transaction_number_that_comes_again_after_a_crash_hides_nothing(
    mortal_server: Any,
) -> None:
    """Transactions that were rolled back just before leave no trace on disk: the server gives their
    numbers anew, below what a reader had seen the server at."""
    import psycopg

    url = database(mortal_server)
    reader = PostgresRemote(PostgresConnection(url, "default"), "m-1")
    writer = PostgresRemote(PostgresConnection(url, "default"), "m-2")
    writer.push([OutgoingSkill("first", {"SKILL.md": SkillFileData(b"x")}, "")], {})
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER SYSTEM SET wal_writer_delay = '10s'")
        connection.execute("SELECT pg_reload_conf()")
        time.sleep(0.3)
        for _ in range(50):
            with connection.transaction(force_rollback=True):
                connection.execute("SELECT pg_current_xact_id()")
    cursor = reader.pull("").cursor
    assert not reader.pull(cursor).skills
    kill(mortal_server, backends_too=True)
    mortal_server.start()
    for remote in (reader, writer):
        with contextlib.suppress(RemoteError):
            remote.pull("")
    writer.push([OutgoingSkill("second", {"SKILL.md": SkillFileData(b"y")}, "")], {})
    assert [skill.name for skill in reader.pull(cursor).skills] == ["second"]
    reader.close()
    writer.close()
