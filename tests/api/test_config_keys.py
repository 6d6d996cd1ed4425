"""Settings: documented defaults, and no key that nothing reads."""

from __future__ import annotations

import ast
from pathlib import Path
from typing import Any

import pytest

from skill_learner import ConfigError, SkillEngine, SkillLearnerConfig, create_skill_loop

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


@pytest.mark.parametrize("config", ["skill-learner.yaml", 5, ["nudge_interval"], {1: 2}])
def test_what_are_no_settings_is_refused(config: Any) -> None:
    words = "unknown key `1`" if isinstance(config, dict) else "must be a SkillLearnerConfig or a m"
    for make in (SkillEngine, lambda given: create_skill_loop(config=given)):
        with pytest.raises(ConfigError, match=words):
            make(config)


def test_a_loop_takes_a_mapping_of_settings_as_an_engine_does(tmp_path: Path) -> None:
    given = {"nudge_interval": 3, "semantic_top_k": 2, "skills_dir": tmp_path / "skills"}
    config = create_skill_loop(config=given, nudge_interval=4).engine.config
    assert (config.nudge_interval, config.semantic_top_k, config.approval) == (4, 2, "auto")
    strict = {**given, "approval": "manual"}
    assert create_skill_loop(config=strict).engine.config.approval == "manual"


def test_the_home_of_nobody_is_no_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    file = tmp_path / "skill-learner.yaml"
    file.write_text("off: false\nskills_dir: ~nosuch/x\n")
    with pytest.raises(ConfigError, match=r"yaml:2: skills_dir is '~nosuch/x', .* no such user"):
        SkillLearnerConfig.from_yaml(file)
    monkeypatch.setenv("SKILL_LEARNER_STATE_DIR", "~nosuch")
    with pytest.raises(ConfigError, match="SKILL_LEARNER_STATE_DIR: state_dir is '~nosuch'"):
        SkillLearnerConfig.load()
    with pytest.raises(ConfigError, match=r"write \./~nosuch/x"):
        SkillLearnerConfig(skills_dir="~nosuch/x")
    assert SkillLearnerConfig(skills_dir="./~nosuch/x").skills_dir == tmp_path / "~nosuch" / "x"
    assert SkillLearnerConfig(skills_dir="~/x").skills_dir == Path.home() / "x"


def test_a_librarys_state_lies_in_it_unless_it_is_the_users(tmp_path: Path) -> None:
    own = SkillLearnerConfig.from_dict({"skills_dir": tmp_path / "mine"})
    assert own.library_paths.root == tmp_path / "mine" / ".state"
    assert SkillLearnerConfig().library_paths.root == Path.home() / ".skill_learner"
