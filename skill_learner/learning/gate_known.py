"""Decisions on new skills that the library, or the same review, holds already."""

from __future__ import annotations

from dataclasses import replace

from skill_learner.learning.duplicates import (
    NEAR,
    NEAR_NOTE,
    Known,
    adds_nothing,
    as_patch,
    nearest,
    same_trigger,
)
from skill_learner.learning.gate_case import Case, grounds_for
from skill_learner.learning.gate_changes import decide_patch
from skill_learner.learning.independence import dependence, further_evidence, witness
from skill_learner.learning.outcome import open_outcome
from skill_learner.learning.safety import injection_reasons
from skill_learner.models import CreateSkill, Decision, Skill


def already_known(draft: CreateSkill, case: Case, notes: list[str]) -> Decision | None:
    """A decision when the library, or an earlier proposal of this review, holds this already."""
    enough = NEAR_NOTE if case.policy.by_rule else NEAR
    twin = same_trigger(draft, case.skills)
    settled = _settled(draft, twin, case, notes) if twin is not None else None
    if settled is not None:
        return settled
    if twin is not None:
        return further_evidence(draft, twin, case.session, case.policy.approval, tuple(notes))
    for other in case.accepted:
        if other.trigger_key and other.trigger_key == draft.trigger_key:
            return Decision(draft, "reject", ("proposed twice in one review", *notes))
        if nearest(draft, [other])[1] >= enough:
            return Decision(draft, "reject", (f"near-duplicate of {other.name}", *notes))
    near, score = nearest(draft, case.skills)
    if near is None or score < enough:
        return None
    return _patch_instead(draft, near, score, case, notes)


def _patch_instead(
    draft: CreateSkill, near: Known, score: float, case: Case, notes: list[str]
) -> Decision:
    """What becomes of a draft that is near a skill which exists: a patch of that one with what is
    new, or evidence for it when nothing is."""
    assert isinstance(near, Skill)
    whose = "" if near.ours else "the user's own "
    reason = f"near-duplicate of {whose}{near.name} ({score:.2f})"
    if near.state == "archived":
        return Decision(draft, "reject", (f"{reason}, which was archived", *notes), near.name)
    patch = as_patch(draft, near)
    if patch is None:
        settled = _settled(draft, near, case, notes)
        if settled is not None:
            return settled
        if near.ours and adds_nothing(draft, near) and not dependence(case.session, near):
            told = (f"{reason}, nothing new", *notes)
            return witness(draft, near, case.session, case.policy.approval, told)
        return Decision(draft, "reject", (f"{reason}, nothing new", *notes), near.name)
    decision = decide_patch(
        patch, case.session, case.texts, case.skills, case.policy, case.redactor
    )
    why = (f"{reason}: a patch to it instead", *decision.reasons, *notes)
    return replace(decision, reasons=why, skill=near.name)


def _settled(draft: CreateSkill, skill: Skill, case: Case, notes: list[str]) -> Decision | None:
    """The promotion of a candidate of this very session, which had waited for its end or for the
    human's answer and is proved now; None when there is no such thing."""
    ours = skill.ours and skill.state == "candidate" and skill.sessions == (case.session.id,)
    grounds = grounds_for(draft, case) if ours else ""
    held = open_outcome(case.session) or injection_reasons(skill.description, skill.body)
    if not grounds or held or case.policy.approval == "manual":
        return None
    return Decision(draft, "evidence", (f"settled now: {grounds}", *notes), skill.name, True)
