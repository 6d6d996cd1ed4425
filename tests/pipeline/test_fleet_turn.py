"""What many workers of one library do at once: each thing is reviewed by one of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

import pytest

from skill_learner.errors import (
    CeilingReachedError,
    ProviderError,
    ProviderUnavailableError,
    ReviewedElsewhereError,
)
from skill_learner.ledger import Ceilings
from skill_learner.marks import read_mark
from skill_learner.models import CallResult, Episode, Session, Usage
from skill_learner.paths import StatePaths
from skill_learner.pipeline import PipelineServices, run_jobs
from skill_learner.pipeline.fleet_turn import FleetMeter, episode_key, fleet_turn
from skill_learner.reviewers.llm import LLMReviewer
from skill_learner.testing import ScriptedLLM


class RecordingFleet:
    """waits: seconds until others let go of what is not free; 0 when they have reviewed it."""

    def __init__(self, free: int = 100, waits: float = 0.0) -> None:
        self.free = free
        self.waits = waits
        self.told: list[tuple[str, object]] = []

    def take(self, episodes: Collection[str], job: str) -> tuple[frozenset[str], float]:
        ours = frozenset(sorted(episodes)[: self.free])
        return ours, self.waits if len(ours) < len(episodes) else 0.0

    def finish(self, episodes: Collection[str], job: str) -> None:
        self.told.append(("finish", frozenset(episodes)))

    def release(self, episodes: Collection[str], job: str, *, failed: bool) -> None:
        self.told.append(("failed" if failed else "release", frozenset(episodes)))

    def reserve(self, tokens: int, *, first: bool, most_reviews: int, most_tokens: int) -> str:
        if most_reviews == 0:
            raise CeilingReachedError("no more")
        self.told.append(("reserve", (tokens, first)))
        return f"r{len(self.told)}"

    def settle(self, reservation: str, tokens: int, *, made: bool) -> None:
        self.told.append(("settle", (reservation, tokens, made)))

    def close(self) -> None: ...


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
    with fleet_turn(fleet, session(), (episode("a"), episode("b")), "j") as turn:
        assert len(turn.episodes) == 1
    key = episode_key(session(), turn.episodes[0])
    assert fleet.told == [("finish", frozenset({key}))]


@pytest.mark.parametrize(
    ("error", "word"),
    [
        (ValueError("x"), "failed"),
        (ProviderError("x"), "failed"),
        (ProviderUnavailableError("x"), "release"),
        (CeilingReachedError("x"), "release"),
        (KeyboardInterrupt("x"), "release"),
    ],
)
def test_a_review_that_fails_frees_what_it_took(error: BaseException, word: str) -> None:
    fleet = RecordingFleet()
    with (
        pytest.raises(type(error), match="x"),
        fleet_turn(fleet, session(), (episode("a"),), "j"),
    ):
        raise error
    assert [told for told, _ in fleet.told] == [word]


def test_what_others_review_now_is_not_done_yet() -> None:
    """They may die of it; what is ours is let go, too, for it is asked for again with the rest."""
    fleet = RecordingFleet(free=1, waits=800)
    with (
        pytest.raises(ReviewedElsewhereError) as caught,
        fleet_turn(fleet, session(), (episode("a"), episode("b")), "j"),
    ):
        pass
    assert 0 < caught.value.seconds <= 125
    assert [word for word, _ in fleet.told] == ["release"]


def test_a_review_that_took_longer_than_its_lease_is_not_carried_out_twice() -> None:
    fleet = RecordingFleet()

    def review() -> None:
        with fleet_turn(fleet, session(), (episode("a"),), "j") as turn:
            turn.confirm()
            fleet.free = 0
            turn.confirm()

    with pytest.raises(ReviewedElsewhereError):
        review()
    assert "finish" not in [word for word, _ in fleet.told]


def test_without_a_fleet_everything_is_ours() -> None:
    with fleet_turn(None, session(), (episode("a"),), "j") as turn:
        turn.confirm()
        assert turn.episodes == (episode("a"),)


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
        ("settle", ("r1", 70, True)),
        ("reserve", (50, False)),
        ("settle", ("r3", 0, False)),
    ]
    assert own.begun == [100, -1, 50, -1]


def test_a_ceiling_of_the_fleet_stops_the_call_here_too() -> None:
    own = RecordingMeter()
    with pytest.raises(CeilingReachedError):
        FleetMeter(RecordingFleet(), own, Ceilings(0, 0)).begin(1)
    assert own.begun == []


class FullMeter(RecordingMeter):
    def begin(self, tokens: int) -> None:
        raise CeilingReachedError("this machine's day is used")


def test_a_call_that_this_machine_forbids_is_given_back_to_the_fleet() -> None:
    fleet = RecordingFleet()
    with pytest.raises(CeilingReachedError, match="machine"):
        FleetMeter(fleet, FullMeter(), Ceilings(5, 1000)).begin(100)
    assert fleet.told == [("reserve", (100, True)), ("settle", ("r1", 0, False))]


def test_a_review_that_is_no_longer_ours_costs_nothing_more() -> None:
    fleet, own = RecordingFleet(), RecordingMeter()

    def lost() -> None:
        raise ReviewedElsewhereError("gone")

    with pytest.raises(ReviewedElsewhereError):
        FleetMeter(fleet, own, Ceilings(5, 1000), lost).begin(100)
    assert fleet.told == own.begun == []


def test_an_editors_session_waits_until_the_other_worker_is_done(
    make_services: Callable[..., PipelineServices], journal: Any, paths: StatePaths
) -> None:
    fleet = RecordingFleet(free=0, waits=800)
    nothing = {"outcome": "done", "skills": [], "nothing_because": "known already"}
    reviewer = LLMReviewer(ScriptedLLM(nothing), "scripted", "m")
    services = replace(make_services(reviewer), fleet=fleet)
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")

    (waiting,) = run_jobs(services, detached=True)
    assert (waiting.status, waiting.attempts) == ("queued", 0)
    assert waiting.detail == "waits: another worker of the fleet reviews this"
    assert waiting.not_before > time.time()
    assert read_mark(paths, "s1") == 0
    assert run_jobs(services, detached=True) == []

    fleet.free = 100
    (done,) = run_jobs(services)
    assert done.status == "done"
    assert [word for word, _ in fleet.told] == ["release", "reserve", "settle", "finish"]
