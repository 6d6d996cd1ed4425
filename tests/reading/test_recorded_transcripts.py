"""Transcripts recorded from the real client, where they are at hand."""

from __future__ import annotations

from collections import Counter

import pytest

from skill_learner.transcripts import read_transcript

# name: (tool calls, calls reported as errors, human steps, how the last turn ended)
FIGURES = {
    "transcripts/go-cli-slow-exit": (66, 8, 2, "complete"),
    "transcripts/markdownlint-mdx-windows": (69, 6, 1, "complete"),
    "transcripts/goreleaser-homebrew-tap": (38, 5, 2, "complete"),
    "transcripts/lint-todo-closed-wrongly": (72, 5, 5, "complete"),
    "transcripts/delete-nul-file-windows": (1, 0, 1, "complete"),
    "transcripts/nothing-licence-file": (3, 1, 1, "complete"),
    "transcripts/nothing-invented-option": (5, 0, 2, "complete"),
    "claude-code/transcripts/first-resume-continue-compact-resume": (3, 1, 4, "complete"),
    "claude-code/transcripts/forked-session": (0, 0, 2, "complete"),
    "claude-code/transcripts/parallel-tools-one-fails": (3, 1, 1, "complete"),
    "claude-code/transcripts/permission-denied": (2, 2, 1, "complete"),
    "claude-code/transcripts/tools-and-failures": (15, 8, 1, "complete"),
    "claude-code/transcripts/tools-and-failures.subagent": (0, 0, 0, "complete"),
    "claude-code/transcripts/user-typed-skill-slash-command": (0, 0, 1, "complete"),
    "claude-code/transcripts/with-sync-subagent": (1, 0, 1, "complete"),
    "claude-code/transcripts/with-sync-subagent.agent": (1, 0, 0, "complete"),
}


def read(shared, name):
    return read_transcript(shared / f"{name}.jsonl")


@pytest.mark.parametrize("name", FIGURES)
def test_figures(shared, name):
    session = read(shared, name)
    statuses = Counter(s.call.status for s in session.steps if s.kind == "tool" and s.call)
    errors = statuses["failed"] + statuses["rejected"] + statuses["interrupted"]
    humans = sum(step.kind == "human" for step in session.steps)
    assert (statuses.total(), errors, humans, session.turn_end) == FIGURES[name]
    assert statuses["pending"] == 0
    assert session.damaged == 0
    assert [step.number for step in session.steps] == list(range(1, len(session.steps) + 1))


@pytest.mark.parametrize(
    ("name", "line", "kind", "status"),
    [
        ("go-cli-slow-exit", 85, "tool", "failed"),
        ("go-cli-slow-exit", 91, "tool", "ok"),
        ("go-cli-slow-exit", 44, "tool", "suspect"),
        ("lint-todo-closed-wrongly", 158, "human", None),
        ("lint-todo-closed-wrongly", 52, "tool", "suspect"),
        ("lint-todo-closed-wrongly", 10, "human_shell", "ok"),
        ("goreleaser-homebrew-tap", 111, "plan", None),
        ("markdownlint-mdx-windows", 275, "notice", "ok"),
    ],
)
def test_steps_that_matter(shared, name, line, kind, status):
    session = read(shared, f"transcripts/{name}")
    step = next(s for s in session.steps if s.source == f"{name}.jsonl:{line}")
    assert step.kind == kind
    assert (step.call and step.call.status) == status


def test_refusals_carry_the_humans_words(shared):
    session = read(shared, "transcripts/goreleaser-homebrew-tap")
    refusals = [s.text for s in session.steps if s.call and s.call.status == "rejected"]
    assert [bool(text) for text in refusals] == [False, True, True, True, False]
    assert "have you make it up" in refusals[3]


def test_skills_and_parents(shared):
    loaded = read(shared, "transcripts/markdownlint-mdx-windows").loaded_skills
    assert loaded == {"code-changes", "conventional-commit"}
    fork = read(shared, "claude-code/transcripts/forked-session")
    assert (fork.parent[:8], fork.first_new_step) == ("b07435b7", 5)
    agent = read(shared, "claude-code/transcripts/with-sync-subagent.agent")
    assert agent.parent == read(shared, "claude-code/transcripts/with-sync-subagent").id


def test_four_megabytes_are_read_whole(shared, tmp_path):
    data = (shared / "transcripts" / "lint-todo-closed-wrongly.jsonl").read_bytes()
    path = tmp_path / "big.jsonl"
    copies = 4_000_000 // len(data) + 1
    path.write_bytes(b"".join(data.replace(b'"uuid":"', b'"uuid":"%d' % n) for n in range(copies)))
    session = read_transcript(path)
    assert len(session.steps) > 100
