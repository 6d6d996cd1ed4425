"""What a PostgreSQL library survives: many writers, other people's libraries, a lost server."""

from __future__ import annotations

import multiprocessing
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from postgres_databases import execute, remote, skill
from remote_homes import MakeHome, killed_while_syncing, outcome, words

from skill_learner import SkillEngine
from skill_learner.errors import RemoteError

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "postgres"


# -- writes ---------------------------------------------------------------------------------------


def test_a_write_names_the_version_it_replaces(postgres_url: str) -> None:
    one, two = remote(postgres_url), remote(postgres_url, "m-2")
    first = one.push([skill("a")], {}).accepted["a"]
    assert two.push([skill("a", "other")], {}).refused == ["a"]
    second = two.push([skill("a", "other", first)], {}).accepted["a"]
    assert one.push([skill("a", "third", first)], {}).refused == ["a"]
    assert one.push([skill("a", "other", first)], {}).accepted == {"a": second}
    rows = execute(postgres_url, "SELECT version FROM skill_learner.versions ORDER BY 1")
    assert rows == [(1,), (2,)]
    one.close()
    two.close()


def test_nothing_committed_late_is_missed(postgres_url: str) -> None:
    """A transaction that was open while others committed and were pulled is seen when it ends."""
    import psycopg

    reader, writer = remote(postgres_url), remote(postgres_url, "m-2")
    cursor = reader.pull("").cursor
    with psycopg.connect(postgres_url) as slow:
        slow.execute(
            "INSERT INTO skill_learner.skills (library, name, token, parent, files, machine)"
            " VALUES ('default', 'slow', 't', '', '{}', 'm-3')"
        )
        writer.push([skill("fast")], {})
        pulled = reader.pull(cursor)
        assert [s.name for s in pulled.skills] == ["fast"]
        slow.commit()
    names = {s.name for s in reader.pull(pulled.cursor).skills}
    assert "slow" in names
    quiet = reader.pull(reader.pull(pulled.cursor).cursor)
    assert not quiet.skills
    reader.close()
    writer.close()


def test_any_number_may_migrate_at_once(postgres_url: str) -> None:
    def connect(number: int) -> int:
        one = remote(postgres_url, f"m-{number}")
        one.push([skill(f"s-{number}")], {})
        one.close()
        return number

    with ThreadPoolExecutor(12) as pool:
        assert sorted(pool.map(connect, range(12))) == list(range(12))
    rows = execute(postgres_url, "SELECT name FROM skill_learner.migrations ORDER BY name")
    assert [row[0] for row in rows] == [
        "001-libraries",
        "002-skills",
        "003-reviews",
        "004-separation",
        "005-vectors",
        "006-reservations",
        "007-members-and-deleted",
    ]


def _write(url: str, number: int) -> int:
    one = remote(url, f"m-{number}")
    accepted = 0
    for save in range(10):
        accepted += len(one.push([skill(f"s-{number}-{save}")], {}).accepted)
        token = one.pull("").skills
        shared = next((s.token for s in token if s.name == "shared"), "")
        one.push([skill("shared", f"{number}-{save}", shared)], {})
    one.push([], {(f"m-{number}", f"s-{n}", "uses"): n + 1 for n in range(200)})
    one.close()
    return accepted


def test_many_processes_lose_nothing_and_never_deadlock(postgres_url: str) -> None:
    remote(postgres_url).pull("")
    context = multiprocessing.get_context("spawn")
    with context.Pool(8) as pool:
        assert pool.starmap(_write, [(postgres_url, n) for n in range(8)]) == [10] * 8
    reader = remote(postgres_url)
    pulled = reader.pull("")
    assert len(pulled.skills) == 81
    assert len(pulled.counters) == 8 * 200
    versions = execute(
        postgres_url,
        "SELECT count(*), max(version) FROM skill_learner.versions WHERE name = 'shared'",
    )[0]
    assert versions[0] == versions[1]
    reader.close()


