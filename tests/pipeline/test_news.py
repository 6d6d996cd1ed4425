from __future__ import annotations

from pathlib import Path

from skill_learner.paths import StatePaths
from skill_learner.pipeline.news import sentence, tell
from skill_learner.pipeline.outcome import SkillChange


def line(paths: StatePaths) -> Path:
    return paths.news_dir / "p-1"


def test_what_was_learned_is_named(paths: StatePaths) -> None:
    tell(paths, "p-1", [SkillChange("run-the-tests", "active", "created")])
    assert line(paths).read_text() == (
        "skill-learner learned 1 skill from this project's last session: run-the-tests. "
        "See: skill-learner show run-the-tests"
    )


def test_news_that_nobody_has_seen_yet_adds_up(paths: StatePaths) -> None:
    tell(paths, "p-1", [SkillChange("a", "active", "created")])
    tell(paths, "p-1", [SkillChange("b", "candidate", "created")])
    tell(paths, "p-1", [SkillChange("b", "active", "evidence")])
    text = line(paths).read_text()
    assert "learned 2 skills" in text
    assert "a, b" in text
    assert "candidate" not in text


def test_news_that_was_told_is_not_told_again(paths: StatePaths) -> None:
    tell(paths, "p-1", [SkillChange("a", "active", "created")])
    line(paths).unlink()  # the hook took it
    tell(paths, "p-1", [SkillChange("b", "active", "created")])
    assert "session: b. " in line(paths).read_text()


def test_nothing_is_no_news(paths: StatePaths) -> None:
    tell(paths, "p-1", [])
    tell(paths, "p-1", [SkillChange("a", "archived", "archived")])
    assert not line(paths).exists()


def test_it_stays_one_line_of_bounded_length() -> None:
    known = {f"skill-{number}": "learned" for number in range(50)}
    known |= {"x": "improved", "y": "candidate", "z": "candidate"}
    text = sentence(known)
    assert "\n" not in text
    assert "and 47 more" in text
    assert "improved x" in text
    assert "2 candidates wait: skill-learner list --candidates" in text
    assert len(text) < 400
