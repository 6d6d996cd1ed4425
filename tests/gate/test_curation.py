"""Merges that are proposed for a library: those that comparing each with each finds, for less."""

from __future__ import annotations

import random
from collections.abc import Collection, Mapping, Sequence

import pytest

from skill_learner import curation
from skill_learner.curation import Caps, Life, curate
from skill_learner.learning import near_skills
from skill_learner.learning.duplicates import NEAR, similarity
from skill_learner.models import MergeSkills, Skill

_WORDS = [f"{head}{tail}" for head in "bdfgklmnprst" for tail in ("ake", "olu", "ins", "ery")]


def _text(dice: random.Random, words: int, vocabulary: int) -> list[str]:
    known = _WORDS[:vocabulary]
    return dice.choices(known, [1 / (place + 2) for place in range(len(known))], k=words)


def _changed(dice: random.Random, words: Sequence[str], share: float) -> list[str]:
    return [dice.choice(_WORDS) if dice.random() < share else word for word in words]


def _library(seed: int) -> list[Skill]:
    """Some skills of their own, and some that others were made from by changing a part."""
    dice = random.Random(seed)
    vocabulary = dice.choice((4, 12, 48))
    parts: list[tuple[list[str], list[str], list[str]]] = []
    for _ in range(dice.randint(2, 40)):
        if parts and dice.random() < 0.5:
            share = dice.random()
            made = dice.choice(parts)
            parts.append((
                _changed(dice, made[0], share), _changed(dice, made[1], share),
                _changed(dice, made[2], share * dice.random()),
            ))  # fmt: skip
        else:
            lengths = (dice.randint(1, 3), dice.randint(0, 12), dice.choice((0, 3, 11, 40, 120)))
            parts.append(tuple(_text(dice, length, vocabulary) for length in lengths))  # type: ignore[arg-type]
    return [
        Skill(
            "-".join((*name, str(number))), f"Use when {' '.join(description)}", " ".join(body),
            dice.choice(("active", "candidate")), dice.choice(("user", "p-1")), "/x", "h", True,
        )
        for number, (name, description, body) in enumerate(parts)
    ]  # fmt: skip


def _each_with_each(
    skills: Sequence[Skill], lives: Mapping[str, Life], pins: Collection[str]
) -> tuple[MergeSkills, ...]:
    best_first = sorted(skills, key=lambda one: curation._worth(one, lives, pins), reverse=True)
    taken: set[str] = set()
    found = []
    for target in best_first:
        if target.name in taken:
            continue
        near = [
            (other, score)
            for other in best_first
            if other.name not in taken | {target.name} | set(pins)
            and other.scope == target.scope
            and (score := similarity(_told(target), _told(other))) >= NEAR
        ]
        if near:
            taken |= {target.name} | {other.name for other, _ in near}
            likeness = ", ".join(f"{other.name} {score:.2f}" for other, score in near)
            names = tuple(other.name for other, _ in near)
            found.append(MergeSkills(target.name, names, f"near-duplicates ({likeness})"))
    return tuple(found)


def _told(skill: Skill) -> tuple[str, str, str]:
    return skill.name, skill.description, skill.body


@pytest.mark.parametrize("first", range(0, 120, 20))
def test_merges_are_those_that_comparing_each_with_each_finds(first: int) -> None:
    merges = 0
    for seed in range(first, first + 20):
        skills = _library(seed)
        dice = random.Random(seed)
        pins = [skill.name for skill in skills if dice.random() < 0.1]
        lives = {skill.name: Life(uses=dice.randint(0, 3)) for skill in skills}
        found = curate(skills, lives, pins, Caps()).merges
        assert found == _each_with_each(skills, lives, pins), f"seed {seed}"
        merges += len(found)
    assert merges


def test_skills_that_share_only_common_words_are_not_compared(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    dice = random.Random(1)
    rare = ["".join(dice.choices("bcdfgklmnprst", k=7)) for _ in range(20_000)]
    skills = []
    for number in range(200):
        words = [*_text(dice, 60, 48), *dice.choices(rare, k=60)]
        dice.shuffle(words)
        skills.append(
            Skill(f"skill-{number}", " ".join(words[:10]), " ".join(words), "active", "user", "/x",
                  "h", True)
        )  # fmt: skip
    skills.append(
        Skill("twin", skills[7].description, skills[7].body, "active", "user", "/x", "h", True)
    )
    compared = []
    likeness = near_skills.likeness
    monkeypatch.setattr(
        near_skills, "likeness", lambda *both: (compared.append(1), likeness(*both))[1]
    )
    (merge,) = curate(skills, {}, (), Caps(active_skills=1_000)).merges
    assert {merge.name, *merge.absorbed} == {"skill-7", "twin"}
    assert len(compared) < len(skills)