def test_counters_never_go_down(postgres_url: str) -> None:
    one = remote(postgres_url)
    one.push([], {("m-1", "a", "uses"): 5})
    one.push([], {("m-1", "a", "uses"): 3})
    assert one.pull("").counters == {("m-1", "a", "uses"): 5}
    one.close()


# -- separation -----------------------------------------------------------------------------------


def test_libraries_in_one_database_do_not_see_each_other(make_home: MakeHome) -> None:
    one, two = make_home("one", library="red"), make_home("two", library="blue")
    one.add("deploy")
    one.sync()
    assert two.sync().outcomes == []
    assert words(two.sync(library="red")) == {"deploy": "new"}


def test_the_database_itself_keeps_libraries_apart(postgres_url: str) -> None:
    owner = remote(postgres_url, library="red")
    owner.push([skill("a")], {})
    database = postgres_url.rpartition("/")[2].split("?")[0]
    for role in ("alice", "bob"):
        execute(postgres_url, f"DROP OWNED BY {role}") if execute(
            postgres_url, "SELECT 1 FROM pg_roles WHERE rolname = %s", role
        ) else execute(postgres_url, f"CREATE ROLE {role} LOGIN")
    alice_url, bob_url = (postgres_url.replace("postgres@", f"{r}@") for r in ("alice", "bob"))
    assert database in alice_url
    with pytest.raises(RemoteError, match="belongs to others"):
        remote(alice_url, library="red").pull("")
    mine = remote(alice_url, library="hers")
    mine.push([skill("secret")], {})
    import psycopg

    with psycopg.connect(bob_url, autocommit=True) as bob:
        bob.execute("SELECT set_config('skill_learner.library', 'hers', false)")
        assert bob.execute("SELECT * FROM skill_learner.skills").fetchall() == []
        with pytest.raises(psycopg.Error):
            bob.execute(
                "INSERT INTO skill_learner.skills (library, name, token, parent, files, machine)"
                " VALUES ('hers', 'evil', '', '', '', '')"
            )
        with pytest.raises(psycopg.Error):
            bob.execute("SELECT * FROM skill_learner.libraries")
    execute(alice_url, "SELECT skill_learner.admit('hers', 'bob')")
    guest = remote(bob_url, library="hers")
    assert [s.name for s in guest.pull("").skills] == ["secret"]
    for one in (owner, mine, guest):
        one.close()


# -- faults ---------------------------------------------------------------------------------------


def test_a_connection_that_was_cut_is_made_again(make_home: MakeHome, postgres_url: str) -> None:
    one = make_home("one")
    keeps = one.synchroniser()
    one.add("deploy")
    keeps.sync()
    execute(
        postgres_url,
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        " WHERE application_name = 'skill-learner'",
    )
    one.add("later")
    assert words(keeps.sync(), "out") == {"later": "sent"}
    keeps.close()


def test_a_server_that_is_down_is_a_note(make_home: MakeHome, tmp_path: Path) -> None:
    one = make_home("one")
    one.add("deploy")
    report = one.synchroniser(url=f"postgresql:///x?host={tmp_path}").sync()
    assert "cannot be reached" in report.error
    assert one.state.note("error")
    assert words(one.sync(), "out") == {"deploy": "sent"}
    assert one.state.note("error") == ""


def test_a_server_that_restarts_is_found_again(make_home: MakeHome, postgres_server: Any) -> None:
    one = make_home("one")
    keeps = one.synchroniser()
    one.add("deploy")
    keeps.sync()
    postgres_server.stop()
    one.add("later")
    try:
        assert "cannot be reached" in keeps.sync().error
        assert sorted(one.names()) == ["deploy", "later"]
    finally:
        postgres_server.start()
    assert words(keeps.sync(), "out") == {"later": "sent"}
    keeps.close()


