"""Decisions on changes to skills that exist: patches and archiving."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Protocol

from skill_learner.learning.duplicates import shares_subject
from skill_learner.learning.evidence import (
    check_body,
    human_word,
    only_failures,
    proved_claims,
    proves_fix,
)
from skill_learner.learning.outcome import open_outcome
from skill_learner.learning.proof import ProofTexts
from skill_learner.learning.redaction import Redactor
from skill_learner.learning.safety import injection_reasons, redacted_patch
from skill_learner.models import ArchiveSkill, Decision, PatchSkill, Session, Skill


class Policy(Protocol):
    @property
    def approval(self) -> str: ...
    @property
    def project_key(self) -> str: ...


def decide_patch(
    patch: PatchSkill,
    session: Session,
    texts: ProofTexts,
    skills: Sequence[Skill],
    policy: Policy,
    redactor: Redactor,
) -> Decision:
    """ "patch" when the target is ours, unchanged, unambiguous, related, and the new text proved;
    else "reject", for there is no half-applied patch."""
    skill = _find(skills, patch.name)
    fault = _target_fault(skill, patch.name)
    if fault or skill is None:
        return Decision(patch, "reject", (fault,), skill=patch.name)
    clean = redacted_patch(patch, redactor)
    claims, faults = proved_claims(clean.evidence, session)
    clean = replace(clean, evidence=claims)
    reasons = [reason for reason in (
        _text_fault(skill, clean),
        _proof_fault(clean, skill, session, texts),
        "approval is manual: a patch waits for the user" if policy.approval == "manual" else "",
        open_outcome(session),
        *injection_reasons(clean.new),
    ) if reason]  # fmt: skip
    if reasons:
        return Decision(clean, "reject", (*reasons, *faults), skill=skill.name)
    return Decision(clean, "patch", ("proved, and the text is as it was read", *faults), skill.name)


def decide_archive(
    proposal: ArchiveSkill, session: Session, skills: Sequence[Skill], policy: Policy
) -> Decision:
    """ "archive" for a skill of ours with a reason that the session proves; else "reject"."""
    skill = _find(skills, proposal.name)
    fault = _target_fault(skill, proposal.name)
    if not fault and not proposal.reason.strip():
        fault = "no reason was given"
    claims, faults = proved_claims(proposal.evidence, session)
    if not fault and not claims:
        fault = "nothing it cites is a result or the human's word"
    if not fault and policy.approval == "manual":
        fault = "approval is manual: archiving waits for the user"
    clean = replace(proposal, evidence=claims)
    if fault:
        return Decision(clean, "reject", (fault, *faults), skill=proposal.name)
    return Decision(clean, "archive", (proposal.reason, *faults), skill=proposal.name)


def _find(skills: Sequence[Skill], name: str) -> Skill | None:
    return next((skill for skill in skills if skill.name == name), None)


def _target_fault(skill: Skill | None, name: str) -> str:
    if skill is None:
        return f"there is no skill {name}"
    if not skill.ours:
        return f"{name} is the user's own: it is never changed"
    if skill.state == "archived":
        return f"{name} is archived"
    return ""


def _text_fault(skill: Skill, patch: PatchSkill) -> str:
    if patch.base_hash != skill.content_hash:
        return f"{skill.name} has changed since it was read"
    if not patch.old:
        return "the old text is empty"
    if patch.old == patch.new:
        return "the patch changes nothing"
    places = _line_numbers(skill.body, patch.old)
    if not places:
        return "the old text does not occur in the skill"
    if len(places) > 1:
        numbers = ", ".join(str(number) for number in places)
        return f"the old text occurs {len(places)} times, on lines {numbers} of the body"
    return ""


def _line_numbers(body: str, old: str) -> list[int]:
    found: list[int] = []
    start = body.find(old)
    while start >= 0:
        found.append(body.count("\n", 0, start) + 1)
        start = body.find(old, start + 1)
    return found


def _proof_fault(patch: PatchSkill, skill: Skill, session: Session, texts: ProofTexts) -> str:
    if not patch.evidence:
        return "nothing it cites is a result or the human's word"
    if only_failures(patch.evidence, session):
        return "an attempt that was never resolved"
    if skill.name not in session.loaded_skills and not shares_subject(patch.new, skill):
        return f"unrelated to {skill.name}"
    known = {line.strip() for line in skill.body.splitlines()}
    added = "\n".join(line for line in patch.new.splitlines() if line.strip() not in known)
    dropped = check_body(added, texts).dropped
    if dropped:
        return f"the session does not prove `{dropped[0][1][:80]}` ({dropped[0][2]})"
    if skill.state == "active" and not (
        proves_fix(patch.evidence, session) or human_word(patch.evidence, session)
    ):
        return "an active skill changes only with a proved fix or the human's word"
    return ""
