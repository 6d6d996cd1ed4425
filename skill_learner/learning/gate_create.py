"""Decisions on new skills: proved, safe, not there already, and within the caps."""

from __future__ import annotations

import re
from dataclasses import replace

from skill_learner.learning.body_check import (
    BodyCheck,
    Ground,
    check_body,
    check_sentence,
    unproved_spans,
)
from skill_learner.learning.descriptions import description_faults, mended
from skill_learner.learning.evidence import (
    cited_steps,
    human_word,
    only_failures,
    proved_claims,
    proves_fix,
)
from skill_learner.learning.fingerprint import fingerprints
from skill_learner.learning.fixed_failures import find_fixed_failures
from skill_learner.learning.gate_case import Case, grounds_for
from skill_learner.learning.gate_known import already_known
from skill_learner.learning.guardrails import NO_CURE, guardrail_fault
from skill_learner.learning.outcome import open_outcome
from skill_learner.learning.own_check import failed_check
from skill_learner.learning.proof import EDIT_TOOLS
from skill_learner.learning.prose import split_sentences
from skill_learner.learning.safety import (
    complaint,
    injection_reasons,
    redacted_create,
    state_of_the_day,
)
from skill_learner.learning.whose import whose
from skill_learner.models import CreateSkill, Decision, Session

UNVERIFIED = "> Unverified: from a conversation in which no tool result confirmed it."
"""Last line of a skill that rests on a model's answers alone."""

_LEAST_CONFIDENCE = 0.7
_LONGEST_WHY = 500
_MOST_UNPROVED = 0.5
_LEAST_PROVED = 1 / 3
_CONTENT = re.compile(r"^(?!#{1,6}\s|\s*(?:`{3,}|~{3,}))\s*\S", re.MULTILINE)


def decide_create(draft: CreateSkill, case: Case) -> Decision:
    """Active, candidate, evidence for or a patch of a skill that is there, or rejected."""
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
    injected = injection_reasons(clean.name, clean.description, clean.body)
    ground = Ground(case.texts, case.names, cited_steps(claims))
    checked = check_body(clean.body, ground, human=_speaks_for_itself(case))
    notes.extend(f"{why}, dropped: {what[:80]}" for _, what, why in checked.dropped)
    notes.extend(f"marked as not verified: {sentence[:80]}" for sentence in checked.marked)
    clean = replace(clean, body=checked.body, description=_description(clean, ground, case, notes))
    weakness = _weakness(clean, checked, case)
    if weakness:
        return Decision(clean, "reject", (weakness, *notes))
    known = already_known(clean, case, notes)
    if known is not None:
        return known
    scope, whose_why = whose(clean, case.session, case.policy.project_key)
    clean = replace(clean, name=_free_name(clean, case), scope=scope, why=whose_why)
    if clean.guardrail:
        clean = replace(clean, body=f"{clean.body.rstrip()}\n\n{NO_CURE}\n")
    if case.session.answers_count:
        clean = replace(clean, unverified=True, body=f"{clean.body.rstrip()}\n\n{UNVERIFIED}\n")
        notes.append("unverified: it rests on answers that no tool result confirmed")
    return _as_new(clean, checked, case, notes, injected)


def _refusal(draft: CreateSkill, case: Case) -> str:
    """The reason to reject a draft outright, "" when there is none."""
    if fingerprints(draft) & case.policy.refused:
        return "the user rejected this before"
    if not draft.evidence:
        return "nothing it cites is a result or the human's word"
    if case.policy.by_model and draft.confidence < _LEAST_CONFIDENCE:
        return f"the reviewer's own confidence is only {draft.confidence:g}"
    if draft.guardrail:
        return guardrail_fault(draft, case.session) or complaint(draft)
    if only_failures(draft.evidence, case.session):
        return "an attempt that was never resolved"
    grounded = human_word(draft.evidence, case.session) or proves_fix(draft.evidence, case.session)
    return "" if grounded else complaint(draft)


def _speaks_for_itself(case: Case) -> bool:
    """Notes by rule conclude nothing, and conversations without tools have nothing to hold prose
    against: their sentences are not questioned."""
    return case.policy.by_rule or case.session.answers_count


def _description(draft: CreateSkill, ground: Ground, case: Case, notes: list[str]) -> str:
    """The description without sentences that may not be saved; empty when none is left."""
    if _speaks_for_itself(case):
        return draft.description
    text = draft.description
    if case.policy.by_model:
        text = mended(text, *_failure_behind(draft, case))
        if text != " ".join(draft.description.split()):
            notes.append("its description was put in order, to begin with when to use it")
    kept: list[str] = []
    for sentence in split_sentences(text):
        fault = check_sentence(sentence, ground)
        if fault:
            notes.append(f"{fault}, dropped from the description: {sentence.strip()[:80]}")
        else:
            kept.append(sentence)
    return "".join(kept).strip()


