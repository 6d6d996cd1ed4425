"""What a reviewer is shown of a session: digest, episodes, nearest skills."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from skill_learner.interfaces import ReviewRequest
from skill_learner.learning.digest import build_digest
from skill_learner.learning.redaction import Redactor
from skill_learner.models import Digest, Episode, Session, Skill
from skill_learner.pipeline.services import PipelineServices
from skill_learner.project import project_key

NEIGHBOURS = 5

_SHORTEST_NEEDLE = 200


def build_request(
    services: PipelineServices,
    session: Session,
    episodes: tuple[Episode, ...],
    redactor: Redactor,
) -> ReviewRequest:
    """The request for a reviewer that stays on this machine."""
    budget = services.config.digest_tokens
    digest = build_digest(session, budget_tokens=budget, redactor=redactor)
    neighbours = _neighbours(services, session, digest, episodes)
    return ReviewRequest(session, digest, episodes, neighbours)


def fit_to_leave(request: ReviewRequest, redactor: Redactor) -> ReviewRequest:
    """The request for a reviewer that sends it somewhere. (The digest is redacted already; the one
    that works by rule looks the episodes' texts up in the session, and redacts what it writes.)"""
    return replace(
        request,
        episodes=tuple(redacted_episode(episode, redactor) for episode in request.episodes),
        neighbours=tuple(
            replace(
                skill,
                description=redactor.redact(skill.description),
                body=redactor.redact(skill.body),
            )
            for skill in request.neighbours
        ),
    )


def redacted_episode(episode: Episode, redactor: Redactor) -> Episode:
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
        scope=scope_of(session),
        states=("active", "candidate"),
    )
    return tuple(hit.skill for hit in hits)


def scope_of(session: Session) -> str:
    """The scope of what a session teaches: its project, else the user."""
    return project_key(Path(session.project)) if session.project else "user"
