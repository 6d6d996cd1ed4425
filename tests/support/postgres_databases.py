"""A database as tests look at it: by plain statements, and as one machine's remote."""

from __future__ import annotations

from typing import Any

from skill_learner.exchange.safe_files import SkillFileData
from skill_learner.remotes.postgres import PostgresRemote
from skill_learner.remotes.postgres_connection import PostgresConnection
from skill_learner.remotes.protocol import OutgoingSkill


def remote(url: str, machine: str = "m-1", library: str = "default") -> PostgresRemote:
    return PostgresRemote(PostgresConnection(url, library), machine)


def skill(name: str, text: str = "x", expected: str = "") -> OutgoingSkill:
    return OutgoingSkill(name, {"SKILL.md": SkillFileData(text.encode())}, expected)


def execute(url: str, statement: str, *values: Any) -> list[tuple[Any, ...]]:
    import psycopg

    with psycopg.connect(url, autocommit=True) as connection:
        cursor = connection.execute(statement, values or None)
        return cursor.fetchall() if cursor.description else []
