"""Silence where nothing is asked: a threshold that holds in small libraries too."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from skill_learner.models import Skill
from skill_learner.ranking.find import find, measure_strength
from skill_learner.ranking.strength import THRESHOLD
from skill_learner.search.documents import document_of
from skill_learner.storage.sqlite import SqliteIndex

IDLE = Path(__file__).with_name("idle_prompts.txt").read_text(encoding="utf-8").splitlines()
LIBRARY = {
    "docker-layer-cache": "Use when docker build ignores the layer cache",
    "pg-lock-timeout": "Use when a Postgres migration hangs on a lock in staging",
    "commit-message": "Use when writing the commit message of a release branch",
    "failing-test-order": "Use when tests fail only in a certain order under pytest",
    "readme-badges": "Use when badges in README files render as broken images",
    "grid-overflow": "Use when a CSS grid overflows its parent on narrow screens",
}
ASKED = {
    "why is the docker layer cache ignored in CI?": "docker-layer-cache",
    "the Postgres migration in staging hangs on a lock": "pg-lock-timeout",
    "pytest tests fail in random order only": "failing-test-order",
    "our css grid overflows on narrow screens": "grid-overflow",
}


@pytest.fixture(scope="module", params=[6, 60])
def index(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[SqliteIndex]:
    made = SqliteIndex(tmp_path_factory.mktemp("index") / "index.sqlite")
    texts = dict(LIBRARY)
    for number in range(request.param - len(LIBRARY)):
        texts[f"service-{number}"] = f"Use when service {number} of the fleet fails to start"
    made.update(
        [
            document_of(Skill(name, text, "Body.\n", "active", "user", "", name, True), name, "1")
            for name, text in texts.items()
        ],
        [],
    )
    yield made
    made.close()


def first(index: SqliteIndex, text: str) -> tuple[str, float]:
    found = find(index, text, {"active"}, None)
    if not found.candidates:
        return "", 0.0
    measure_strength(index, found)
    return found.candidates[0].key, found.candidates[0].strength


def test_idle_prompts_are_many_and_get_nothing(index: SqliteIndex) -> None:
    assert len(set(IDLE)) >= 200
    answered = [prompt for prompt in IDLE if first(index, prompt)[1] >= THRESHOLD]
    assert len(answered) <= len(IDLE) // 100, answered


@pytest.mark.parametrize(("prompt", "name"), ASKED.items())
def test_what_a_skill_is_for_is_strong_enough(index: SqliteIndex, prompt: str, name: str) -> None:
    key, strength = first(index, prompt)
    assert key == name
    assert strength >= THRESHOLD


@pytest.mark.parametrize(
    "prompt",
    [
        "Write a haiku about mountains in autumn",
        "Which tax form do freelancers need in Portugal?",
        "Refactor the payment controller into smaller classes",
    ],
)
def test_unrelated_prompts_are_not(index: SqliteIndex, prompt: str) -> None:
    assert first(index, prompt)[1] < THRESHOLD
