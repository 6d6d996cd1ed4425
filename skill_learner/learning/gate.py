"""The gate between any reviewer's proposals and the library. Pure: it decides, others act."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Literal

from skill_learner.learning.duplicates import NEAR, nearest, same_trigger
from skill_learner.learning.evidence import (
    BodyCheck,
    check_body,
    human_word,
    only_failures,
    proved_claims,
    proves_fix,
    unproved_spans,
)
from skill_learner.learning.gate_changes import decide_archive, decide_patch
from skill_learner.learning.independence import further_evidence
from skill_learner.learning.outcome import open_outcome
from skill_learner.learning.proof import ProofTexts, collect
from skill_learner.learning.redaction import Redactor
from skill_learner.learning.safety import complaint, injection_reasons, redacted_create
from skill_learner.models import (
    ArchiveSkill,
    CreateSkill,
    Decision,
    PatchSkill,
    Review,
    Session,
    Skill,
)

UNVERIFIED = "> Unverified: from a conversation in which no tool result confirmed it."
"""Last line of a skill that rests on a model's answers alone."""

_LEAST_CONFIDENCE = 0.7
_MOST_UNPROVED = 0.5


@dataclass(frozen=True)
class GatePolicy:
    """approval: manual = everything waits for the user; evidence = active only with a proved fix,
    the human's word or a second session; auto = active when every check passes.
    origin: who proposes, "offline", "llm:<provider>" or "agent". project_key: the scope."""

    approval: Literal["auto", "evidence", "manual"]
    origin: str
    project_key: str


def decide(
    review: Review, session: Session, skills: Sequence[Skill], policy: GatePolicy
) -> tuple[Decision, ...]:
    """One decision for each proposal, in order, each with its reasons in words."""
    texts = collect(session)
    redactor = Redactor()
    decisions: list[Decision] = []
    for proposal in review.proposals:
        if isinstance(proposal, CreateSkill):
            accepted = [
                one.proposal
                for one in decisions
                if one.verdict in {"active", "candidate"} and isinstance(one.proposal, CreateSkill)
            ]
            case = _Case(session, texts, tuple(skills), tuple(accepted), policy, redactor)
            decisions.append(_decide_create(proposal, case))
        elif isinstance(proposal, PatchSkill):
            decisions.append(decide_patch(proposal, session, texts, skills, policy, redactor))
        elif isinstance(proposal, ArchiveSkill):
            decisions.append(decide_archive(proposal, session, skills, policy))
    return tuple(decisions)


@dataclass(frozen=True)
class _Case:
    session: Session
    texts: ProofTexts
    skills: tuple[Skill, ...]
    accepted: tuple[CreateSkill, ...]
    policy: GatePolicy
    redactor: Redactor


def _decide_create(draft: CreateSkill, case: _Case) -> Decision:
    notes: list[str] = []
    clean = redacted_create(draft, case.redactor)
    if clean != draft:
        notes.append("secrets or personal details were replaced by placeholders")
    claims, faults = proved_claims(clean.evidence, case.session)
    clean = replace(clean, evidence=claims)
    notes.extend(faults)
    refusal = _refusal(clean, case)
    if refusal:
        return Decision(clean, "reject", (refusal, *notes))
    checked = check_body(clean.body, case.texts)
    notes.extend(f"{standing}, line dropped: {span[:80]}" for _, span, standing in checked.dropped)
    clean = replace(clean, body=checked.body)
    if _core_is_unproved(checked):
        return Decision(clean, "reject", ("the session does not prove its core", *notes))
    known = _already_known(clean, case, notes)
    if known is not None:
        return known
    clean = replace(clean, name=_free_name(clean, case))
    if case.session.answers_count:
        clean = replace(clean, unverified=True, body=f"{clean.body.rstrip()}\n\n{UNVERIFIED}\n")
        notes.append("unverified: it rests on answers that no tool result confirmed")
    return _as_new(clean, checked, case, notes)


def _refusal(draft: CreateSkill, case: _Case) -> str:
    """The reason to reject a draft outright, "" when there is none."""
    if not draft.evidence:
        return "nothing it cites is a result or the human's word"
    if case.policy.origin.startswith("llm") and draft.confidence < _LEAST_CONFIDENCE:
        return f"the reviewer's own confidence is only {draft.confidence:.1f}"
    if only_failures(draft.evidence, case.session):
        return "an attempt that was never resolved"
    grounded = human_word(draft.evidence, case.session) or proves_fix(draft.evidence, case.session)
    return "" if grounded else complaint(draft)


def _core_is_unproved(checked: BodyCheck) -> bool:
    if checked.total == 0:
        return False
    return checked.proved == 0 or (checked.total - checked.proved) / checked.total > _MOST_UNPROVED


def _already_known(draft: CreateSkill, case: _Case, notes: list[str]) -> Decision | None:
    """A decision when the library, or an earlier proposal of this review, holds this already."""
    twin = same_trigger(draft, case.skills)
    if twin is not None:
        return further_evidence(draft, twin, case.session, case.policy.approval, tuple(notes))
    for other in case.accepted:
        if other.trigger_key and other.trigger_key == draft.trigger_key:
            return Decision(draft, "reject", ("proposed twice in one review", *notes))
    near, score = nearest(draft, case.skills)
    if near is None or score < NEAR:
        return None
    whose = "" if near.ours else "the user's own "
    reason = f"near-duplicate of {whose}{near.name} ({score:.2f}); a patch to it is what is wanted"
    if not near.ours:
        reason = f"near-duplicate of the user's own skill {near.name} ({score:.2f})"
    return Decision(draft, "reject", (reason, *notes), skill=near.name)


def _free_name(draft: CreateSkill, case: _Case) -> str:
    """The draft's name, with a tail of its trigger key when that name is taken in this scope."""
    taken = {one.name for one in case.accepted} | {
        skill.name for skill in case.skills if skill.scope in {case.policy.project_key, "user"}
    }
    if draft.name not in taken:
        return draft.name
    tail = draft.trigger_key.rsplit(":", 1)[-1][:6] or "2"
    return f"{draft.name[:56].rstrip('-')}-{tail}"


def _as_new(draft: CreateSkill, checked: BodyCheck, case: _Case, notes: list[str]) -> Decision:
    """Active or candidate, with every reason that keeps it from being active."""
    holding = list(injection_reasons(draft.name, draft.description, draft.body))
    unsettled = open_outcome(case.session)
    if unsettled:
        holding.append(unsettled)
    if unproved_spans(draft.description, case.texts):
        holding.append("the description names something that the session does not prove")
    if case.policy.approval == "manual":
        holding.append("approval is manual")
    grounds = _grounds(draft, case)
    if case.policy.approval == "evidence" and not grounds:
        holding.append(
            "a note by rule: waits for a second session or the user"
            if case.policy.origin == "offline"
            else "neither a proved fix nor the human's explicit word"
        )
    if holding:
        return Decision(draft, "candidate", (*holding, *notes))
    return Decision(draft, "active", (grounds or "approval is auto, every check passed", *notes))


def _grounds(draft: CreateSkill, case: _Case) -> str:
    """Why a draft may be active at once under `evidence`, "" when there is no ground."""
    word = human_word(draft.evidence, case.session)
    if word == "remember":
        return "the human said to remember it"
    if case.policy.origin == "llm" or case.policy.origin.startswith("llm:"):
        if word == "correction":
            return "the human's own correction"
        if proves_fix(draft.evidence, case.session):
            return "a check that failed and then passed is among its evidence"
    return ""
