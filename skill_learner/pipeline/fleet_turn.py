"""Reviews among many workers of one library: nobody reviews what another does, or lately did, and
the day's ceilings count for all of them together."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Collection, Iterator
from pathlib import PurePath
from typing import Protocol

from skill_learner.interfaces import CallMeter
from skill_learner.ledger import Ceilings
from skill_learner.models import CallResult, Episode, Session, Usage

REVIEWED_ELSEWHERE = "another worker of the fleet reviews this, or did within the hour"


class Fleet(Protocol):
    """What the workers share (`remotes.fleet.Fleet`)."""

    def take(self, episodes: Collection[str]) -> frozenset[str]: ...

    def finish(self, episodes: Collection[str]) -> None: ...

    def release(self, episodes: Collection[str]) -> None: ...

    def reserve(self, tokens: int, *, first: bool, most_reviews: int, most_tokens: int) -> None: ...

    def settle(self, tokens: int) -> None: ...


@contextlib.contextmanager
def fleet_turn(
    fleet: Fleet | None, session: Session, episodes: tuple[Episode, ...]
) -> Iterator[tuple[Episode, ...]]:
    """The episodes that are this worker's to review; a review that fails frees them for others."""
    if fleet is None or not episodes:
        yield episodes
        return
    keys = {episode_key(session, episode): episode for episode in episodes}
    ours = fleet.take(keys)
    try:
        yield tuple(e for e in episodes if episode_key(session, e) in ours)
    except BaseException:
        fleet.release(ours)
        raise
    fleet.finish(ours)


def episode_key(session: Session, episode: Episode) -> str:
    """Equal on every worker for the same experience in the same project; tells nothing of it."""
    project = PurePath(session.project).name
    parts = (project, episode.kind, episode.trigger_key, episode.remedy_key)
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()


class FleetMeter:
    """A `CallMeter` that counts with the fleet first, and then here."""

    def __init__(self, fleet: Fleet, own: CallMeter, ceilings: Ceilings) -> None:
        self._fleet = fleet
        self._own = own
        self._ceilings = ceilings
        self._calls = 0
        self._estimate = 0

    def begin(self, tokens: int) -> None:
        self._fleet.reserve(
            tokens,
            first=self._calls == 0,
            most_reviews=self._ceilings.reviews,
            most_tokens=self._ceilings.tokens,
        )
        self._calls += 1
        self._estimate = tokens
        self._own.begin(tokens)

    def end(self, usage: Usage | None, result: CallResult) -> None:
        spent = self._estimate
        if usage is not None:
            spent = usage.tokens_in + usage.tokens_out
        elif result == "unavailable":
            spent = 0
        self._fleet.settle(spent - self._estimate)
        self._own.end(usage, result)
