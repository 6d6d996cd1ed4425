"""Decisions on changes to skills that exist: patches and archiving."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import replace

from skill_learner.learning.body_check import Ground, check_body, check_sentence, unproved_spans
from skill_learner.learning.descriptions import description_faults
from skill_learner.learning.duplicates import shares_subject
from skill_learner.learning.evidence import (
    cited_steps,
    human_word,
    only_failures,
    proved_claims,
    proves_fix,
)
from skill_learner.learning.fingerprint import fingerprints
from skill_learner.learning.gate_policy import GatePolicy
from skill_learner.learning.outcome import open_outcome
from skill_learner.learning.proof import ProofTexts
from skill_learner.learning.prose import split_sentences
from skill_learner.learning.redaction import Redactor
from skill_learner.learning.safety import injection_reasons, redacted_patch
from skill_learner.learning.session_names import session_names
from skill_learner.models import ArchiveSkill, Decision, DescribeSkill, PatchSkill, Session, Skill


def decide_patch(
    patch: PatchSkill,
    session: Session,
    texts: ProofTexts,
    skills: Sequence[Skill],
    policy: GatePolicy,
    redactor: Redactor,
) -> Decision:
    """ "patch" when the target is ours, unchanged, unambiguous, related, and the new text proved by
    a fix or the human; "propose" when only the user may decide; else "reject", for there is no
    half-applied patch."""
    skill = _find(skills, patch.name)
    fault = _target_fault(skill, patch.name)
    if fault or skill is None:
        return Decision(patch, "reject", (fault,), skill=patch.name)
    clean = redacted_patch(patch, redactor)
    claims, faults = proved_claims(clean.evidence, session)
    clean = replace(clean, evidence=claims)
    refusals = [reason for reason in (
        "the user rejected this before" if fingerprints(clean) & policy.refused else "",
        _text_fault(skill, clean),
        _proof_fault(clean, session, texts),
        *injection_reasons(clean.new),
    ) if reason]  # fmt: skip
    if refusals:
        return Decision(clean, "reject", (*refusals, *faults), skill=skill.name)
    waits = _reasons_to_wait(clean, skill, session, policy)
    if waits:
        return Decision(clean, "propose", (*waits, *faults), skill=skill.name)
    return Decision(clean, "patch", ("proved, and the text is as it was read", *faults), skill.name)


def decide_describe(
    proposal: DescribeSkill,
    session: Session,
    ground: Ground,
    skills: Sequence[Skill],
    policy: GatePolicy,
) -> Decision:
    """ "propose" for another description that the session proves: what makes a skill be found is
    the user's to change. Else "reject"."""
    skill = _find(skills, proposal.name)
    fault = _target_fault(skill, proposal.name)
    claims, faults = proved_claims(proposal.evidence, session)
    clean = replace(proposal, evidence=claims)
    if skill is not None and not fault:
        unproved = unproved_spans(clean.description, ground.texts)
        wrong = [check_sentence(one, ground) for one in split_sentences(clean.description)]
        fault = next((reason for reason in (
            f"{skill.name} has changed since it was read"
            if clean.base_hash != skill.content_hash else "",
            "" if claims else "nothing it cites is a result or the human's word",
            "the user rejected this before" if fingerprints(clean) & policy.refused else "",
            f"the session does not prove `{unproved[0]}`" if unproved else "",
            f"longer than {policy.limits.description} characters"
            if len(clean.description) > policy.limits.description else "",
            *wrong,
            *injection_reasons(clean.description),
        ) if reason), "")  # fmt: skip
    if fault:
        return Decision(clean, "reject", (fault, *faults), skill=proposal.name)
    why = "a description changes by the user's word only"
    weak = [
        f"it may not trigger: {one}" for one in description_faults(clean.name, clean.description)
    ]
    return Decision(clean, "propose", (why, *weak, *faults), skill=proposal.name)


