"""What a review found and did, as its job keeps it."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from skill_learner.models import Decision, Episode, Review, SkillState

NOTHING_NON_OBVIOUS = "nothing non-obvious"


@dataclass(frozen=True)
class SkillChange:
    """What became of one skill. change: "created", "patched", "archived" or "evidence". scope:
    whose it is."""

    name: str
    state: SkillState
    change: str
    scope: str = ""


@dataclass(frozen=True)
class JobOutcome:
    """What a review found and did.

    detail: one sentence. review is None when no reviewer was asked. failures: decisions that the
    library refused, in words. parked: skills for which a proposal waits. reviewer: the reviewer's
    name, "" when none was asked.
    """

    episodes: tuple[Episode, ...]
    review: Review | None
    decisions: tuple[Decision, ...]
    skills_written: tuple[SkillChange, ...]
    detail: str
    failures: tuple[str, ...] = ()
    parked: tuple[str, ...] = ()
    reviewer: str = ""

    @property
    def concerns_all_projects(self) -> bool:
        return any(change.scope == "user" for change in self.skills_written)

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
            "parked": list(self.parked),
            "calls": [asdict(usage) for usage in review.usage] if review else [],
        }


def nothing(detail: str) -> JobOutcome:
    """The outcome of a review that asked nobody and changed nothing."""
    return JobOutcome((), None, (), (), detail)
