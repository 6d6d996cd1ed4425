"""Reviews among many workers of one library: nobody reviews what another does, or lately did, and
the day's ceilings count for all of them together."""

from __future__ import annotations

import contextlib
import hashlib
import random
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass
from pathlib import PurePath
from typing import Protocol

from skill_learner.errors import (
    ProviderUnavailableError,
    ReviewedElsewhereError,
    ReviewWaitsError,
)
from skill_learner.interfaces import CallMeter
from skill_learner.ledger import Ceilings
from skill_learner.models import CallResult, Episode, Session, Usage

REVIEWED_ELSEWHERE = "another worker of the fleet reviewed this within the hour"
_LOOK_AGAIN_SECONDS = 120.0
"""Others mostly end long before their lease does."""


class Fleet(Protocol):
    """What the workers share (`remotes.fleet.Fleet`)."""

    def take(self, episodes: Collection[str], job: str) -> tuple[frozenset[str], float]: ...

    def finish(self, episodes: Collection[str], job: str) -> None: ...

    def release(self, episodes: Collection[str], job: str, *, failed: bool) -> None: ...

    def reserve(self, tokens: int, *, first: bool, most_reviews: int, most_tokens: int) -> str: ...

    def settle(self, reservation: str, tokens: int, *, made: bool) -> None: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class FleetTurn:
    """episodes: what is this worker's to review. confirm: raises ReviewedElsewhereError when some
    of it is no longer, since the review took longer than a lease; else the lease begins anew."""

    episodes: tuple[Episode, ...]
    confirm: Callable[[], None] = lambda: None


@contextlib.contextmanager
def fleet_turn(
    fleet: Fleet | None, session: Session, episodes: tuple[Episode, ...], job: str
) -> Iterator[FleetTurn]:
    """The episodes that are this worker's to review; a review that fails frees them for others.
    While others review some of them ReviewedElsewhereError is raised: they may die of it, so
    that these episodes are not done yet."""
    if fleet is None or not episodes:
        yield FleetTurn(episodes)
        return
    keys = {episode_key(session, episode): episode for episode in episodes}
    ours = _taken(fleet, keys, job)

    def confirm() -> None:
        if _taken(fleet, ours, job) != ours:
            raise _not_ours(0.0)

    try:
        yield FleetTurn(tuple(e for e in episodes if episode_key(session, e) in ours), confirm)
    except BaseException as error:
        fleet.release(ours, job, failed=_counts_as_failed(error))
        raise
    fleet.finish(ours, job)


def _taken(fleet: Fleet, keys: Collection[str], job: str) -> frozenset[str]:
    ours, seconds = fleet.take(keys, job)
    if seconds > 0:
        fleet.release(ours, job, failed=False)
        raise _not_ours(seconds)
    return ours


def _not_ours(seconds: float) -> ReviewedElsewhereError:
    return ReviewedElsewhereError(
        "another worker of the fleet reviews this",
        "it is looked at again later",
        seconds=min(seconds, _LOOK_AGAIN_SECONDS) + random.uniform(0, 5),
    )


def _counts_as_failed(error: BaseException) -> bool:
    """Whether the review itself failed, and not what stopped it would stop any."""
    passing = (ReviewWaitsError, ProviderUnavailableError)
    return isinstance(error, Exception) and not isinstance(error, passing)


def episode_key(session: Session, episode: Episode) -> str:
    """Equal on every worker for the same experience in the same project; tells nothing of it."""
    project = PurePath(session.project).name
    parts = (project, episode.kind, episode.trigger_key, episode.remedy_key)
    return hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()


class FleetMeter:
    """A `CallMeter` that counts with the fleet first, and then here.

    confirm: raises when the review is no longer this worker's, before it costs more."""

    def __init__(
        self,
        fleet: Fleet,
        own: CallMeter,
        ceilings: Ceilings,
        confirm: Callable[[], None] = lambda: None,
    ) -> None:
        self._fleet = fleet
        self._own = own
        self._ceilings = ceilings
        self._confirm = confirm
        self._calls = 0
        self._estimate = 0
        self._reservation = ""

    def begin(self, tokens: int) -> None:
        self._confirm()
        self._reservation = self._fleet.reserve(
            tokens,
            first=self._calls == 0,
            most_reviews=self._ceilings.reviews,
            most_tokens=self._ceilings.tokens,
        )
        try:
            self._own.begin(tokens)
        except BaseException:
            self._fleet.settle(self._reservation, 0, made=False)
            raise
        self._calls += 1
        self._estimate = tokens

    def end(self, usage: Usage | None, result: CallResult) -> None:
        spent = self._estimate
        made = result != "unavailable"
        if usage is not None:
            spent = usage.tokens_in + usage.tokens_out
        elif not made:
            spent = 0
        self._fleet.settle(self._reservation, spent, made=made)
        self._own.end(usage, result)
