"""Runs scripted proposals through the gate and says what became of each."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from graded_proposals import (
    LESSONS,
    NEVER,
    Lesson,
    Never,
    draft_alone,
    draft_hidden,
    draft_of,
)

from skill_learner.learning.gate import GatePolicy, decide
from skill_learner.models import CreateSkill, Decision, PatchSkill, Proposal, Review, Session, Skill

LLM = GatePolicy("evidence", "llm:scripted", "graded")


@dataclass(frozen=True)
class Row:
    """One line of the matrix. fault: what is wrong with it, "" when all is as it must be."""

    case: str
    proposed: str
    verdict: str
    why: str
    fault: str = ""


def judged(
    proposal: Proposal, session: Session, skills: Sequence[Skill] = (), policy: GatePolicy = LLM
) -> Decision:
    (decision,) = decide(Review("", (proposal,)), session, skills, policy)
    return decision


def kept_text(decision: Decision) -> str:
    """All that would be written, "" when nothing is."""
    proposal = decision.proposal
    if decision.verdict in {"reject", "evidence"}:
        return ""
    if isinstance(proposal, CreateSkill):
        return f"{proposal.name}\n{proposal.description}\n{proposal.body}"
    return proposal.new if isinstance(proposal, PatchSkill) else ""


def row(case: str, proposed: str, decision: Decision, fault: str = "") -> Row:
    return Row(case, proposed, decision.verdict, "; ".join(decision.reasons), fault)


def lesson_rows(sessions: Mapping[str, Session]) -> Iterator[Row]:
    for lesson in LESSONS:
        decision = judged(draft_of(lesson, sessions[lesson.session]), sessions[lesson.session])
        yield row(
            f"{lesson.session} {lesson.code}", lesson.name, decision, lesson_fault(lesson, decision)
        )


def lesson_fault(lesson: Lesson, decision: Decision) -> str:
    if lesson.active and decision.verdict != "active":
        return "must become active"
    if decision.verdict not in {"active", "candidate"}:
        return "a true lesson is lost"
    text = kept_text(decision)
    lost = [fact for fact in lesson.facts if not re.search(fact, text)]
    return f"lost: {', '.join(lost)}" if lost else ""


def never_rows(sessions: Mapping[str, Session]) -> Iterator[Row]:
    """Each thing alone, and hidden in each true lesson of its session."""
    for never in NEVER:
        session = sessions[never.session]
        alone = judged(draft_alone(never, session), session)
        case = f"{never.session} {never.kind}"
        yield row(case, never.line, alone, _never_fault(never, alone, alone_too=True))
        for lesson in LESSONS:
            if lesson.session == never.session:
                hidden = judged(draft_hidden(never, lesson, session), session)
                fault = _never_fault(never, hidden) or _hidden_fault(lesson, hidden)
                yield row(f"{case} in {lesson.code}", never.line, hidden, fault)


def _hidden_fault(lesson: Lesson, decision: Decision) -> str:
    """As for the lesson alone; with an injected line beside it, it may be a candidate."""
    if decision.verdict == "candidate" and "injected" in decision.reasons[0]:
        return lesson_fault(replace(lesson, active=False), decision)
    return lesson_fault(lesson, decision)


def _never_fault(never: Never, decision: Decision, *, alone_too: bool = False) -> str:
    if alone_too and decision.verdict == "active":
        return "became active"
    found = re.search(never.trace, kept_text(decision))
    return f"kept: {found.group()}" if found else ""
