"""What waits for the human's answer, what the answer does to it, and what cannot count yet."""

from __future__ import annotations

from dataclasses import replace

import pytest
from session_builder import SessionBuilder

from skill_learner.learning.gate import GatePolicy, decide
from skill_learner.learning.outcome import UNANSWERED, open_outcome, refused_since
from skill_learner.models import (
    ENOUGH_SESSIONS,
    Claim,
    CreateSkill,
    Decision,
    Review,
    Session,
    Skill,
)

LLM = GatePolicy("evidence", "llm:test", "shop")


@pytest.mark.parametrize(
    ("last", "waits"),
    [
        ("Shall I move all of them?", True),
        ("I would write it into `log.toml`.\nLet me know.", True),
        ("Das wäre der Plan. Soll ich?", True),
        ("これでよろしいですか。", True),
        ("All is moved.", False),
    ],
)
def test_a_last_word_that_asks_waits(last: str, waits: bool) -> None:
    looked = SessionBuilder().human("tidy up").bash("ls", "a b").assistant(last).session()
    assert (open_outcome(looked) == UNANSWERED) is waits
    acted = SessionBuilder().human("tidy up").edit("a.py").assistant(last).session()
    assert open_outcome(acted) == ""


def _session(*answer: str) -> Session:
    build = (
        SessionBuilder("s1")
        .human("make it build")
        .bash("make", "error: undefined x", "failed")
        .edit("x.c", "y", "x")
        .bash("make", "built")
        .human("and the log?")
        .assistant("I propose one sink. Shall I?")
    )
    for text in answer:
        build.human(text).edit("log.c").bash("make", "built").assistant("Done.")
    return build.session()


DRAFT = CreateSkill(
    "make-undefined-x",
    "Use when `make` says undefined x",
    "## Steps\n1. Write `x` in `x.c`.\n\n## Check\n`make` passes.\n",
    (Claim("fails, then passes", (2, 3, 4)),),
    0.9,
)


def _decide(session: Session, *skills: Skill, policy: GatePolicy = LLM) -> Decision:
    (decision,) = decide(Review("", (DRAFT,)), session, skills, policy)
    return decision


def _held(decision: Decision) -> Skill:
    draft = decision.proposal
    assert isinstance(draft, CreateSkill)
    assert UNANSWERED in draft.why
    return Skill(draft.name, draft.description, draft.body, "candidate", "shop", "p", "h", True,
                 sessions=("s1",))  # fmt: skip


def test_the_same_session_settles_what_waited_for_its_answer() -> None:
    waiting = _decide(_session())
    assert waiting.verdict == "candidate"
    held = _held(waiting)
    assert _decide(_session(), held).verdict == "reject"
    answered = _decide(_session("yes please"), held)
    assert (answered.verdict, answered.promote) == ("evidence", True)
    other = replace(held, sessions=("s0", "s1"))
    assert not _decide(_session("yes please"), other).promote


def test_a_no_is_seen_and_a_yes_is_not_one() -> None:
    assert refused_since(_session("No, don't do that, keep two files"), 6)
    assert refused_since(_session("yes please"), 6) == ""
    assert refused_since(_session(), 6) == ""


def test_a_check_that_failed_in_its_last_run_proves_nothing() -> None:
    broken = (
        SessionBuilder("s1")
        .human("go")
        .bash("make", "error: undefined x", "failed")
        .edit("x.c", "y", "x")
        .bash("make", "built")
        .edit("x.c", "x", "z")
        .bash("make", "error: undefined z", "failed")
        .session()
    )
    decision = _decide(broken)
    assert decision.verdict == "reject"
    assert "its own check failed" in decision.reasons[0]


def test_a_second_session_of_its_own_makes_a_models_candidate_active() -> None:
    held = replace(_held(_decide(_session())), sessions=("s0",))
    again = _decide(replace(_session("yes please"), id="s2"), held)
    assert (again.verdict, again.skill, again.promote) == ("evidence", held.name, True)
    loaded = replace(_session("yes"), id="s2", loaded_skills=frozenset({held.name}))
    assert _decide(loaded, held).verdict == "reject"
    forked = replace(_session("yes"), id="s2", parent="s0")
    assert _decide(forked, held).verdict == "reject"


def test_what_is_proved_often_enough_needs_no_more_proof() -> None:
    seen = tuple(f"s{number}" for number in range(ENOUGH_SESSIONS))
    again = replace(_session("yes please"), id="again")
    active = replace(_held(_decide(_session())), sessions=seen, state="active")
    assert _decide(again, active).verdict == "reject"
    fewer = replace(active, sessions=seen[1:])
    assert _decide(again, fewer).verdict == "evidence"
    waiting = replace(active, state="candidate")
    assert _decide(again, waiting).promote
    for_the_user = _decide(again, waiting, policy=replace(LLM, approval="manual"))
    assert for_the_user.verdict == "reject"
    assert "approval is manual" in for_the_user.reasons
