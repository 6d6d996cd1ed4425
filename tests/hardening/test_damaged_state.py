"""Small files of ours whose JSON is cut short, foreign or of another type count as missing."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skill_learner.config_trust import STORE, _load
from skill_learner.consent import load_consent
from skill_learner.conversation import ConversationStore
from skill_learner.install.records import load_all
from skill_learner.jobs import JobStore
from skill_learner.ledger import Ledger
from skill_learner.marks import read_mark
from skill_learner.models import Session
from skill_learner.paths import StatePaths
from skill_learner.pipeline.news import tell
from skill_learner.pipeline.outcome import SkillChange
from skill_learner.pipeline.sequences import earlier_sequences
from skill_learner.project import list_projects
from skill_learner.skills.encounters import Encounters, EncounterStore
from skill_learner.skills.history import History
from skill_learner.skills.pins import Pins
from skill_learner.skills.proofs import ProofStore
from skill_learner.skills.proposals import ProposalStore
from skill_learner.skills.records import RecordStore

Run = Callable[..., Any]

DAMAGED = {
    "number": b"5",
    "null": b"null",
    "true": b"true",
    "text": b'"x"',
    "list": b"[]",
    "numbers": b"[5, null, [5]]",
    "object": b"{}",
    "foreign": b'{"a": 5, "t": 5, "call": [], "kind": "begin", "session": 5}',
    "cut": b'{"a": ',
    "deep": b"[" * 200_000,
    "bytes": b"\xff\xfe\x00",
}


def _of_other_sessions(paths: StatePaths) -> object:
    return earlier_sequences(paths, "p", Session("s", "claude-code", "/p", ()))


def _told(paths: StatePaths) -> str:
    (paths.news_dir / "p").write_text("earlier news")
    tell(paths, "p", [SkillChange("one", "candidate", "created")])
    return (paths.news_dir / "p").read_text()


READERS: dict[str, tuple[Callable[[StatePaths], object], object]] = {
    "skills/.pins.json": (lambda p: Pins(p.root / "skills/.pins.json").names(), frozenset()),
    "skills/.records/x.json": (lambda p: RecordStore(p.root / "skills/.records").load("x"), None),
    "skills/.history/x.jsonl": (lambda p: History(p.root / "skills/.history").entries("x"), []),
    "skills/.proofs/x.jsonl": (lambda p: ProofStore(p.root / "skills/.proofs").of("x"), []),
    "skills/.proposals/x.json": (lambda p: ProposalStore(p.root / "skills/.proposals").all(), []),
    "skills/.proposals/decided.jsonl": (
        lambda p: ProposalStore(p.root / "skills/.proposals").refused(),
        frozenset(),
    ),
    "skills/.encounters/x.json": (
        lambda p: EncounterStore(p.root / "skills/.encounters").of("x"),
        Encounters(),
    ),
    "jobs/1.json": (lambda p: JobStore(p).all(), []),
    "ledger.jsonl": (lambda p: Ledger(p.ledger).calls(), []),
    "marks/s.json": (lambda p: read_mark(p, "s"), 0),
    "sequences/p.json": (_of_other_sessions, []),
    "news/.p.json": (_told, "1 candidate waits: skill-learner list --candidates"),
    "projects/p.json": (list_projects, []),
    "installs/i.json": (load_all, []),
    "consent.json": (load_consent, None),
    STORE: (lambda p: _load(p.root), {}),
    "conversations/s~1.jsonl": (lambda p: list(ConversationStore(p).all()), []),
}


@pytest.mark.parametrize("damage", DAMAGED)
@pytest.mark.parametrize("file", READERS)
def test_a_damaged_file_counts_as_missing(tmp_path: Path, file: str, damage: str) -> None:
    read, nothing = READERS[file]
    path = tmp_path / file
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(DAMAGED[damage])
    found = read(StatePaths(tmp_path))
    if file == STORE and damage == "foreign":
        assert found == {"kind": "begin"}  # as good as any: it names no file
    else:
        assert found == nothing


@pytest.mark.parametrize("damage", DAMAGED)
def test_commands_go_on_over_damaged_pins(run: Run, hooks: Any, damage: str) -> None:
    (hooks.state / "skills").mkdir(parents=True)
    (hooks.state / "skills" / ".pins.json").write_bytes(DAMAGED[damage])
    run("remember", "npm test needs a database")
    run("curate")
    assert "no skill is pinned" in run("pin").output
    run("pin", "npm-test-needs-a-database", code=None)
    run("curate")
