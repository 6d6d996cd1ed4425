from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skill_learner.config import SkillLearnerConfig
from skill_learner.consent import save_consent
from skill_learner.errors import ConfigError
from skill_learner.wiring import build_reviewer, build_services, project_config, reviewer_name


def settings(folder: Path, text: str) -> Path:
    (folder / "skill-learner.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_project_sets_its_own_harmless_keys_only(tmp_path: Path) -> None:
    config = SkillLearnerConfig(index_tokens=900, nudge_interval=3)
    project = settings(tmp_path, "review_when: always\ndaily_reviews: 999\n")
    own = project_config(config, project)
    assert own == replace(config, review_when="always")


def test_a_project_file_that_does_not_parse_sets_nothing(tmp_path: Path) -> None:
    config = SkillLearnerConfig(index_tokens=900)
    assert project_config(config, settings(tmp_path, "a: [")) == config


def test_services_know_each_projects_settings(tmp_path: Path) -> None:
    services = build_services(SkillLearnerConfig(state_dir=tmp_path / "state"), None)
    project = settings(tmp_path, "review_when: always\n")
    assert services.for_project(str(project)).config.review_when == "always"
    assert services.for_project(str(tmp_path / "other")).config.review_when == ""


def test_without_leave_a_key_in_the_environment_changes_nothing() -> None:
    config = SkillLearnerConfig()
    environ = {"ANTHROPIC_API_KEY": "sk-ant-not-a-key"}
    assert reviewer_name(config, environ) == "offline"
    save_consent(config.paths, "anthropic", "", 20, 1_000_000)
    assert reviewer_name(config, environ) == "anthropic"
    assert reviewer_name(config, {}) == "offline"


def test_a_provider_that_is_named_is_used_as_named() -> None:
    config = SkillLearnerConfig(provider="command", command="my-model")
    assert reviewer_name(config, {}) == "command"
    assert build_reviewer(config, {}).name == "llm:command"
    with pytest.raises(ConfigError, match="provider must be one of"):
        build_reviewer(replace(config, provider="gpt"), {})


def test_offline_needs_nothing() -> None:
    assert build_reviewer(SkillLearnerConfig(provider="offline"), {}).name == "offline"
