"""How often each skill was used, counted from the journals.

Every use has a key made from its event, so counting the same journal twice, or by several processes
at once, changes nothing.
"""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING

from skill_learner.errors import LibraryError
from skill_learner.files import ensure_private_dir, locked

if TYPE_CHECKING:  # a host program counts without reading any journal
    from skill_learner.journal import JournalRecord
    from skill_learner.models import Session
    from skill_learner.paths import StatePaths

_BUSY_SECONDS = 5.0
_SCHEMA_VERSION = 2
_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS uses (
    event TEXT NOT NULL, skill TEXT NOT NULL, session TEXT NOT NULL, at REAL NOT NULL,
    PRIMARY KEY (event, skill)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS offers (
    session TEXT NOT NULL, skill TEXT NOT NULL, at REAL NOT NULL, occasion TEXT NOT NULL,
    PRIMARY KEY (session, skill)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS outcomes (
    session TEXT NOT NULL, skill TEXT NOT NULL, helped INTEGER NOT NULL,
    PRIMARY KEY (session, skill)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS journals (name TEXT PRIMARY KEY, read_to INTEGER NOT NULL) WITHOUT ROWID;
PRAGMA user_version = {_SCHEMA_VERSION};
"""


@dataclass(frozen=True)
class SkillUse:
    """count: uses in all. last_used: unix seconds. sessions: how many sessions used it."""

    count: int
    last_used: float
    sessions: int


@dataclass(frozen=True)
class OfferCount:
    """offered: sessions in which a hook offered the skill. taken: those of them that loaded it, or
    were given its text at once.
    helped, failed: loads, offered or not, after which a check that had failed passed or failed."""

    offered: int = 0
    taken: int = 0
    helped: int = 0
    failed: int = 0


class UsageStore:
    """The uses of all skills, in one SQLite file that is made when it is missing."""

    def __init__(self, db: Path) -> None:
        self._db = db

    def harvest_loads(self, session: Session) -> int:
        """Count what only the transcript tells of: skills that the client itself sent along. What a
        journal told too has the same key, and counts once."""
        from skill_learner.transcripts.skill_loads import loaded_skill_names

        rows = []
        for step in session.steps:
            call = step.call
            new = call is not None and step.number >= session.first_new_step
            if call is None or not new or call.name != "Skill" or call.status != "ok":
                continue
            event = f"{session.id}/{call.call_id}"
            for name in loaded_skill_names(call.name, call.input, None):
                rows.append((event, name, session.id, _unix_seconds(step.at)))
        if not rows:
            return 0
        with self._transaction() as connection:
            return _insert(connection, rows)

    def note(self, skills: Iterable[str], session_id: str, at: float) -> int:
        """Count skills that a host program gave to its agent: each once a session."""
        rows = [(f"{session_id}/given", name, session_id, at) for name in skills]
        if not rows:
            return 0
        with self._transaction() as connection:
            return _insert(connection, rows)

    def harvest_all(self, paths: StatePaths, known_skills: Collection[str] | None = None) -> int:
        """Count what was added to any journal since the last call; returns how many uses were new.

        known_skills: a SKILL.md that was read counts only for these names; None takes any. What the
        Skill tool loaded and what was typed always counts.
        """
        from skill_learner.journal import journal_files, read_journal

        with self._transaction() as connection:
            read_to = dict(connection.execute("SELECT name, read_to FROM journals"))
        added = 0
        for journal in journal_files(paths):
            start = int(read_to.get(journal.name, 0))
            try:
                size = journal.stat().st_size
            except OSError:
                continue
            if size == start:
                continue
            reading = read_journal(journal, start if size > start else 0)
            rows = _rows(reading.records, journal.stem, known_skills)
            with self._transaction() as connection:
                added += _insert(connection, rows)
                connection.execute(
                    "INSERT INTO journals VALUES (?, ?) "
                    "ON CONFLICT (name) DO UPDATE SET read_to = excluded.read_to",
                    (journal.name, reading.end),
                )
        return added

    def counts(self) -> dict[str, SkillUse]:
        """Uses by skill name."""
        with self._transaction() as connection:
            rows = connection.execute(
                "SELECT skill, count(*), max(at), count(DISTINCT session) FROM uses GROUP BY skill"
            ).fetchall()
        return {skill: SkillUse(count, at, sessions) for skill, count, at, sessions in rows}

    def harvest_offers(self, folder: Path) -> int:
        """Count the offers that hooks noted in `folder`, one file a session; returns how many of
        them were new."""
        rows = [row for path in sorted(folder.glob("*")) for row in _offer_rows(path)]
        if not rows:
            return 0
        with self._transaction() as connection:
            before = connection.total_changes
            connection.executemany("INSERT OR IGNORE INTO offers VALUES (?, ?, ?, ?)", rows)
            return connection.total_changes - before

    def note_outcome(self, session_id: str, skill: str, helped: bool) -> None:
        """Whether the check that failed before a skill was loaded passed after it; the last word
        of a session counts."""
        with self._transaction() as connection:
            connection.execute(
                "INSERT OR REPLACE INTO outcomes VALUES (?, ?, ?)", (session_id, skill, helped)
            )

    def offers(self) -> dict[str, OfferCount]:
        """What came of offers and loads, by skill name."""
        with self._transaction() as connection:
            offered = connection.execute(
                "SELECT skill, count(*), sum(occasion = 'body' OR EXISTS (SELECT 1 FROM uses u"
                " WHERE u.skill = o.skill AND u.session = o.session)) FROM offers o GROUP BY skill"
            ).fetchall()
            ended = connection.execute(
                "SELECT skill, sum(helped), sum(NOT helped) FROM outcomes GROUP BY skill"
            ).fetchall()
        found = {skill: OfferCount(count, taken) for skill, count, taken in offered}
        for skill, helped, failed in ended:
            found[skill] = replace(found.get(skill, OfferCount()), helped=helped, failed=failed)
        return found

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        try:
            connection = self._connect()
            try:
                connection.execute("BEGIN IMMEDIATE")
                yield connection
                connection.execute("COMMIT")
            finally:
                connection.close()
        except sqlite3.Error as error:
            raise LibraryError(
                f"{self._db}: {error}",
                "If it stays so, move the file away: uses are then counted from the journals kept.",
            ) from error

    def _connect(self) -> sqlite3.Connection:
        """A file that is no database is put aside: counts begin anew from the journals kept, and
        nothing that merely ranks by uses fails for it."""
        try:
            return self._opened()
        except sqlite3.DatabaseError as error:
            if type(error) is not sqlite3.DatabaseError:  # busy, full, read-only: not damaged
                raise
        with locked(self._db.with_name(f"{self._db.name}.lock")):
            os.replace(self._db, self._db.with_name(f"{self._db.name}.damaged"))
            for side in ("-wal", "-shm"):
                self._db.with_name(self._db.name + side).unlink(missing_ok=True)
        return self._opened()

    def _opened(self) -> sqlite3.Connection:
        ensure_private_dir(self._db.parent)
        self._db.touch(mode=0o600)
        connection = sqlite3.connect(self._db, timeout=_BUSY_SECONDS, isolation_level=None)
        try:
            self._prepare(connection)
        except BaseException:
            connection.close()
            raise
        return connection

    def _prepare(self, connection: sqlite3.Connection) -> None:
        if connection.execute("PRAGMA user_version").fetchone()[0] < _SCHEMA_VERSION:
            # SQLite does not wait when several processes switch a file to WAL at once.
            with locked(self._db.with_name(f"{self._db.name}.lock")):
                connection.execute("PRAGMA journal_mode = WAL")
                connection.executescript(_SCHEMA)


def _unix_seconds(at: str) -> float:
    try:
        return datetime.fromisoformat(at.replace("Z", "+00:00")).timestamp()
    except ValueError:
        return time.time()


def _offer_rows(path: Path) -> list[tuple[str, str, float, str]]:
    """`<unix time>TAB<occasion>TAB<skill>` lines of one session."""
    try:
        lines = path.read_text("utf-8", "replace").splitlines()
    except OSError:
        return []
    fields = [line.split("\t") for line in lines]
    return [
        (path.name, skill, float(at), occasion)
        for at, occasion, skill in (f for f in fields if len(f) == 3 and f[0].isdecimal())
    ]


def _insert(connection: sqlite3.Connection, rows: list[tuple[str, str, str, float]]) -> int:
    before = connection.total_changes
    connection.executemany("INSERT OR IGNORE INTO uses VALUES (?, ?, ?, ?)", rows)
    return connection.total_changes - before


def _rows(
    records: Iterable[JournalRecord], session_id: str, known_skills: Collection[str] | None
) -> list[tuple[str, str, str, float]]:
    rows = []
    for record in records:
        session = record.text("session_id") or session_id
        call_id = record.text("tool_use_id")
        event = f"{session}/{call_id}" if call_id else f"{session}@{record.at:.0f}:{record.end}"
        rows += [(event, name, session, record.at) for name in _skills_used(record, known_skills)]
    return rows


def _skills_used(record: JournalRecord, known_skills: Collection[str] | None) -> tuple[str, ...]:
    from skill_learner.transcripts.skill_loads import loaded_skill_names

    payload = record.payload or {}
    if record.event == "UserPromptExpansion":
        typed = record.text("command_name").lstrip("/")
        return (typed,) if typed else ()
    tool_input = payload.get("tool_input")
    if record.event != "PostToolUse" or not isinstance(tool_input, dict):
        return ()
    tool = record.text("tool_name")
    names = loaded_skill_names(tool, tool_input, payload.get("tool_response"))
    if tool == "Skill" or known_skills is None:
        return names
    return tuple(name for name in names if name in known_skills)
