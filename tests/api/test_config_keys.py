"""Settings: documented defaults, and no key that nothing reads."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from skill_learner import ConfigError, SkillLearnerConfig

PACKAGE = Path(__file__).parents[2] / "skill_learner"


def test_the_six_documented_keys_have_their_defaults() -> None:
    config = SkillLearnerConfig()
    assert config.skills_dir == Path.home() / ".skill_learner" / "skills"
    assert config.nudge_interval == 10
    assert config.storage_backend == "sqlite"
    assert config.review_timeout == 30
    assert config.semantic_top_k == 5
    assert config.semantic_threshold == 0.3


def read_attributes() -> set[str]:
    """Every attribute that some module reads (`values()` reads all of them, but not by name)."""
    return {
        node.attr
        for path in PACKAGE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_bytes()))
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Load)
    }


READ = read_attributes()


@pytest.mark.parametrize("key", SkillLearnerConfig().values())
def test_every_key_is_read_by_something(key: str) -> None:
    assert key in READ


def test_the_environment_gives_numbers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MY_NUDGE_INTERVAL", "3")
    monkeypatch.setenv("MY_SEMANTIC_THRESHOLD", "0.5")
    config = SkillLearnerConfig.from_env(prefix="MY_")
    assert (config.nudge_interval, config.semantic_threshold) == (3, 0.5)


def test_an_unknown_key_is_named_with_the_nearest() -> None:
    with pytest.raises(ConfigError) as raised:
        SkillLearnerConfig.from_dict({"nudge_intervall": 3})
    assert "nudge_interval" in raised.value.hint


def test_a_traceback_shows_the_nearest_key() -> None:
    with pytest.raises(ConfigError, match="unknown key `nudge_intervall`; did you mean `nudge_i"):
        SkillLearnerConfig.from_dict({"nudge_intervall": 3})


@pytest.mark.parametrize("path", ["", None, 5, b"skills", "skills\0"])
def test_what_is_no_path_is_refused(path: Any) -> None:
    for make in (
        lambda: SkillLearnerConfig(skills_dir=path),
        lambda: SkillLearnerConfig.from_dict({"skills_dir": path}),
    ):
        with pytest.raises(ConfigError, match="skills_dir must be a path"):
            make()


def test_a_librarys_state_lies_in_it_unless_it_is_the_users(tmp_path: Path) -> None:
    own = SkillLearnerConfig.from_dict({"skills_dir": tmp_path / "mine"})
    assert own.library_paths.root == tmp_path / "mine" / ".state"
    assert SkillLearnerConfig().library_paths.root == Path.home() / ".skill_learner"
