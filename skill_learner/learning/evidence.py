"""Do the steps that a proposal cites prove anything? Results, proved fixes, the human's word."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from skill_learner.learning.fixed_failures import find_fixed_failures
from skill_learner.learning.human_words import find_human_episodes
from skill_learner.learning.vanished_warnings import find_vanished_warnings
from skill_learner.models import Claim, Session, Step


def is_proof(step: Step) -> bool:
    """True for steps that can prove something: a tool's result, the human's words, the end of
    background work. Assistant prose, plans and summaries are claims."""
    if step.kind in {"human", "human_shell", "notice"}:
        return True
    if step.kind != "tool" or step.call is None:
        return False
    if step.call.status == "rejected":
        return bool(step.text)
    return step.call.status in {"ok", "suspect", "failed"} and step.call.result is not None


def _counts(step: Step, session: Session) -> bool:
    return is_proof(step) or (session.answers_count and step.kind == "assistant")


def proved_claims(
    claims: Sequence[Claim], session: Session
) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """The claims with only those step numbers that exist and can prove; claims left without any
    are dropped. Second: what was wrong, in words."""
    steps = {step.number: step for step in session.steps}
    kept: list[Claim] = []
    faults: list[str] = []
    for claim in claims:
        good = tuple(n for n in claim.steps if n in steps and _counts(steps[n], session))
        missing = [n for n in claim.steps if n not in steps]
        if missing:
            faults.append(f"cites step {missing[0]}, which does not exist")
        if good:
            kept.append(Claim(claim.text, good))
        else:
            faults.append(f"no result or human word behind “{claim.text[:60]}”")
    return tuple(kept), tuple(faults)


def cited_steps(claims: Iterable[Claim]) -> frozenset[int]:
    return frozenset(number for claim in claims for number in claim.steps)


def proves_fix(claims: Sequence[Claim], session: Session) -> bool:
    """True when the cited steps hold a check that failed and the same check passing later, a
    warning and a later run without it, or a how-to question with the command that answered it."""
    cited = cited_steps(claims)
    for episode in (
        *find_fixed_failures(session),
        *find_vanished_warnings(session),
        *find_human_episodes(session),
    ):
        first_part, last = set(episode.steps[:-1]), episode.steps[-1]
        if episode.kind in {"fixed_failure", "answered"} and last in cited and first_part & cited:
            return True
    return False


def human_word(claims: Sequence[Claim], session: Session) -> str:
    """ "remember" when a cited step is the human's order to remember or rule, "correction" when it
    is their correction or refusal, else ""."""
    cited = cited_steps(claims)
    kinds = {one.kind for one in find_human_episodes(session) if cited & set(one.steps)}
    if "remember_request" in kinds:
        return "remember"
    return "correction" if kinds & {"correction", "refusal"} else ""


def only_failures(claims: Sequence[Claim], session: Session) -> bool:
    """True when every cited call failed, and what the human said beside it is neither a rule nor a
    correction: an unresolved attempt."""
    cited = cited_steps(claims)
    steps = [step for step in session.steps if step.number in cited]
    calls = [step.call for step in steps if step.kind == "tool" and step.call is not None]
    plain = all(step.kind in {"tool", "human"} for step in steps)
    failed = bool(calls) and all(call.status in {"failed", "suspect"} for call in calls)
    return failed and plain and not human_word(claims, session)
