"""A session too long for a reviewer's window is reviewed in parts, not squeezed."""

from __future__ import annotations

from collections.abc import Sequence

from skill_learner.interfaces import Reviewer
from skill_learner.learning.digest import split_session
from skill_learner.learning.redaction import Redactor
from skill_learner.models import Episode, Review, Session
from skill_learner.pipeline.review_request import build_request, fit_to_leave
from skill_learner.pipeline.services import PipelineServices


def review_parts(
    services: PipelineServices,
    session: Session,
    reviewer: Reviewer,
    episodes: tuple[Episode, ...],
    redactor: Redactor,
) -> Review:
    """Ask a reviewer that has a window: nearly always once; a giant session once a part. Where
    something non-obvious was found, parts without it are not sent."""
    reviews = []
    for part in split_session(session, budget_tokens=services.config.digest_tokens):
        numbers = {step.number for step in part.steps}
        found = tuple(item for item in episodes if numbers.intersection(item.steps))
        if episodes and not found:
            continue
        request = build_request(services, part, found, redactor)
        reviews.append(reviewer.review(fit_to_leave(request, redactor)))
    return joined(reviews)


def joined(reviews: Sequence[Review]) -> Review:
    """The reviews of a session's parts as one."""
    if len(reviews) == 1:
        return reviews[0]
    proposals = tuple(proposal for review in reviews for proposal in review.proposals)
    reasons = dict.fromkeys(review.nothing_because for review in reviews if review.nothing_because)
    return Review(
        outcome="; ".join(review.outcome for review in reviews if review.outcome),
        proposals=proposals,
        nothing_because="" if proposals else "; ".join(reasons) or "no part was to be reviewed",
        usage=tuple(usage for review in reviews for usage in review.usage),
        dropped=tuple(line for review in reviews for line in review.dropped),
    )
