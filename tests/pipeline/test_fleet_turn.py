"""What many workers of one library do at once: each thing is reviewed by one of them."""

from __future__ import annotations

from collections.abc import Collection

import pytest

from skill_learner.errors import CeilingReachedError
from skill_learner.ledger import Ceilings
from skill_learner.models import CallResult, Episode, Session, Usage
from skill_learner.pipeline.fleet_turn import FleetMeter, episode_key, fleet_turn


class RecordingFleet:
    def __init__(self, free: int = 100) -> None:
        self.free = free
        self.told: list[tuple[str, object]] = []

    def take(self, episodes: Collection[str]) -> frozenset[str]:
        return frozenset(sorted(episodes)[: self.free])

    def finish(self, episodes: Collection[str]) -> None:
        self.told.append(("finish", frozenset(episodes)))

    def release(self, episodes: Collection[str]) -> None:
        self.told.append(("release", frozenset(episodes)))

    def reserve(self, tokens: int, *, first: bool, most_reviews: int, most_tokens: int) -> None:
        if most_reviews == 0:
            raise CeilingReachedError("no more")
        self.told.append(("reserve", (tokens, first)))

    def settle(self, tokens: int) -> None:
        self.told.append(("settle", tokens))


class RecordingMeter:
    def __init__(self) -> None:
        self.begun: list[int] = []

    def begin(self, tokens: int) -> None:
        self.begun.append(tokens)

    def end(self, usage: Usage | None, result: CallResult) -> None:
        self.begun.append(-1)


def episode(key: str) -> Episode:
    return Episode("fixed_failure", (1, 2), "trigger", key, "remedy")


def session(project: str = "/a/shop") -> Session:
    return Session("s-1", "claude-code", project, ())


def test_only_what_is_ours_is_reviewed_and_then_finished() -> None:
    fleet = RecordingFleet(free=1)
    with fleet_turn(fleet, session(), (episode("a"), episode("b"))) as ours:
        assert len(ours) == 1
    key = episode_key(session(), ours[0])
    assert fleet.told == [("finish", frozenset({key}))]


def test_a_review_that_fails_frees_what_it_took() -> None:
    fleet = RecordingFleet()
    with pytest.raises(ValueError, match="x"), fleet_turn(fleet, session(), (episode("a"),)):
        raise ValueError("x")
    assert [word for word, _ in fleet.told] == ["release"]


def test_without_a_fleet_everything_is_ours() -> None:
    with fleet_turn(None, session(), (episode("a"),)) as ours:
        assert ours == (episode("a"),)


def test_the_same_experience_has_one_key_wherever_the_project_lies() -> None:
    assert episode_key(session("/a/shop"), episode("a")) == episode_key(
        session("/b/shop"), episode("a")
    )
    assert episode_key(session("/a/shop"), episode("a")) != episode_key(
        session("/a/bank"), episode("a")
    )


def test_calls_count_with_the_fleet_before_they_are_made() -> None:
    fleet, own = RecordingFleet(), RecordingMeter()
    meter = FleetMeter(fleet, own, Ceilings(5, 1000))
    meter.begin(100)
    meter.end(Usage("p", "m", 30, 40), "ok")
    meter.begin(50)
    meter.end(None, "unavailable")
    assert fleet.told == [
        ("reserve", (100, True)),
        ("settle", -30),
        ("reserve", (50, False)),
        ("settle", -50),
    ]
    assert own.begun == [100, -1, 50, -1]


def test_a_ceiling_of_the_fleet_stops_the_call_here_too() -> None:
    own = RecordingMeter()
    with pytest.raises(CeilingReachedError):
        FleetMeter(RecordingFleet(), own, Ceilings(0, 0)).begin(1)
    assert own.begun == []
