"""The seven recorded sessions, graded as `scripts/grade` does."""

from __future__ import annotations

import os
from dataclasses import replace
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType

import pytest
from session_builder import SessionBuilder

from skill_learner.learning.episodes import find_episodes
from skill_learner.models import CreateSkill, Decision
from skill_learner.transcripts import read_transcript

REPOSITORY = Path(__file__).parents[2]
SHARED = Path(os.environ.get("SKILL_LEARNER_SHARED") or REPOSITORY.parent / "shared")
TRANSCRIPTS = SHARED / "transcripts"
NAMES = (
    "go-cli-slow-exit",
    "lint-todo-closed-wrongly",
    "markdownlint-mdx-windows",
    "goreleaser-homebrew-tap",
    "delete-nul-file-windows",
    "nothing-licence-file",
    "nothing-invented-option",
)


@pytest.fixture(scope="module")
def grader() -> ModuleType:
    loader = SourceFileLoader("grade_script", str(REPOSITORY / "scripts" / "grade"))
    spec = spec_from_loader("grade_script", loader)
    assert spec is not None
    module = module_from_spec(spec)
    import sys

    sys.modules["grade_script"] = module  # dataclasses look their module up
    loader.exec_module(module)
    return module


@pytest.mark.skipif(
    not TRANSCRIPTS.is_dir(), reason="the recorded sessions are not on this machine"
)
@pytest.mark.parametrize("name", NAMES)
def test_recorded_session(grader: ModuleType, name: str) -> None:
    session = read_transcript(TRANSCRIPTS / f"{name}.jsonl")
    result = grader.grade(name, session, grader.KEYS[name])
    assert result.faults == []


@pytest.mark.skipif(
    not TRANSCRIPTS.is_dir(), reason="the recorded sessions are not on this machine"
)
def test_sessions_with_a_lesson_give_a_signal() -> None:
    signals = {
        name: bool(find_episodes(read_transcript(TRANSCRIPTS / f"{name}.jsonl"))) for name in NAMES
    }
    assert signals == {name: not name.startswith("nothing-") for name in NAMES}


def test_the_grader_can_find_fault(grader: ModuleType) -> None:
    session = SessionBuilder().human("Always keep notes in /home/jane/notes please").session()
    key = grader.Key(nothing=True)
    faults = grader.grade("made-up", session, key).faults
    assert any("teaches nothing" in fault for fault in faults)
    missing = grader.grade("made-up", session, grader.Key(wanted=((9, ("x",)),))).faults
    assert any("line 9 is missing" in fault for fault in missing)
    trap = Decision(CreateSkill("n", "d", "G304 is likely the issue", ()), "candidate", ("r",))
    assert "likely the issue" in grader.saved_text(trap)
    assert grader.saved_text(replace(trap, verdict="reject")) == ""


def test_a_long_session_shows_each_fix_once() -> None:
    build = SessionBuilder().human("go")
    output = "src/a.ts:1:2 ok\n" * 400
    for number in range(600):
        build.bash(f"make step{number}", output, "failed" if number % 7 == 0 else "ok")
        build.edit(f"src/{number}.ts")
    session = build.session()
    found = find_episodes(session)
    assert len({one.steps[-1] for one in found}) == len(found)
