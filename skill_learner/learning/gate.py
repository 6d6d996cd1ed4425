"""The gate between any reviewer's proposals and the library. Pure: it decides, others act."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from skill_learner.learning.body_check import Ground
from skill_learner.learning.gate_case import Case
from skill_learner.learning.gate_changes import decide_archive, decide_describe, decide_patch
from skill_learner.learning.gate_create import UNVERIFIED, decide_create
from skill_learner.learning.gate_policy import GatePolicy, Limits
from skill_learner.learning.proof import collect
from skill_learner.learning.proof_lines import with_proofs
from skill_learner.learning.redaction import Redactor
from skill_learner.learning.session_names import session_names
from skill_learner.models import (
    ArchiveSkill,
    CreateSkill,
    Decision,
    DescribeSkill,
    PatchSkill,
    Review,
    Session,
    Skill,
)

_PRIMED_CHARACTERS = 4_000

__all__ = ["UNVERIFIED", "GatePolicy", "Limits", "decide"]


def decide(
    review: Review,
    session: Session,
    skills: Sequence[Skill],
    policy: GatePolicy,
    redactor: Redactor | None = None,
) -> tuple[Decision, ...]:
    """One decision for each proposal, in order, each with its reasons in words.

    skills: of the session's scope and user-wide, archived ones too (what was archived is not made
    again). redactor: one that knows secrets which the session itself does not give away.
    """
    texts = collect(session)
    names = session_names(session)
    redactor = redactor or Redactor()
    for text in _texts_with_names(session):
        redactor.redact(text)  # it remembers the names and values found here
    decisions: list[Decision] = []
    for proposal in review.proposals:
        if isinstance(proposal, CreateSkill):
            accepted = tuple(
                one.proposal
                for one in decisions
                if one.verdict in {"active", "candidate"} and isinstance(one.proposal, CreateSkill)
            )
            case = Case(session, texts, names, tuple(skills), accepted, policy, redactor)
            decisions.append(decide_create(proposal, case))
        elif isinstance(proposal, PatchSkill):
            decisions.append(decide_patch(proposal, session, texts, skills, policy, redactor))
        elif isinstance(proposal, DescribeSkill):
            ground = Ground(texts, names)
            decisions.append(decide_describe(proposal, session, ground, skills, policy))
        elif isinstance(proposal, ArchiveSkill):
            decisions.append(decide_archive(proposal, session, skills, policy))
    return tuple(with_proofs(one, session, redactor) for one in decisions)


def _texts_with_names(session: Session) -> Iterator[str]:
    """Where people, machines and secrets show up: what the human wrote and pasted, and results."""
    for step in session.steps:
        if step.kind in {"human", "human_shell"}:
            yield step.text[:_PRIMED_CHARACTERS]
        if step.call is not None and step.call.result:
            yield step.call.result[:_PRIMED_CHARACTERS]
