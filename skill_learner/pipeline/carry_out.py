"""From a review's proposals to changes of the library, by way of the gate."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

from skill_learner.errors import SkillLearnerError
from skill_learner.interfaces import Reviewer
from skill_learner.learning.fingerprint import fingerprints
from skill_learner.learning.gate import GatePolicy, Limits, decide
from skill_learner.learning.outcome import UNANSWERED, refused_since
from skill_learner.learning.redaction import Redactor
from skill_learner.models import (
    ArchiveSkill,
    CreateSkill,
    Decision,
    Episode,
    PatchSkill,
    ProposalSource,
    Review,
    Session,
    Skill,
    SkillState,
)
from skill_learner.pipeline.outcome import NOTHING_NON_OBVIOUS, JobOutcome, SkillChange
from skill_learner.pipeline.review_request import scope_of
from skill_learner.pipeline.services import PipelineServices


def carry_out(
    services: PipelineServices,
    session: Session,
    review: Review,
    reviewer: Reviewer,
    episodes: tuple[Episode, ...],
    redactor: Redactor,
) -> JobOutcome:
    """Let the gate decide on each proposal, and do what it allows. What the library refuses is
    told in `failures` and stops nothing else. episodes: as they may be shown. redactor: knows the
    secrets of the session."""
    scope = scope_of(session)
    library = services.library
    every: tuple[SkillState, ...] = ("active", "candidate", "archived")
    skills = [skill for skill in library.list(every) if _fits(skill, scope)]
    changes = _drop_refused(services, session, skills)
    decisions = decide(review, session, skills, _policy(services, reviewer, scope), redactor)
    failures: list[str] = []
    parked: list[str] = []
    for decision in _pins_honoured(decisions, library.pins.names()):
        try:
            change = _apply(services, decision, session, reviewer.name)
        except SkillLearnerError as error:
            failures.append(f"{decision.proposal.name}: {error.message}")
            continue
        if change is not None:
            changes.append(change)
            library.proofs.add(change.name, decision.proofs)
        elif _park(services, decision, session, reviewer.name):
            parked.append(decision.skill)
    return JobOutcome(
        episodes=episodes,
        review=review,
        decisions=decisions,
        skills_written=tuple(changes),
        detail=_sentence(review, decisions, changes, failures, parked),
        failures=tuple(failures),
        parked=tuple(parked),
        reviewer=reviewer.name,
    )


def _pins_honoured(decisions: Sequence[Decision], pins: Collection[str]) -> Iterator[Decision]:
    """The decisions, but what would retire a pinned skill waits for the user."""
    for one in decisions:
        pinned = one.verdict == "archive" and one.proposal.name in pins
        yield replace(one, verdict="propose", skill=one.proposal.name) if pinned else one


def _policy(services: PipelineServices, reviewer: Reviewer, scope: str) -> GatePolicy:
    library = services.library
    return GatePolicy(
        approval=cast(Any, services.config.approval),
        origin=reviewer.name,
        project_key=scope,
        limits=_limits(services),
        refused=library.proposals.refused(),
        patches_today=library.patches_today(),
    )


def _fits(skill: Skill, scope: str) -> bool:
    return skill.scope in (scope, "user")


def _drop_refused(
    services: PipelineServices, session: Session, skills: Sequence[Skill]
) -> list[SkillChange]:
    """Archive the candidates of this session that waited for the human's answer, where the answer
    was no."""
    dropped: list[SkillChange] = []
    for skill in skills:
        if skill.name in services.library.pins.names() or skill.state != "candidate":
            continue
        if not skill.ours or skill.sessions != (session.id,):
            continue
        steps = [one.step for one in services.library.proofs.of(skill.name)]
        refusal = refused_since(session, max(steps)) if steps else ""
        if refusal and _waited_for_an_answer(services, skill):
            why = f"the human refused it: {refusal[:120]}"
            services.library.set_state(skill.name, "archived", why=why, actor="gate")
            dropped.append(SkillChange(skill.name, "archived", "archived", skill.scope))
    return dropped


def _waited_for_an_answer(services: PipelineServices, skill: Skill) -> bool:
    return any(UNANSWERED in one.why for one in services.library.history(skill.name))


def _limits(services: PipelineServices) -> Limits:
    config = services.config
    return Limits(
        active_skills=config.max_active_skills,
        patch_lines=config.max_patch_lines,
        patches_per_day=config.daily_patches,
    )


def _park(services: PipelineServices, decision: Decision, session: Session, origin: str) -> bool:
    """Keep a proposal that only the user may decide on."""
    proposal = decision.proposal
    if decision.verdict != "propose" or isinstance(proposal, CreateSkill):
        return False
    kept = services.library.proposals.park(
        proposal,
        fingerprints(proposal),
        ProposalSource(origin, session.id, scope_of(session)),
        why=decision.reasons,
        proofs=decision.proofs,
    )
    return kept is not None


def _apply(
    services: PipelineServices, decision: Decision, session: Session, origin: str
) -> SkillChange | None:
    library = services.library
    proposal = decision.proposal
    why = "; ".join(decision.reasons)
    if decision.verdict in ("active", "candidate") and isinstance(proposal, CreateSkill):
        skill = library.create(
            proposal,
            state=cast(SkillState, decision.verdict),
            scope=proposal.scope or scope_of(session),
            project_slug=Path(session.project).name or "project",
            origin=origin,
            session=session.id,
        )
        return SkillChange(skill.name, skill.state, "created", skill.scope)
    if decision.verdict == "evidence":
        skill = library.add_evidence(
            decision.skill, session=session.id, promote=decision.promote, why=why
        )
        return SkillChange(skill.name, skill.state, "evidence", skill.scope)
    if decision.verdict == "patch" and isinstance(proposal, PatchSkill):
        skill = library.patch(proposal, origin=origin, session=session.id)
        return SkillChange(skill.name, skill.state, "patched", skill.scope)
    if decision.verdict == "archive" and isinstance(proposal, ArchiveSkill):
        reason = f"{proposal.reason}; {why}" if why else proposal.reason
        skill = library.set_state(proposal.name, "archived", why=reason, actor=origin)
        return SkillChange(skill.name, "archived", "archived", skill.scope)
    return None


def _sentence(
    review: Review,
    decisions: Sequence[Decision],
    changes: Sequence[SkillChange],
    failures: Sequence[str],
    parked: Sequence[str],
) -> str:
    parts = [f"{item.change} {item.name} ({item.state})" for item in changes]
    parts.extend(f"a proposal for {name} waits (`skill-learner candidates`)" for name in parked)
    rejected = [item for item in decisions if item.verdict == "reject"]
    if rejected:
        parts.append(f"{len(rejected)} proposal(s) rejected")
    if failures:
        parts.append(f"{len(failures)} refused by the library")
    if not parts:
        because = review.nothing_because or "; ".join(review.dropped) or NOTHING_NON_OBVIOUS
        parts.append(f"nothing to save: {because}")
    return "; ".join(parts)