def decide_archive(
    proposal: ArchiveSkill, session: Session, skills: Sequence[Skill], policy: GatePolicy
) -> Decision:
    """ "archive" for a candidate of ours with a reason that the session proves, or when the human
    said so; "propose" for any other skill; "reject" without target, reason or proof."""
    skill = _find(skills, proposal.name)
    fault = _target_fault(skill, proposal.name)
    if not fault and not proposal.reason.strip():
        fault = "no reason was given"
    claims, faults = proved_claims(proposal.evidence, session)
    if not fault and not claims:
        fault = "nothing it cites is a result or the human's word"
    clean = replace(proposal, evidence=claims)
    if not fault and fingerprints(clean) & policy.refused:
        fault = "the user rejected this before"
    if fault or skill is None:
        return Decision(clean, "reject", (fault, *faults), skill=proposal.name)
    waits = ""
    if not skill.ours:
        waits = f"{skill.name} is the user's own: only they retire it"
    elif policy.approval == "manual":
        waits = "approval is manual: archiving waits for the user"
    elif skill.state == "active" and not human_word(claims, session):
        waits = "an active skill is retired by the user, or on the human's word"
    if waits:
        return Decision(clean, "propose", (waits, proposal.reason, *faults), skill=skill.name)
    return Decision(clean, "archive", (proposal.reason, *faults), skill=skill.name)


def _find(skills: Sequence[Skill], name: str) -> Skill | None:
    return next((skill for skill in skills if skill.name == name), None)


def _target_fault(skill: Skill | None, name: str) -> str:
    if skill is None:
        return f"there is no skill {name}"
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


def _proof_fault(patch: PatchSkill, session: Session, texts: ProofTexts) -> str:
    if not patch.evidence:
        return "nothing it cites is a result or the human's word"
    if only_failures(patch.evidence, session):
        return "an attempt that was never resolved"
    added = _added(patch)
    ground = Ground(texts, session_names(session), cited_steps(patch.evidence))
    checked = check_body(added, ground)
    if checked.dropped:
        _, what, why = checked.dropped[0]
        return f"the session does not prove `{what[:80]}` ({why})"
    if checked.untested and not texts.passes:
        return "what it says was written and never run"
    return ""


def _reasons_to_wait(
    patch: PatchSkill, skill: Skill, session: Session, policy: GatePolicy
) -> list[str]:
    """Why only the user may apply a patch whose text is proved."""
    limits, found = policy.limits, []
    if not skill.ours:
        found.append(f"{skill.name} is the user's own: it is never changed")
    if policy.approval == "manual":
        found.append("approval is manual: a patch waits for the user")
    found.extend(filter(None, [open_outcome(session)]))
    if skill.name not in session.loaded_skills and not shares_subject(_added(patch), skill):
        found.append(f"unrelated to {skill.name}")
    if skill.state == "active" and not (
        proves_fix(patch.evidence, session) or human_word(patch.evidence, session)
    ):
        found.append("an active skill changes only with a proved fix or the human's word")
    changed = _changed_lines(patch)
    if changed > limits.patch_lines:
        found.append(f"it changes {changed} lines, more than {limits.patch_lines}")
    if policy.patches_today >= limits.patches_per_day:
        found.append(f"{policy.patches_today} patches were applied today already")
    body = skill.body.replace(patch.old, patch.new)
    longer = len(body) > len(skill.body)
    if longer and (body.count("\n") > limits.body_lines or len(body) > 4 * limits.body_tokens):
        found.append(f"{skill.name} would be longer than {limits.body_lines} lines")
    return found


def _added(patch: PatchSkill) -> str:
    """The lines of a patch that the old text does not hold already."""
    known = {line.strip() for line in patch.old.splitlines()}
    return "\n".join(line for line in patch.new.splitlines() if line.strip() not in known)


def _changed_lines(patch: PatchSkill) -> int:
    old, new = patch.old.splitlines(), patch.new.splitlines()
    matcher = difflib.SequenceMatcher(None, old, new, autojunk=False)
    return sum(max(b - a, d - c) for tag, a, b, c, d in matcher.get_opcodes() if tag != "equal")
