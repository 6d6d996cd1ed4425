"""One session in, changes to the library out: the steps of a review, in their order."""

from __future__ import annotations

import os
from collections.abc import Callable

from skill_learner.interfaces import MeteredReviewer, Reviewer
from skill_learner.learning.episodes import find_episodes
from skill_learner.learning.proof_lines import step_text
from skill_learner.learning.redaction import Redactor, secret_environment_values
from skill_learner.ledger import Ceilings
from skill_learner.models import Episode, Review, Session
from skill_learner.pipeline.carry_out import carry_out
from skill_learner.pipeline.encounters import remember_encounters
from skill_learner.pipeline.fleet_turn import (
    REVIEWED_ELSEWHERE,
    FleetMeter,
    FleetTurn,
    fleet_turn,
)
from skill_learner.pipeline.foreign_sessions import why_foreign
from skill_learner.pipeline.outcome import NOTHING_NON_OBVIOUS, JobOutcome, nothing
from skill_learner.pipeline.parts import review_parts
from skill_learner.pipeline.review_request import build_request, redacted_episode, scope_of
from skill_learner.pipeline.sequences import earlier_sequences, remember_sequence
from skill_learner.pipeline.services import PipelineServices
from skill_learner.privacy import OFF_FILE, without_private
from skill_learner.secret_scanner import long_tail_secrets


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
    ProviderError, CeilingReachedError and, while another worker of a fleet is at it,
    ReviewedElsewhereError; the library is then unchanged.
    """
    why = _why_passed_over(services, session)
    if why:
        return nothing(f"passed over: {why}")
    session = without_private(session, services.config.privacy)
    if session.first_new_step > len(session.steps):
        return nothing("nothing new since the last review")
    progress("looking for episodes")
    redactor = Redactor(secret_environment_values(os.environ))
    scope = scope_of(session)
    earlier = earlier_sequences(services.paths, scope, session)
    found = find_episodes(session, earlier_sequences=earlier)
    with fleet_turn(services.fleet, session, found, job) as turn:
        episodes = turn.episodes
        if found and not episodes:
            outcome = nothing(REVIEWED_ELSEWHERE)
        elif episodes or (review_when or services.config.review_when) == "always":
            _remember_long_tail(session, redactor)
            reviewer = services.make_reviewer(services.config)
            metered = _meter(services, reviewer, job or session.id, turn)
            progress(f"asking {reviewer.name}")
            review = _ask(services, session, reviewer, episodes, redactor, metered=metered)
            turn.confirm()
            shown = tuple(redacted_episode(episode, redactor) for episode in episodes)
            outcome = carry_out(services, session, review, reviewer, shown, redactor)
        else:
            outcome = nothing(NOTHING_NON_OBVIOUS)
    remember_encounters(services, session, outcome, found, redactor)
    remember_sequence(services.paths, scope, session, redactor)
    return outcome


def _why_passed_over(services: PipelineServices, session: Session) -> str:
    config = services.config
    foreign = why_foreign(session, ignore_other_learners=config.ignore_learner_sessions)
    if foreign:
        return foreign
    if config.privacy.ignores_project(session.project):
        return "the settings ignore this project (`ignore_projects`)"
    if config.privacy.is_switched_off(session.project):
        return f"{OFF_FILE} in the project switches everything off"
    return ""


def _ask(
    services: PipelineServices,
    session: Session,
    reviewer: Reviewer,
    episodes: tuple[Episode, ...],
    redactor: Redactor,
    *,
    metered: bool,
) -> Review:
    if metered:
        return review_parts(services, session, reviewer, episodes, redactor)
    return reviewer.review(build_request(services, session, episodes, redactor))


def _remember_long_tail(session: Session, redactor: Redactor) -> None:
    """Let the redactor know what the maintained scanner finds, where it is installed. (It takes
    seconds to load, so only a session that is reviewed pays for it.)"""
    texts = [text for step in session.steps if (text := step_text(step))]
    for value in long_tail_secrets(["\n".join(texts)])[0]:
        redactor.remember(value)


def _meter(services: PipelineServices, reviewer: Reviewer, job: str, turn: FleetTurn) -> bool:
    """Whether the reviewer's work costs something; it is then watched. Raises CeilingReachedError
    before the work that a later refusal would throw away."""
    if not isinstance(reviewer, MeteredReviewer):
        return False
    ceilings = Ceilings(services.config.daily_reviews, services.config.daily_tokens)
    services.ledger.check(ceilings)
    meter = services.ledger.meter(job, reviewer.provider_name, reviewer.model, ceilings)
    fleet = services.fleet
    if fleet is not None:
        reviewer.meter = FleetMeter(fleet, meter, ceilings, turn.confirm)
    else:
        reviewer.meter = meter
    return True