def _failure_behind(draft: CreateSkill, case: Case) -> tuple[str, str]:
    """Command and error, as they may be shown, of the failure whose cure a draft cites; of several
    nobody can tell which one it is about."""
    cited = cited_steps(draft.evidence)
    cured = [
        episode
        for episode in find_fixed_failures(case.session)
        if episode.steps[-1] in cited and cited & set(episode.steps[:-1])
    ]
    if len(cured) != 1:
        return "", ""
    redact = case.redactor.redact
    return redact(cured[0].command), redact(cured[0].trigger or cured[0].error)


def _weakness(draft: CreateSkill, checked: BodyCheck, case: Case) -> str:
    """Why what is left of a draft is not worth keeping, "" when it is."""
    left = len(_CONTENT.findall(draft.body))
    if not draft.description or not left:
        return "the session proves nothing of it"
    if _core_is_unproved(checked):
        return "the session does not prove its core"
    return "" if _speaks_for_itself(case) else _hollowness(draft, checked, case, left)


def _hollowness(draft: CreateSkill, checked: BodyCheck, case: Case, left: int) -> str:
    if len(checked.dropped) > left:
        return "more of it is unproved than proved"
    word = human_word(draft.evidence, case.session)
    if not checked.total and not word:
        return "nothing in it can be checked"
    if not word and not case.texts.passes and _only_edits(draft, case.session):
        return "only edits stand behind it, and nothing was run"
    if checked.untested and not case.texts.passes and not word:
        return "what it says was written and never run"
    broken = failed_check(draft.body, case.session)
    return f"its own check failed in its last run: {broken[:80]}" if broken else ""


def _only_edits(draft: CreateSkill, session: Session) -> bool:
    """True when the cited steps are edits and requests, and nothing else."""
    cited = cited_steps(draft.evidence)
    calls = [step.call for step in session.steps if step.number in cited and step.call]
    return all(call.name.lower() in EDIT_TOOLS for call in calls)


def _core_is_unproved(checked: BodyCheck) -> bool:
    if checked.total == 0:
        return False
    missing = checked.total - checked.proved - checked.untested
    if checked.proved == 0 or missing / checked.total > _MOST_UNPROVED:
        return True
    return checked.untested > 0 and checked.proved / checked.total < _LEAST_PROVED


def _free_name(draft: CreateSkill, case: Case) -> str:
    """The draft's name, with a tail of its trigger key when that name is taken in this scope."""
    taken = {one.name for one in case.accepted} | {
        skill.name for skill in case.skills if skill.scope in {case.policy.project_key, "user"}
    }
    if draft.name not in taken:
        return draft.name
    tail = draft.trigger_key.rsplit(":", 1)[-1][:6] or "2"
    return f"{draft.name[:56].rstrip('-')}-{tail}"


def _as_new(
    draft: CreateSkill,
    checked: BodyCheck,
    case: Case,
    notes: list[str],
    injected: tuple[str, ...],
) -> Decision:
    """Active or candidate, with every reason that keeps it from being active."""
    holding = list(injected)
    holding.extend(filter(None, [open_outcome(case.session), state_of_the_day(draft)]))
    if unproved_spans(draft.description, case.texts):
        holding.append("the description names something that the session does not prove")
    if checked.untested and checked.untested >= checked.proved:
        holding.append("most of it was written and never run")
    if draft.guardrail:
        holding.append("a guardrail: it warns of a failure that nobody cured")
    if case.policy.by_model and not case.session.answers_count:
        faults = description_faults(draft.name, draft.description)
        holding.extend(f"its description may not trigger: {fault}" for fault in faults)
    holding.extend(_over_the_caps(draft, case))
    if case.policy.approval == "manual":
        holding.append("approval is manual")
    grounds = grounds_for(draft, case)
    if case.policy.approval == "evidence" and not grounds:
        holding.append(
            "a note by rule: waits for a second session or the user"
            if case.policy.by_rule
            else "neither a proved fix nor the human's explicit word"
        )
    why = tuple(holding) or (grounds or "approval is auto, every check passed",)
    why = (*why, *filter(None, [draft.why]))
    draft = replace(draft, why="; ".join(why)[:_LONGEST_WHY])
    return Decision(draft, "candidate" if holding else "active", (*why, *notes))


def _over_the_caps(draft: CreateSkill, case: Case) -> list[str]:
    """Which caps a new skill would break."""
    limits, found = case.policy.limits, []
    active = sum(one.state == "active" and one.scope == draft.scope for one in case.skills)
    new = sum(one.scope == draft.scope for one in case.accepted)
    if active + new >= limits.active_skills:
        found.append(f"{active} skills are active, the cap: `curate` proposes what to merge")
    if len(draft.description) > limits.description:
        found.append(f"its description has more than {limits.description} characters")
    lines = draft.body.count("\n")
    if lines > limits.body_lines or len(draft.body) > 4 * limits.body_tokens:
        found.append(f"its body is longer than {limits.body_lines} lines")
    return found
