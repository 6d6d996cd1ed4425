"""For each claim of a decision, the step of the session that proves it, kept with the skill."""

from __future__ import annotations

import hashlib
import re
from dataclasses import replace

from skill_learner.learning.commands import command_of
from skill_learner.learning.redaction import Redactor
from skill_learner.models import Claim, Decision, Proof, Session, Step

_LONGEST_QUOTE = 200
_WORD = re.compile(r"[^\W_]{3,}")
_KEPT = frozenset({"active", "candidate", "patch", "archive", "evidence", "propose"})


def with_proofs(decision: Decision, session: Session, redactor: Redactor) -> Decision:
    """The decision with one proof for each claim and cited step; none for what is rejected."""
    if decision.verdict not in _KEPT:
        return decision
    steps = {step.number: step for step in session.steps}
    proofs = tuple(
        _proof(claim, steps[number], session, redactor)
        for claim in decision.proposal.evidence
        for number in claim.steps
        if number in steps
    )
    return replace(decision, proofs=proofs)


def _proof(claim: Claim, step: Step, session: Session, redactor: Redactor) -> Proof:
    text = step_text(step)
    return Proof(
        claim=claim.text[:_LONGEST_QUOTE],
        session=session.id,
        step=step.number,
        source=step.source.replace("\\", "/").rsplit("/", 1)[-1],
        quote=redactor.redact(_telling_line(claim.text, step))[:_LONGEST_QUOTE],
        digest=hashlib.sha256(text.encode("utf-8", "replace")).hexdigest(),
    )


def step_text(step: Step) -> str:
    """Everything a step says, as its digest is taken over it: words, what was sent, what came."""
    call = step.call
    if call is None:
        return step.text
    line = command_of(call)
    sent = [line] if line else [value for value in call.input.values() if isinstance(value, str)]
    return "\n".join(part for part in (step.text, *sent, call.result or "") if part)


def _telling_line(claim: str, step: Step) -> str:
    """The line of a step that shares most words with a claim."""
    wanted = {word.lower() for word in _WORD.findall(claim)}
    best, most = "", -1
    for line in step_text(step).splitlines()[:2_000]:
        if line.strip():
            shared = len(wanted & {word.lower() for word in _WORD.findall(line[:500])})
            if shared > most:
                best, most = line.strip(), shared
    return best
