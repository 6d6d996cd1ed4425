"""A review job and the wish that makes one, as data."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

JobStatus = Literal["queued", "running", "done", "failed", "abandoned"]
EDITOR = "editor"
"""Owner of the jobs that hooks ask for; any other owner runs its jobs itself."""

OPEN: frozenset[str] = frozenset({"queued", "running"})
CLOSED: frozenset[str] = frozenset({"done", "failed", "abandoned"})
_REASON_RANK = {"recover": 0, "nudge": 1, "session_end": 2, "manual": 3}


@dataclass(frozen=True)
class Wish:
    """What somebody wants reviewed. owner: `editor` for hooks, `library` for a host program, whose
    jobs run only under the `provider` they were made for ("" = whichever is configured)."""

    session: str
    project: str
    project_key: str
    editor: str
    reason: str
    transcript: str = ""
    journal: str = ""
    owner: str = EDITOR
    provider: str = ""
    not_before: float = 0.0


@dataclass(frozen=True)
class Job:
    """One review of one session.

    detail: one sentence on how it stands. attempts: how often it was started. not_before: epoch
    seconds before which `take` passes it over. again: reason of a wish that came while it ran.
    result: what the review found, as plain JSON (see `pipeline`).
    """

    id: str
    session: str
    project: str
    project_key: str
    editor: str
    reason: str
    status: JobStatus
    detail: str = ""
    attempts: int = 0
    created: float = 0.0
    updated: float = 0.0
    transcript: str = ""
    journal: str = ""
    owner: str = EDITOR
    provider: str = ""
    not_before: float = 0.0
    again: str = ""
    result: Mapping[str, Any] = field(default_factory=dict)

    @property
    def is_open(self) -> bool:
        return self.status in OPEN


def subject(wanted: Job | Wish) -> tuple[str, ...]:
    """What a job reviews: there is one open job for each. Of an editor it is a session, whatever
    files tell of it; of a host program one conversation, for the provider it was made for."""
    if wanted.owner == EDITOR:
        return wanted.owner, wanted.session
    return wanted.owner, wanted.session, wanted.provider, wanted.transcript


def merged(job: Job, wish: Wish) -> Job:
    """An open job with a further wish for its session."""
    reason = max(job.reason, wish.reason, key=lambda name: _REASON_RANK.get(name, 0))
    if job.status == "running":
        return replace(job, again=wish.reason)
    return replace(
        job,
        reason=reason,
        transcript=wish.transcript or job.transcript,
        journal=wish.journal or job.journal,
        not_before=min(job.not_before, wish.not_before),
    )