def test_connections_that_the_server_ends_at_any_moment_lose_nothing(
    make_home: MakeHome, postgres_url: str
) -> None:
    import psycopg

    one, two = make_home("one"), make_home("two")
    for number in range(30):
        one.add(f"s-{number}")
    done = threading.Event()

    def ending() -> None:
        with psycopg.connect(postgres_url, autocommit=True) as connection:
            while not done.wait(0.02):
                connection.execute(
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE pid <> pg_backend_pid() AND datname = current_database()"
                )

    thread = threading.Thread(target=ending)
    thread.start()
    try:
        for home in (one, two, one, two):
            home.synchroniser().sync()  # what it could not do is a note
    finally:
        done.set()
        thread.join()
    one.sync()
    two.sync()
    assert len(two.names()) == 30
    assert one.sync().outcomes == two.sync().outcomes == []


def test_kills_at_any_moment_leave_old_or_new(
    make_home: MakeHome, postgres_url: str, tmp_path: Path
) -> None:
    one, two = make_home("one"), make_home("two")
    one.add("deploy")
    for number in range(10):
        one.add(f"extra-{number}")
    for delay in (0.05, 0.2, 0.4, 0.8):
        killed_while_syncing(postgres_url, tmp_path, delay)
    one.sync()
    two.sync()
    one.sync()
    assert {s.name: s.body for s in one.library.list()} == {
        s.name: s.body for s in two.library.list()
    }
    assert len(two.names()) == 11
    assert one.sync().outcomes == two.sync().outcomes == []


def test_a_push_cut_off_in_mid_transaction_is_old_or_new(postgres_url: str) -> None:
    """The backend is killed while the push waits for a row; sent again, it lands once."""
    import psycopg

    one = remote(postgres_url)
    token = one.push([skill("a")], {}).accepted["a"]
    done: list[Any] = []
    with psycopg.connect(postgres_url) as blocker:
        blocker.execute("SELECT * FROM skill_learner.skills WHERE name = 'a' FOR UPDATE")
        thread = threading.Thread(
            target=lambda: done.append(one.push([skill("a", "new", token), skill("b")], {}))
        )
        thread.start()
        killed = 0
        for _ in range(200):
            killed = len(
                execute(
                    postgres_url,
                    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
                    " WHERE application_name = 'skill-learner' AND wait_event_type = 'Lock'",
                )
            )
            if killed:
                break
            threading.Event().wait(0.02)
        blocker.rollback()
    thread.join(20)
    assert killed == 1
    assert set(done[0].accepted) == {"a", "b"}
    rows = execute(
        postgres_url, "SELECT name, count(*) FROM skill_learner.versions GROUP BY 1 ORDER BY 1"
    )
    assert rows == [("a", 2), ("b", 1)]
    one.close()


def test_hostile_rows_are_refused_and_the_rest_is_taken(
    make_home: MakeHome, postgres_url: str
) -> None:
    one = make_home("one")
    one.add("fine")
    one.sync()
    good = '"---\\ndescription: Use when needed.\\n---\\n\\nDo it.\\n"'
    bad = {
        "../up": f'{{"SKILL.md": {good}}}',
        "paths": f'{{"SKILL.md": {good}, "../../x": "y"}}',
        "broken": "{",
        "huge": '{"SKILL.md": "' + "x" * (11 * 1024 * 1024) + '"}',
        "list": "[1, 2]",
    }
    for name, files in bad.items():
        execute(
            postgres_url,
            "INSERT INTO skill_learner.skills (library, name, token, parent, files, machine)"
            " VALUES ('default', %s, 't', '', %s, 'evil')",
            name,
            files,
        )
    two = make_home("two")
    report = two.sync()
    assert words(report) == {**dict.fromkeys(bad, "refused"), "fine": "new"}
    assert "not allowed" in outcome(report, "paths").detail
    assert two.names() == ["fine"]


