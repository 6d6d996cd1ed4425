"""Odd rows, odd databases and odd networks: each is told of clearly, or does no harm."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from remote_homes import MakeHome, outcome, words

from skill_learner.exchange.safe_files import MOST_BYTES, SkillFileData
from skill_learner.remotes.postgres import PostgresRemote
from skill_learner.remotes.postgres_connection import PostgresConnection
from skill_learner.remotes.postgres_rows import MOST_TEXT, encoded
from skill_learner.remotes.protocol import OutgoingSkill

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "postgres"


def remote(url: str, machine: str = "m-1", library: str = "default") -> PostgresRemote:
    return PostgresRemote(PostgresConnection(url, library), machine)


def skill(name: str, text: str = "x") -> OutgoingSkill:
    return OutgoingSkill(name, {"SKILL.md": SkillFileData(text.encode())}, "")


def execute(url: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []


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
