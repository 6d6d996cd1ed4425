"""One session in, changes to the library out: the steps of a review, in their order."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

from skill_learner.errors import SkillLearnerError
from skill_learner.interfaces import MeteredReviewer, Reviewer, ReviewRequest
from skill_learner.learning.digest import build_digest
from skill_learner.learning.episodes import find_episodes
from skill_learner.learning.gate import GatePolicy, decide
from skill_learner.learning.redaction import Redactor, secret_environment_values
from skill_learner.ledger import Ceilings
from skill_learner.models import (
    ArchiveSkill,
    CreateSkill,
    Decision,
    Digest,
    Episode,
    PatchSkill,
    Review,
    Session,
    Skill,
    SkillState,
)
from skill_learner.pipeline.foreign_sessions import why_foreign
from skill_learner.pipeline.sequences import earlier_sequences, remember_sequence
from skill_learner.pipeline.services import PipelineServices
from skill_learner.project import project_key

NEIGHBOURS = 5
NOTHING_NON_OBVIOUS = "nothing non-obvious"

_SHORTEST_NEEDLE = 200


@dataclass(frozen=True)
class SkillChange:
    """What became of one skill. change: "created", "patched", "archived" or "evidence"."""

    name: str
    state: SkillState
    change: str


@dataclass(frozen=True)
class JobOutcome:
    """What a review found and did.

    detail: one sentence. review is None when no reviewer was asked. failures: decisions that the
    library refused, in words. reviewer: the reviewer's name, "" when none was asked.
    """

    episodes: tuple[Episode, ...]
    review: Review | None
    decisions: tuple[Decision, ...]
    skills_written: tuple[SkillChange, ...]
    detail: str
    failures: tuple[str, ...] = ()
    reviewer: str = ""

    def to_json(self) -> dict[str, Any]:
        """The outcome as it is kept with its job."""
        review = self.review
        return {
            "reviewer": self.reviewer,
            "episodes": [
                {"kind": item.kind, "steps": list(item.steps), "trigger": item.trigger[:300]}
                for item in self.episodes
            ],
            "outcome": review.outcome if review else "",
            "nothing_because": review.nothing_because if review else "",
            "dropped": list(review.dropped) if review else [],
            "decisions": [
                {
                    "proposal": type(item.proposal).__name__,
                    "name": item.proposal.name,
                    "verdict": item.verdict,
                    "reasons": list(item.reasons),
                    "skill": item.skill,
                }
                for item in self.decisions
            ],
            "skills": [
                {"name": item.name, "state": item.state, "change": item.change}
                for item in self.skills_written
            ],
            "failures": list(self.failures),
        }


def learn_from(
    services: PipelineServices,
    session: Session,
    *,
    job: str = "",
    review_when: str = "",
    progress: Callable[[str], None] = lambda _: None,
) -> JobOutcome:
    """Review one session and carry out what the gate allows.

    job: id under which LLM calls are booked (the session's id when empty). review_when: "signal"
    or "always"; empty takes the setting's, and "signal" where that is empty too. Raises
    ProviderError and CeilingReachedError; the library is then unchanged.
    """
    foreign = why_foreign(session, ignore_other_learners=services.config.ignore_learner_sessions)
    if foreign:
        return _nothing(f"passed over: {foreign}")
    if session.first_new_step > len(session.steps):
        return _nothing("nothing new since the last review")
    progress("looking for episodes")
    redactor = Redactor(secret_environment_values(os.environ))
    scope = _scope(session)
    earlier = earlier_sequences(services.paths, scope, session)
    episodes = find_episodes(session, earlier_sequences=earlier)
    when = review_when or services.config.review_when or "signal"
    if not episodes and when != "always":
        remember_sequence(services.paths, scope, session, redactor)
        return _nothing(NOTHING_NON_OBVIOUS)
    progress("writing the digest")
    reviewer = services.make_reviewer()
    request = _request(services, session, episodes, redactor)
    if isinstance(reviewer, MeteredReviewer):
        ceilings = Ceilings(services.config.daily_reviews, services.config.daily_tokens)
        reviewer.meter = services.ledger.meter(
            job or session.id, reviewer.provider_name, reviewer.model, ceilings
        )
        request = _fit_to_leave(request, redactor)
    progress(f"asking {reviewer.name}")
    review = reviewer.review(request)
    progress("judging the proposals")
    shown = tuple(_redacted_episode(episode, redactor) for episode in episodes)
    outcome = _carry_out(services, session, review, reviewer, shown)
    remember_sequence(services.paths, scope, session, redactor)
    return outcome


def _nothing(detail: str) -> JobOutcome:
    return JobOutcome((), None, (), (), detail)


def _request(
    services: PipelineServices,
    session: Session,
    episodes: tuple[Episode, ...],
    redactor: Redactor,
) -> ReviewRequest:
    budget = services.config.digest_tokens
    digest = build_digest(session, budget_tokens=budget, redactor=redactor)
    neighbours = _neighbours(services, session, digest, episodes)
    return ReviewRequest(session, digest, episodes, neighbours)


def _fit_to_leave(request: ReviewRequest, redactor: Redactor) -> ReviewRequest:
    """The request for a reviewer that sends it somewhere. (The digest is redacted already; the one
    that works by rule looks the episodes' texts up in the session, and redacts what it writes.)"""
    return replace(
        request,
        episodes=tuple(_redacted_episode(episode, redactor) for episode in request.episodes),
        neighbours=tuple(
            replace(
                skill,
                description=redactor.redact(skill.description),
                body=redactor.redact(skill.body),
            )
            for skill in request.neighbours
        ),
    )


def _redacted_episode(episode: Episode, redactor: Redactor) -> Episode:
    """Its keys stay: they are only compared."""
    return replace(
        episode,
        trigger=redactor.redact(episode.trigger),
        command=redactor.redact(episode.command),
        error=redactor.redact(episode.error),
        remedy=redactor.redact(episode.remedy),
        changed_files=tuple(redactor.redact(path) for path in episode.changed_files),
        quote=redactor.redact(episode.quote),
    )


def _neighbours(
    services: PipelineServices, session: Session, digest: Digest, episodes: Sequence[Episode]
) -> tuple[Skill, ...]:
    """The skills nearest to what the session was about: its episodes, else its human words."""
    needles = [f"{item.trigger} {item.command} {item.error} {item.quote}" for item in episodes]
    text = "\n".join(needles)
    if len(text) < _SHORTEST_NEEDLE:
        text += "\n" + "\n".join(step.text for step in session.steps if step.kind == "human")
    hits = services.search.search(
        text.strip() or digest.text,
        top_k=NEIGHBOURS,
        scope=_scope(session),
        states=("active", "candidate"),
    )
    return tuple(hit.skill for hit in hits)


def _scope(session: Session) -> str:
    return project_key(Path(session.project)) if session.project else "user"


def _carry_out(
    services: PipelineServices,
    session: Session,
    review: Review,
    reviewer: Reviewer,
    episodes: tuple[Episode, ...],
) -> JobOutcome:
    scope = _scope(session)
    policy = GatePolicy(
        approval=cast(Any, services.config.approval), origin=reviewer.name, project_key=scope
    )
    skills = [
        skill for skill in services.library.list(("active", "candidate")) if _fits(skill, scope)
    ]
    decisions = decide(review, session, skills, policy)
    changes: list[SkillChange] = []
    failures: list[str] = []
    for decision in decisions:
        try:
            change = _apply(services, decision, session, reviewer.name)
        except SkillLearnerError as error:
            failures.append(f"{decision.proposal.name}: {error.message}")
            continue
        if change is not None:
            changes.append(change)
    return JobOutcome(
        episodes=episodes,
        review=review,
        decisions=decisions,
        skills_written=tuple(changes),
        detail=_sentence(review, decisions, changes, failures),
        failures=tuple(failures),
        reviewer=reviewer.name,
    )


def _fits(skill: Skill, scope: str) -> bool:
    return skill.scope in (scope, "user")


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
            scope=_scope(session),
            project_slug=Path(session.project).name or "project",
            origin=origin,
            session=session.id,
        )
        return SkillChange(skill.name, skill.state, "created")
    if decision.verdict == "evidence":
        skill = library.add_evidence(
            decision.skill, session=session.id, promote=decision.promote, why=why
        )
        return SkillChange(skill.name, skill.state, "evidence")
    if decision.verdict == "patch" and isinstance(proposal, PatchSkill):
        skill = library.patch(proposal, origin=origin, session=session.id)
        return SkillChange(skill.name, skill.state, "patched")
    if decision.verdict == "archive" and isinstance(proposal, ArchiveSkill):
        reason = f"{proposal.reason}; {why}" if why else proposal.reason
        skill = library.set_state(proposal.name, "archived", why=reason, actor=origin)
        return SkillChange(skill.name, "archived", "archived")
    return None


def _sentence(
    review: Review,
    decisions: Sequence[Decision],
    changes: Sequence[SkillChange],
    failures: Sequence[str],
) -> str:
    parts = [f"{item.change} {item.name} ({item.state})" for item in changes]
    rejected = [item for item in decisions if item.verdict == "reject"]
    if rejected:
        parts.append(f"{len(rejected)} proposal(s) rejected")
    if failures:
        parts.append(f"{len(failures)} refused by the library")
    if not parts:
        because = review.nothing_because or "; ".join(review.dropped) or NOTHING_NON_OBVIOUS
        parts.append(f"nothing to save: {because}")
    return "; ".join(parts)
