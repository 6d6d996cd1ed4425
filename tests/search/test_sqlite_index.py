"""The SQLite index may be lost, damaged, too new or busy; nothing of it is needed to go on."""

from __future__ import annotations

import multiprocessing
import sqlite3
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from skill_learner.errors import IndexUnusableError
from skill_learner.interfaces import IndexDocument
from skill_learner.ranking.plan import Plan
from skill_learner.ranking.score import PHRASE
from skill_learner.storage import sqlite as sqlite_storage
from skill_learner.storage.sqlite import SqliteIndex


def document(key: str, prose: str = "word") -> IndexDocument:
    return IndexDocument(key, "1", "h", "active", "user", key, "", prose=prose)


def found(index: SqliteIndex, word: str = "word") -> set[str]:
    plan = Plan()
    plan.words = [word]
    return {candidate.key for candidate in index.match(plan, {"active"}, None, 50)}


@pytest.fixture
def db(tmp_path: Path) -> Path:
    return tmp_path / "index.sqlite"


def test_it_lasts(db: Path) -> None:
    first = SqliteIndex(db)
    first.update([document("a")], [])
    first.close()
    second = SqliteIndex(db)
    assert found(second) == {"a"}
    assert db.stat().st_mode & 0o077 == 0
    second.close()


def test_phrases_are_told_from_words_that_only_occur(db: Path) -> None:
    index = SqliteIndex(db)
    index.update([document("a", "layer cache"), document("b", "cache of a layer")], [])
    index.update([document(f"p{n}", "padding") for n in range(9)], [])
    plan = Plan()
    plan.words, plan.pairs = ["layer", "cache"], [("layer", "cache")]
    phrases = {c.key: c.signals[PHRASE] for c in index.match(plan, {"active"}, None, 9)}
    assert phrases["a"] > 0
    assert phrases["b"] == 0
    index.close()


def test_finishing_leaves_everything_to_be_found(db: Path) -> None:
    index = SqliteIndex(db)
    for number in range(60):
        index.update([document(f"k{number}", f"word{number} shared")], [])
    index.finish()
    assert found(index, "word7") == {"k7"}
    assert len(found(index, "shared")) == 50
    index.close()


@pytest.mark.parametrize("times", [1, 2])
def test_a_file_that_another_process_makes_anew_meanwhile_is_opened_once_more(
    db: Path, monkeypatch: pytest.MonkeyPatch, times: int
) -> None:
    migrate, left = sqlite_storage.migrate, [db] * times

    def interrupted(connection: sqlite3.Connection) -> None:
        migrate(connection)
        if left:
            for path in db.parent.glob(f"{left.pop().name}*"):
                path.unlink()

    monkeypatch.setattr(sqlite_storage, "migrate", interrupted)
    index = SqliteIndex(db)
    index.update([document("a")], [])
    assert found(index) == {"a"}
    index.close()
    assert found(SqliteIndex(db)) == {"a"}


def overwrite_with_text(db: Path) -> None:
    db.write_bytes(b"this is not a database, whatever its name says" * 50)


def overwrite_pages(db: Path) -> None:
    data = bytearray(db.read_bytes())
    data[4096:] = b"\xa5" * (len(data) - 4096)
    db.write_bytes(bytes(data))


def cut_in_half(db: Path) -> None:
    db.write_bytes(db.read_bytes()[: db.stat().st_size // 2])


def empty(db: Path) -> None:
    db.write_bytes(b"")


def drop_a_table(db: Path) -> None:
    with sqlite3.connect(db) as connection:
        connection.execute("DROP TABLE whole")


def mark_as_newer(db: Path) -> None:
    with sqlite3.connect(db) as connection:
        connection.execute("INSERT INTO migrations VALUES ('9999 from the future')")


@pytest.mark.parametrize(
    "damage",
    [overwrite_with_text, overwrite_pages, cut_in_half, empty, drop_a_table, mark_as_newer],
)
def test_a_damaged_or_newer_file_is_made_again(db: Path, damage: Callable[[Path], None]) -> None:
    index = SqliteIndex(db)
    index.update([document(f"k{n}") for n in range(200)], [])
    index.close()
    for suffix in ("-wal", "-shm"):
        db.with_name(db.name + suffix).unlink(missing_ok=True)
    damage(db)
    reopened = SqliteIndex(db)
    known = reopened.stamps()
    reopened.update([document("fresh", "unique")], list(known))
    assert found(reopened, "unique") == {"fresh"}
    assert reopened.frequencies(["unique"]) == {"unique": 1}
    reopened.close()


def test_a_place_that_cannot_hold_a_file_is_said(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(IndexUnusableError):
        SqliteIndex(tmp_path / "file" / "index.sqlite").stamps()
    (tmp_path / "folder.sqlite").mkdir()
    with pytest.raises(IndexUnusableError):
        SqliteIndex(tmp_path / "folder.sqlite").stamps()


def test_a_lock_that_stays_is_said_and_nothing_is_thrown_away(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_storage, "_BUSY_MS", 20)
    index = SqliteIndex(db)
    index.update([document("a")], [])
    blocker = sqlite3.connect(db, isolation_level=None)
    blocker.execute("BEGIN IMMEDIATE")
    with pytest.raises(IndexUnusableError, match="busy"):
        index.update([document("b")], [])
    assert found(index) == {"a"}
    blocker.execute("ROLLBACK")
    blocker.close()
    index.update([document("b")], [])
    assert found(index) == {"a", "b"}
    index.close()


def test_much_change_wears_it_out_and_it_starts_afresh(
    db: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_storage, "_DEAD_FLOOR", 20)
    index = SqliteIndex(db)
    for number in range(15):
        index.update([document("a", f"text{number}"), document("b")], [])
    assert found(index, "text14") == {"a"}
    assert found(index, "text3") == set()
    assert index.stamps() == {}
    index.close()


def _write_many(db: Path, number: int) -> None:  # pragma: no cover - runs in a child
    index = SqliteIndex(db)
    for i in range(20):
        index.update([document(f"p{number}-{i}"), document("shared", f"w{number}x{i}")], [])
    index.close()


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="starts its children by fork")
def test_processes_write_together(db: Path) -> None:
    fork = multiprocessing.get_context("fork")
    children = [fork.Process(target=_write_many, args=(db, n)) for n in range(4)]
    for child in children:
        child.start()
    for child in children:
        child.join(60)
    assert [child.exitcode for child in children] == [0] * 4
    index = SqliteIndex(db)
    assert set(index.stamps()) == {f"p{n}-{i}" for n in range(4) for i in range(20)} | {"shared"}
    index.close()


def test_what_another_process_wrote_meanwhile_is_not_sealed(db: Path) -> None:
    one, other = SqliteIndex(db), SqliteIndex(db)
    one.stamps()
    other.stamps()
    one.update([document("a")], [])
    other.update([document("a")], [])
    one.seal("m")
    assert not one.holds("m")
    assert not other.holds("m")
    other.stamps()
    other.seal("m")
    assert one.holds("m")
    one.close()
    other.close()