def test_without_psycopg_the_next_step_is_said(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    one = make_home("one")
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(RemoteError) as caught:
        one.synchroniser().sync()
    assert "postgres" in caught.value.hint


# -- beside skills --------------------------------------------------------------------------------


def test_a_hint_comes_when_somebody_changed_something(postgres_url: str) -> None:
    listener, writer = remote(postgres_url), remote(postgres_url, "m-2")
    assert listener.wait(0.1) is False
    writer.pull("")
    timer = threading.Timer(0.3, lambda: writer.push([skill("a")], {}))
    timer.start()
    assert listener.wait(10) is True
    timer.join()
    listener.close()
    writer.close()


def test_embeddings_are_kept_by_model_and_text(postgres_url: str) -> None:
    one, two = remote(postgres_url), remote(postgres_url, "m-2")
    one.put_vectors("m", {"h1": [0.5, -0.25], "h2": [1.0, 0.0]})
    one.put_vectors("m", {"h1": [9.0, 9.0]})
    two.put_vectors("m", {"h2": [1.0, 0.0, 0.5]})
    assert two.vectors("m", ["h2"]) == {"h2": [1.0, 0.0, 0.5]}
    assert two.vectors("m", ["h1", "h3"]) == {"h1": [0.5, -0.25]}
    assert two.vectors("other", ["h1"]) == {}
    one.close()
    two.close()


def test_an_engine_hears_of_what_others_save(
    make_home: MakeHome, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skill_learner.remotes.background._SHORTEST", 0.1)
    settings = {
        "skills_dir": str(tmp_path / "w" / "skills"),
        "state_dir": str(tmp_path / "w" / "state"),
        "remotes": {"fleet": {"url": postgres_url, "trust": "all", "every": 3600}},
    }
    with SkillEngine(settings) as engine:
        assert engine.get_stats()["total_skills"] == 0
        one = make_home("one")
        one.add("deploy")
        threading.Event().wait(2.0)  # it listens by now
        one.sync()
        for _ in range(100):
            if engine.get_stats()["total_skills"]:
                break
            threading.Event().wait(0.1)
        assert engine.get_stats()["total_skills"] == 1


class CountingProvider:
    model_name = "counting"

    def __init__(self) -> None:
        self.asked: list[str] = []

    def embed(self, texts: list[str]) -> list[list[float]]:
        self.asked += texts
        return [[float(len(text)), 1.0] for text in texts]


def test_a_new_worker_need_not_embed_again(
    make_home: MakeHome, postgres_url: str, tmp_path: Path
) -> None:
    one = make_home("one")
    for name in ("deploy", "release"):
        one.add(name)
    one.sync()
    providers = [CountingProvider(), CountingProvider()]
    for number, provider in enumerate(providers):
        folder = tmp_path / f"worker-{number}"
        settings = {
            "skills_dir": str(folder / "skills"),
            "state_dir": str(folder / "state"),
            "semantic_threshold": 0.0,
            "remotes": {"fleet": {"url": postgres_url, "trust": "all"}},
        }
        with SkillEngine(settings, embedding_provider=provider) as engine:
            assert len(engine.get_relevant_skills("the deployment fails")) == 2
    assert len(providers[0].asked) == 3
    assert len(providers[1].asked) == 2
    assert "the deployment fails" in providers[1].asked


def test_an_engine_on_an_empty_disk_has_the_library(
    make_home: MakeHome, postgres_url: str, tmp_path: Path
) -> None:
    from skill_learner import SkillEngine

    one = make_home("one")
    one.add("deploy", description="Use when the deployment of the shop fails.")
    one.sync()
    engine = SkillEngine(
        {
            "skills_dir": str(tmp_path / "worker" / "skills"),
            "state_dir": str(tmp_path / "worker" / "state"),
            "remotes": {"fleet": {"url": postgres_url, "trust": "all"}},
        }
    )
    try:
        assert "deploy" in engine.on_session_start("the deployment of the shop fails")
    finally:
        engine.close()
    assert not [t for t in threading.enumerate() if t.name == "skill-learner-sync"]
