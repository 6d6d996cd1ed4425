"""The matrix of `scripts/grade`: true lessons stay, traps and things never to be saved do not."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from gate_matrix import Row, lesson_rows, never_rows
from graded_proposals import LESSONS, NEVER
from learning_cases import case_rows

from skill_learner.models import Session
from skill_learner.transcripts import read_transcript

SHARED = Path(os.environ.get("SKILL_LEARNER_SHARED") or Path(__file__).parents[2].parent / "shared")
TRANSCRIPTS = SHARED / "transcripts"
needs_sessions = pytest.mark.skipif(
    not TRANSCRIPTS.is_dir(), reason="the recorded sessions are not on this machine"
)


def faults(rows: Iterator[Row]) -> list[str]:
    seen = [(f"{row.case}: {row.proposed}", row.fault) for row in rows]
    assert seen
    return [f"{case}: {fault}" for case, fault in seen if fault]


@pytest.fixture(scope="module")
def sessions() -> dict[str, Session]:
    names = {one.session for one in LESSONS} | {one.session for one in NEVER}
    return {name: read_transcript(TRANSCRIPTS / f"{name}.jsonl") for name in names}


@needs_sessions
def test_true_lessons_stay_and_the_proved_ones_are_active(sessions: dict[str, Session]) -> None:
    assert faults(lesson_rows(sessions)) == []


@needs_sessions
def test_traps_are_taken_out_or_rejected(sessions: dict[str, Session]) -> None:
    assert faults(never_rows(sessions)) == []


def test_faults_known_from_the_field() -> None:
    assert faults(case_rows()) == []
