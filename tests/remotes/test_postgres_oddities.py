"""Odd rows, odd databases and odd networks: each is told of clearly, or does no harm."""

from __future__ import annotations

import contextlib
import select
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from postgres_databases import execute, remote, skill
from remote_homes import MakeHome, home_maker, outcome, words

from skill_learner.errors import RemoteError
from skill_learner.exchange.safe_files import MOST_BYTES, SkillFileData
from skill_learner.remotes import postgres_connection
from skill_learner.remotes.postgres import PostgresRemote
from skill_learner.remotes.postgres_rows import MOST_TEXT, encoded

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "postgres"


def role(url: str, name: str, how: str = "LOGIN") -> str:
    """A new role of the server's, with nothing yet."""
    name = f"{name}_{named(url)}"
    execute(url, f"CREATE ROLE {name} {how}")
    return name


def as_role(url: str, name: str) -> str:
    return url.replace("postgres@", f"{name}@")


def named(url: str) -> str:
    return url.split("?", maxsplit=1)[0].rpartition("/")[2]


# -- rows -----------------------------------------------------------------------------------------

DAMAGED = {
    "no-text": '{"SKILL.md": {"x": "y"}}',
    "no-base64": '{"SKILL.md": {"executable": {"x": "y"}}}',
    "twice": '{"SKILL.md": {"executable": {"executable": "x"}}}',
    "number": '{"SKILL.md": {"base64": 7}}',
    "no-letters": '{"SKILL.md": {"base64": "\\u00e9"}}',
    "a-list": '{"SKILL.md": ["x"]}',
    "nothing": '{"SKILL.md": null}',
    "no-name": '{"SKILL.md": "x", "\\ud800": "y"}',
    "deep": "[" * 100_000,
    "empty": "",
}


def test_a_damaged_row_is_refused_alone(make_home: MakeHome, postgres_url: str) -> None:
    one, two = make_home("one"), make_home("two")
    one.add("fine")
    one.sync()
    for name, files in DAMAGED.items():
        execute(
            postgres_url,
            "INSERT INTO skill_learner.skills (library, name, token, parent, files, machine)"
            " VALUES ('default', %s, 't', '', %s, 'evil')",
            name,
            files,
        )
    report = two.sync()
    assert words(report) == {**dict.fromkeys(DAMAGED, "refused"), "fine": "new"}
    assert {outcome(report, name).detail for name in DAMAGED} == {"its files are damaged"}
    assert two.names() == ["fine"]


def test_odd_counters_are_left_out(postgres_url: str) -> None:
    one = remote(postgres_url)
    good = {("m-1", "a", "uses"): 3}
    odd = {
        ("m-1", "a\0", "uses"): 1,
        ("m-1", "\ud800", "uses"): 1,
        ("m-1", "a", "uses" * 100): 1,
        ("m-1", "b", "uses"): 2**63,
    }
    one.push([], {**odd, **good})
    assert one.pull("").counters == good
    execute(
        postgres_url,
        "INSERT INTO skill_learner.counters (library, machine, skill, kind, value) VALUES"
        " ('default', E'm\\x1b[31m', 'a', 'uses', 1), ('default', 'm-2', 'a', 'uses', -5),"
        " ('default', 'm-3', 'a', 'uses', 9223372036854775807)",
    )
    assert one.pull("").counters == good
    one.close()


def test_odd_vectors_and_models_are_left_out(postgres_url: str) -> None:
    one = remote(postgres_url)
    odd = {"nan": [float("nan")], "inf": [1e39], "none": [], "long": [1.0] * 17_000}
    one.put_vectors("m", {**odd, "good": [1.0, 0.5]})
    assert one.vectors("m", [*odd, "good"]) == {"good": [1.0, 0.5]}
    with pytest.raises(RemoteError, match="PostgreSQL refuses"):
        one.vectors("\ud800", ["good"])
    one.close()


def test_what_may_be_sent_may_be_received() -> None:
    largest = {"scripts/x": SkillFileData(b"\x01" * MOST_BYTES, True)}
    assert len(encoded(largest)) <= MOST_TEXT


