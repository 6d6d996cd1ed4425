from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from skill_learner.config import SkillLearnerConfig
from skill_learner.config_trust import trust
from skill_learner.consent import save_consent
from skill_learner.errors import ConfigError
from skill_learner.wiring import build_reviewer, build_services, project_config, reviewer_name


def settings(folder: Path, text: str) -> Path:
    (folder / "skill-learner.yaml").write_text(text, encoding="utf-8")
    return folder


def test_a_project_sets_its_own_harmless_keys_only(tmp_path: Path) -> None:
    config = SkillLearnerConfig(index_tokens=900, nudge_interval=3)
    project = settings(tmp_path, "review_when: signal\ndaily_reviews: 999\n")
    own = project_config(config, project)
    assert own == replace(config, review_when="signal")


@pytest.mark.parametrize("text", ["a: [", "nudge_interval: 2024-13-45", "x: " + "[" * 1_000])
def test_a_project_file_that_does_not_parse_sets_nothing(text: str, tmp_path: Path) -> None:
    config = SkillLearnerConfig(index_tokens=900)
    assert project_config(config, settings(tmp_path, text)) == config


def test_services_know_each_projects_settings(tmp_path: Path) -> None:
    services = build_services(SkillLearnerConfig(state_dir=tmp_path / "state"), None)
    project = settings(tmp_path, "review_when: signal\n")
    assert services.for_project(str(project)).config.review_when == "signal"
    assert services.for_project(str(tmp_path / "other")).config.review_when == ""


def test_a_trusted_file_chooses_the_reviewer_until_it_changes(tmp_path: Path) -> None:
    config = SkillLearnerConfig.load(None, arguments={"state_dir": tmp_path / "state"})
    services = build_services(config, None)
    project = settings(tmp_path, "provider: command\ncommand: ./judge\n")

    def reviewer() -> str:
        own = services.for_project(str(project))
        return own.make_reviewer(own.config).name

    assert reviewer() == "offline"
    file = project / "skill-learner.yaml"
    trust(config.state_dir, file, file.read_bytes())
    assert reviewer() == "llm:command"
    assert services.make_reviewer(services.config).name == "offline"
    file.write_text(file.read_text() + "model: other\n")
    assert reviewer() == "offline"


def test_what_a_command_was_told_is_stronger_than_a_projects_file(tmp_path: Path) -> None:
    told = {"state_dir": tmp_path / "state", "provider": "offline"}
    config = SkillLearnerConfig.load(None, arguments=told)
    project = settings(tmp_path, "provider: command\nmodel: small\n")
    file = project / "skill-learner.yaml"
    trust(config.state_dir, file, file.read_bytes())
    own = project_config(config, project)
    assert (own.provider, own.model) == ("offline", "small")


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
