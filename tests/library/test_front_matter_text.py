"""Cutting a file into front matter and body: the quick way gives what the thorough one gives."""

from __future__ import annotations

import random

import pytest

from skill_learner.errors import SkillFormatError
from skill_learner.skills import front_matter_text
from skill_learner.skills.front_matter_text import SplitText, split_text

PIECES = (
    *("---", "\n", "--- ", "\r\n", "name: x", "----", "<<<<<<< ", "=======", ">>>>>>> a", "..."),
    *("\ufeff", " ", "a", "\t", "---\n", "\n---", "\n---\n", "---\nname: x\n---\n", "text"),
)


def cut(text: str) -> SplitText | str:
    try:
        return split_text(text, "x")
    except SkillFormatError as problem:
        return problem.message


@pytest.mark.parametrize("seed", range(5))
def test_the_quick_way_is_taken_only_where_it_makes_no_difference(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    draw = random.Random(seed)
    texts = [
        draw.choice(("", "---\n")) + "".join(draw.choices(PIECES, k=draw.randrange(12)))
        for _ in range(600)
    ]
    found = [cut(text) for text in texts]
    quick = sum(front_matter_text._split_plainly(text) is not None for text in texts)
    monkeypatch.setattr(front_matter_text, "_split_plainly", lambda text: None)
    assert found == [cut(text) for text in texts]
    assert quick > 20