def test_a_large_skill_in_another_script_arrives(make_home: MakeHome) -> None:
    one, two = make_home("one"), make_home("two")
    one.add("large")
    folder = Path(one.library.get("large").path).parent / "references"
    folder.mkdir()
    text = "Ж" * (MOST_BYTES * 9 // 20)
    (folder / "data.txt").write_text(text)
    one.edit("large", "First step.", "First edit.")
    assert words(one.sync(), "out") == {"large": "sent"}
    assert words(two.sync()) == {"large": "new"}
    arrived = Path(two.library.get("large").path).parent / "references/data.txt"
    assert arrived.read_text() == text


# -- databases ------------------------------------------------------------------------------------


@pytest.mark.parametrize("encoding", ["SQL_ASCII", "LATIN1"])
def test_a_clients_encoding_does_not_matter(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch, encoding: str
) -> None:
    monkeypatch.setenv("PGCLIENTENCODING", encoding)
    one, two = make_home("one"), make_home("two")
    one.add("deploy", body="# Grüße Ж\n\nFirst step.\n")
    one.sync()
    assert words(two.sync()) == {"deploy": "new"}
    assert "Grüße Ж" in two.library.get("deploy").body


def test_a_database_whose_texts_are_anything_is_refused(postgres_url: str, tmp_path: Path) -> None:
    name = f"{named(postgres_url)}_ascii"
    how = "ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0"
    execute(postgres_url, f"CREATE DATABASE {name} {how}")
    one = home_maker(postgres_url.replace(named(postgres_url), name), tmp_path)("one")
    with pytest.raises(RemoteError, match="SQL_ASCII") as caught:
        one.synchroniser().sync()
    assert "UTF8" in caught.value.hint
    execute(postgres_url, f"DROP DATABASE {name}")


@pytest.mark.parametrize("level", ["repeatable read", "serializable"])
def test_any_number_may_migrate_at_once_at_any_isolation(postgres_url: str, level: str) -> None:
    setting = f"ALTER DATABASE {named(postgres_url)} SET default_transaction_isolation = '{level}'"
    execute(postgres_url, setting)
    barrier = threading.Barrier(8)

    def connect(number: int) -> int:
        barrier.wait()
        one = remote(postgres_url, f"m-{number}")
        one.push([skill(f"s-{number}")], {})
        one.close()
        return number

    with ThreadPoolExecutor(8) as pool:
        assert sorted(pool.map(connect, range(8))) == list(range(8))


def test_a_schema_of_a_newer_version_is_refused(postgres_url: str) -> None:
    remote(postgres_url).pull("")
    execute(postgres_url, "INSERT INTO skill_learner.migrations (name) VALUES ('099-later')")
    with pytest.raises(RemoteError, match="newer skill-learner") as caught:
        remote(postgres_url).pull("")
    assert "--upgrade" in caught.value.hint


def test_who_may_not_make_the_schema_is_told_who_may(postgres_url: str) -> None:
    with pytest.raises(RemoteError, match="may not bring") as caught:
        remote(as_role(postgres_url, role(postgres_url, "dora"))).pull("")
    assert "role that owns it" in caught.value.hint


def test_a_dry_run_opens_no_library(make_home: MakeHome, postgres_url: str) -> None:
    one = make_home("one")
    one.add("deploy")
    assert words(one.sync(dry_run=True, library="typo"), "out") == {"deploy": "would be sent"}
    assert execute(postgres_url, "SELECT name FROM skill_learner.libraries") == []
    one.sync()
    assert execute(postgres_url, "SELECT name FROM skill_learner.libraries") == [("default",)]


def test_who_only_pulls_needs_no_right_to_write(make_home: MakeHome, postgres_url: str) -> None:
    one = make_home("one")
    one.add("deploy")
    one.sync()
    database = named(postgres_url)
    execute(postgres_url, f'ALTER DATABASE "{database}" SET default_transaction_read_only = on')
    reader = make_home("reader", direction="pull")
    assert words(reader.sync()) == {"deploy": "new"}
    assert reader.sync().outcomes == []


# -- pgvector -------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["", "carol, public"])
def test_embeddings_are_found_wherever_pgvector_lies(postgres_url: str, path: str) -> None:
    """Also in a schema that the others may not use."""
    execute(postgres_url, "CREATE SCHEMA carol")
    if path:
        execute(postgres_url, "CREATE EXTENSION vector SCHEMA carol")
    execute(postgres_url, f"ALTER DATABASE {named(postgres_url)} SET search_path = '{path}'")
    one = remote(postgres_url)
    one.put_vectors("m", {"h": [1.0, 2.0]})
    name = role(postgres_url, "dave")
    execute(postgres_url, "SELECT skill_learner.admit('default', %s)", name)
    dave = remote(as_role(postgres_url, name))
    dave.put_vectors("m", {"k": [3.0, 4.0]})
    assert dave.vectors("m", ["h", "k"]) == {"h": [1.0, 2.0], "k": [3.0, 4.0]}
    one.close()
    dave.close()


def test_a_ready_database_is_not_locked_and_logs_no_error(
    postgres_url: str, postgres_server: Any
) -> None:
    """A role that may not have pgvector, while another holds our lock for ever."""
    import psycopg

    name = role(postgres_url, "erin")
    erin_url = as_role(postgres_url, name)
    execute(postgres_url, f"GRANT CREATE ON DATABASE {named(postgres_url)} TO {name}")
    remote(erin_url).pull("")
    log = Path(postgres_server.pgdata) / "log"
    before = log.stat().st_size
    with psycopg.connect(postgres_url, autocommit=True) as other:
        other.execute("SELECT pg_advisory_lock(%s)", [0x736B6C6C])
        start = time.monotonic()
        one = remote(erin_url)
        one.push([skill("a")], {})
        one.close()
    assert time.monotonic() - start < 20
    assert b"ERROR" not in log.read_bytes()[before:]


# -- members --------------------------------------------------------------------------------------


def test_members_of_an_admitted_group_are_members(postgres_url: str) -> None:
    owner = remote(postgres_url)
    owner.push([skill("a")], {})
    crew = role(postgres_url, "crew", "NOLOGIN")
    name, stranger = role(postgres_url, "erin"), role(postgres_url, "frank")
    execute(postgres_url, f"GRANT {crew} TO {name}")
    execute(postgres_url, "SELECT skill_learner.admit('default', %s)", crew)
    erin = remote(as_role(postgres_url, name))
    assert [s.name for s in erin.pull("").skills] == ["a"]
    assert erin.push([skill("b")], {}).accepted
    with pytest.raises(RemoteError, match="belongs to others"):
        remote(as_role(postgres_url, stranger)).pull("")
    cursor = erin.pull("").cursor
    execute(postgres_url, f"REVOKE {crew} FROM {name}")
    with pytest.raises(RemoteError, match="belongs to others"):
        erin.pull(cursor)
    for one in (owner, erin):
        one.close()


@pytest.mark.parametrize(
    ("call", "word"),
    [
        ("('default', 'no_such_role')", "no role"),
        ("('no-such-library', 'postgres')", "no library"),
        ("('others', 'postgres')", "only a member"),
    ],
)
def test_an_admission_that_admits_nobody_is_an_error(
    postgres_url: str, call: str, word: str
) -> None:
    import psycopg

    remote(postgres_url).pull("")
    remote(as_role(postgres_url, role(postgres_url, "erin")), library="others").pull("")
    with pytest.raises(psycopg.Error, match=word):
        execute(postgres_url, f"SELECT skill_learner.admit{call}")


# -- networks -------------------------------------------------------------------------------------


class Relay:
    """Stands between a worker and the server, and can fall silent without hanging up."""

    def __init__(self, server: str) -> None:
        self._server = server
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        self.is_silent = False
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        while True:
            try:
                worker, _ = self._listener.accept()
            except OSError:
                return
            threading.Thread(target=self._carry_all, args=(worker,), daemon=True).start()

    def _carry_all(self, worker: socket.socket) -> None:
        with contextlib.suppress(OSError):  # one of them hung up
            self._carry(worker)

    def _carry(self, worker: socket.socket) -> None:
        with worker, socket.socket(socket.AF_UNIX) as server:
            server.connect(self._server)
            while True:
                for one in select.select([worker, server], [], [])[0]:
                    data = one.recv(65536)
                    if not data:
                        return
                    while self.is_silent:
                        time.sleep(0.05)
                    (server if one is worker else worker).sendall(data)

    def close(self) -> None:
        self.is_silent = False
        self._listener.close()


@pytest.fixture
def relay(postgres_url: str) -> Iterator[Relay]:
    folder = postgres_url.partition("host=")[2]
    made = Relay(f"{folder}/.s.PGSQL.5432")
    yield made
    made.close()


def test_a_server_that_falls_silent_is_given_up(
    postgres_url: str, relay: Relay, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(postgres_connection, "_SILENT_SECONDS", 1.0)
    monkeypatch.setattr(postgres_connection, "_CONNECT_SECONDS", 2)
    url = f"postgresql://postgres@127.0.0.1:{relay.port}/{named(postgres_url)}"
    one = home_maker(url, tmp_path)("one")
    one.add("deploy")
    keeps = one.synchroniser()
    keeps.sync()
    one.add("later")
    relay.is_silent = True
    start = time.monotonic()
    assert "cannot be reached" in keeps.sync().error
    assert time.monotonic() - start < 20
    relay.is_silent = False
    assert words(keeps.sync(), "out") == {"later": "sent"}
    keeps.close()


def test_the_silence_that_is_borne_is_longer_than_any_statement() -> None:
    assert postgres_connection._SILENT_SECONDS > postgres_connection._STATEMENT_SECONDS


@pytest.mark.parametrize("act", [lambda one: one.pull(""), lambda one: one.look("")])
def test_a_pooler_that_forgets_settings_is_named(
    postgres_url: str, act: Callable[[PostgresRemote], Any]
) -> None:
    """As one in transaction mode does between two statements."""
    one = remote(postgres_url)
    one.push([skill("a")], {})
    cursor = one.pull("").cursor
    one._connection._connection.execute("RESET skill_learner.library")
    with pytest.raises(RemoteError, match="forgot") as caught:
        one.pull(cursor)
    assert "session mode" in caught.value.hint
    with pytest.raises(RemoteError, match="forgot"):
        act(one)
    one.close()
