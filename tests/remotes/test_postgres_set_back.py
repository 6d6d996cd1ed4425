"""A database that was set back to an older state, made anew, or changed by hand: what any machine
still has comes back, and what a person deleted does not."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from postgres_databases import remote, skill
from remote_homes import Home, MakeHome, home_maker, words

from skill_learner.exchange.safe_files import SkillFileData
from skill_learner.remotes.postgres_cursor import Cursor, Mark

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "postgres"


def execute(url: str, *statements: str) -> list[tuple[Any, ...]]:
    import psycopg

    rows: list[tuple[Any, ...]] = []
    with psycopg.connect(url, autocommit=True) as connection:
        for statement in statements:
            cursor = connection.execute(statement)
            rows = cursor.fetchall() if cursor.description else []
    return rows


def there(url: str) -> dict[str, int]:
    rows = execute(url, "SELECT name, version FROM skill_learner.skills ORDER BY name")
    return {str(name): int(version) for name, version in rows}


@pytest.fixture
def backup(postgres_url: str, postgres_server: Any) -> Callable[[], Callable[[], None]]:
    """Keeps a copy of the database as it is; what that returns puts it in its place."""
    base = str(postgres_server.get_uri()).replace("postgres:@", "postgres@")
    name = postgres_url.split("?", maxsplit=1)[0].rpartition("/")[2]

    def keep() -> Callable[[], None]:
        end = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'"
        execute(base, end, f'CREATE DATABASE "{name}-kept" TEMPLATE "{name}"')

        def restore() -> None:
            execute(base, f'DROP DATABASE "{name}" WITH (FORCE)')
            execute(base, f'ALTER DATABASE "{name}-kept" RENAME TO "{name}"')

        return restore

    return keep


def shared(make_home: MakeHome) -> tuple[Home, Home]:
    one, two = make_home("one"), make_home("two")
    for name in ("a", "b"):
        one.add(name)
    one.sync()
    two.sync()
    return one, two


def test_a_restored_database_gets_back_what_it_lost(
    make_home: MakeHome, postgres_url: str, backup: Callable[[], Callable[[], None]]
) -> None:
    one, two = shared(make_home)
    restore = backup()
    one.patch("a", "First step.", "First step, later.")
    one.add("c")
    one.sync()
    two.sync()
    restore()
    assert there(postgres_url) == {"a": 1, "b": 1}
    assert words(one.sync(), "out") == {"a": "sent", "c": "sent"}
    assert two.sync().outcomes == one.sync().outcomes == []
    assert there(postgres_url) == {"a": 2, "b": 1, "c": 1}
    for home in (one, two, make_home("three")):
        home.sync()
        assert "First step, later." in home.library.get("a").body
    two.patch("a", "Second step.", "Second step, by two.")
    assert words(two.sync(), "out") == {"a": "sent"}
    assert words(one.sync()) == {"a": "updated"}


@pytest.mark.parametrize("what", ["older", "empty"])
def test_uses_that_a_database_lost_are_counted_again_by_the_next_sync(
    what: str,
    make_home: MakeHome,
    postgres_url: str,
    backup: Callable[[], Callable[[], None]],
) -> None:
    """Not only once the skill is used again, which may be never."""
    restore = backup() if what == "empty" else lambda: None
    one = make_home("one")
    one.add("deploy")
    one.use("deploy", "a")
    one.sync()
    restore = backup() if what == "older" else restore
    one.use("deploy", "b")
    one.add("other")
    one.sync()
    restore()
    one.sync()
    three = make_home("three")
    three.sync()
    assert [v for k, v in three.state.counters().items() if k[2] == "uses"] == [2]


def test_a_machine_that_only_sent_sees_a_restore_too(
    make_home: MakeHome, postgres_url: str, backup: Callable[[], Callable[[], None]]
) -> None:
    one = make_home("one")
    one.sync()
    restore = backup()
    one.add("a")
    one.sync()
    restore()
    assert words(one.sync(), "out") == {"a": "sent"}


def test_a_worker_in_another_time_zone_sees_no_restore(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, _ = shared(make_home)
    one.sync()
    monkeypatch.setenv("PGTZ", "Asia/Kathmandu")
    remote = one.synchroniser()._remote
    assert not remote.pull(one.state.note("cursor")).set_back
    assert one.state.note("cursor").count(" ") == 4
    remote.close()


def test_a_database_that_was_made_anew_is_filled_again(
    make_home: MakeHome, postgres_url: str, postgres_server: Any
) -> None:
    one, two = shared(make_home)
    keeps = one.synchroniser()
    keeps.sync()
    base = str(postgres_server.get_uri()).replace("postgres:@", "postgres@")
    name = postgres_url.split("?", maxsplit=1)[0].rpartition("/")[2]
    execute(base, f'DROP DATABASE "{name}" WITH (FORCE)', f'CREATE DATABASE "{name}"')
    assert words(keeps.sync(), "out") == {"a": "sent", "b": "sent"}
    keeps.close()
    assert two.sync().outcomes == []
    assert words(make_home("three").sync()) == {"a": "new", "b": "new"}


def test_a_schema_that_is_dropped_beneath_a_sync_is_made_again(
    make_home: MakeHome, postgres_url: str
) -> None:
    one = make_home("one")
    one.add("deploy")
    keeps = one.synchroniser()
    keeps.sync()
    execute(postgres_url, "DROP SCHEMA skill_learner CASCADE")
    one.add("later")
    assert words(keeps.sync(), "out") == {"deploy": "sent", "later": "sent"}
    assert keeps.sync().outcomes == []
    keeps.close()


def test_a_server_that_was_set_back_as_a_whole_gets_back_what_it_lost(
    mortal_server: Any, tmp_path: Path
) -> None:
    """Its files put back: the same server, the same tables, the same numbers."""
    url = str(mortal_server.get_uri()).replace("postgres:@", "postgres@")
    one, two = shared(home_maker(url, tmp_path))
    data = Path(mortal_server.pgdata)
    kept = data.with_name(f"{data.name}-kept")
    mortal_server.stop()
    copied(data, kept)
    mortal_server.start()
    one.patch("a", "First step.", "First step, later.")
    one.add("c")
    one.sync()
    two.sync()
    mortal_server.stop()
    for path in data.iterdir():
        if path.name != ".handle_pids.json":
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    copied(kept, data)
    shutil.rmtree(kept)
    mortal_server.start()
    two.sync()
    one.sync()
    two.sync()
    for home in (one, two):
        assert home.names() == ["a", "b", "c"]
        assert "First step, later." in home.library.get("a").body
    assert there(url) == {"a": 2, "b": 1, "c": 1}


def copied(source: Path, to: Path) -> None:
    """With whom the files belong to."""
    import subprocess

    subprocess.run(["cp", "-a", f"{source}/.", str(to)], check=True)


def test_what_came_with_a_dump_from_another_server_is_told_once(postgres_url: str) -> None:
    """Its rows have numbers of transactions that are yet to come here."""
    one = remote(postgres_url)
    one.push([skill("old")], {("m-1", "old", "uses"): 1})
    for table in ("skills", "counters"):
        execute(postgres_url, f"UPDATE skill_learner.{table} SET changed_in = '999999999'")
    first = one.pull("")
    assert [s.name for s in first.skills] == ["old"]
    one.push([skill("new")], {})
    second = remote(postgres_url).pull(first.cursor)
    assert [s.name for s in second.skills] == ["new"]
    assert not second.counters
    assert not second.set_back
    one.close()


def test_a_cursor_of_a_number_alone_is_read(postgres_url: str) -> None:
    one = remote(postgres_url)
    one.push([skill("a")], {})
    number = Cursor.read(one.pull("").cursor).since
    one.push([skill("b")], {})
    pulled = one.pull(str(number))
    assert [s.name for s in pulled.skills] == ["b"]
    assert Cursor.read(pulled.cursor).mark is not None
    assert [s.name for s in one.pull("no cursor").skills] == ["a", "b"]
    one.close()


def test_a_cursor_is_read_as_it_was_written() -> None:
    for cursor in (
        Cursor(),
        Cursor(7),
        Cursor(7, "1.2.3"),
        Cursor(7, "1.2.3", Mark("a name\nof two", 4, 1_700_000_000_000_001)),
    ):
        assert Cursor.read(str(cursor)) == cursor


# -- by hand --------------------------------------------------------------------------------------


def test_what_a_person_deleted_is_archived(make_home: MakeHome, postgres_url: str) -> None:
    one, two = shared(make_home)
    execute(postgres_url, "DELETE FROM skill_learner.skills WHERE name = 'a'")
    for home in (one, two):
        assert words(home.sync()) == {"a": "updated"}
        assert home.library.get("a").state == "archived"
        assert home.sync().outcomes == []
    assert there(postgres_url) == {"b": 1}
    assert words(make_home("three").sync()) == {"b": "new"}


def test_every_text_is_kept_when_a_deleted_skill_comes_again(postgres_url: str) -> None:
    one = remote(postgres_url)
    one.push([skill("a", "one")], {})
    execute(postgres_url, "DELETE FROM skill_learner.skills")
    one.push([skill("a", "two")], {})
    rows = execute(postgres_url, "SELECT version, files FROM skill_learner.versions ORDER BY 1")
    assert rows == [(1, '{"SKILL.md":"one"}'), (2, '{"SKILL.md":"two"}')]
    assert [s.files for s in remote(postgres_url).pull("").skills] == [
        {"SKILL.md": SkillFileData(b"two")}
    ]
    one.close()


def test_a_row_that_was_written_without_a_word_is_met(
    make_home: MakeHome, postgres_url: str
) -> None:
    """A new token without a new `changed_in`: no pull tells of it until a push is refused."""
    one, two = shared(make_home)
    execute(postgres_url, "UPDATE skill_learner.skills SET token = 'by-hand' WHERE name = 'a'")
    one.patch("a", "First step.", "First mine.")
    assert words(one.sync(), "out") == {"a": "sent"}
    assert words(two.sync()) == {"a": "updated"}
