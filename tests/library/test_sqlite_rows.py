"""Many rows by few statements, whatever their number and width."""

from __future__ import annotations

import sqlite3
from contextlib import closing

import pytest

from skill_learner.sqlite_rows import insert_rows


@pytest.mark.parametrize("width", [1, 2, 13])
@pytest.mark.parametrize("count", [0, 1, 69, 450, 2000])
def test_every_row_is_there_once_and_in_order(width: int, count: int) -> None:
    rows = [tuple(f"{number}.{column}" for column in range(width)) for number in range(count)]
    with closing(sqlite3.connect(":memory:")) as connection:
        columns = ", ".join(f"c{column}" for column in range(width))
        connection.execute(f"CREATE TABLE t ({columns})")
        insert_rows(connection, f"INSERT INTO t ({columns})", rows)
        assert connection.execute("SELECT * FROM t ORDER BY rowid").fetchall() == rows


def test_what_comes_twice_is_taken_as_the_statement_says() -> None:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.execute("CREATE TABLE t (k PRIMARY KEY, v)")
        insert_rows(connection, "INSERT OR REPLACE INTO t", [("a", 1), ("a", 2)])
        insert_rows(connection, "INSERT OR IGNORE INTO t", [("a", 3), ("b", 4)])
        assert connection.execute("SELECT * FROM t ORDER BY k").fetchall() == [("a", 2), ("b", 4)]
        with pytest.raises(sqlite3.IntegrityError):
            insert_rows(connection, "INSERT INTO t", [("a", 5)])
