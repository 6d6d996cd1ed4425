"""Leave given to a provider is named, and can be taken back."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from click.testing import Result

from skill_learner import consent
from skill_learner.config import SkillLearnerConfig
from skill_learner.wiring import reviewer_name

Run = Callable[..., Result]


@pytest.fixture
def given(run: Run, monkeypatch: pytest.MonkeyPatch) -> SkillLearnerConfig:
    """Leave for a provider that would work."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "x" * 40)
    monkeypatch.setattr("skill_learner.providers._sdk_is_there", lambda name: True)
    config = SkillLearnerConfig.load()
    consent.save_consent(config.paths, "anthropic", "model-x", 20, 1_000)
    return config


def test_what_leaves_is_told_with_the_word_it_was_given_by(
    given: SkillLearnerConfig, run: Run, run_json: Callable[..., Any]
) -> None:
    shown = run("consent").stdout
    assert "Reviewer: anthropic, by your leave of 20" in shown
    assert "To whom: Anthropic, with your API key" in shown
    assert "consent --revoke" in run("status").stdout
    assert "anthropic, by your leave" in run("doctor").stdout
    assert run_json("consent")["reviewer"] == run_json("status")["reviewer"] == "anthropic"


def test_withdrawn_leave_sends_nothing_any_more(given: SkillLearnerConfig, run: Run) -> None:
    shown = run("consent", "--revoke").stdout
    assert "the leave is withdrawn" in shown
    assert "Reviewer: offline." in shown
    assert "Nothing leaves it" in shown
    assert not given.paths.consent.exists()
    assert reviewer_name(SkillLearnerConfig.load()) == "offline"
    assert "no leave was on record" in run("consent", "--revoke").stdout


def test_a_damaged_record_goes_as_well(given: SkillLearnerConfig, run: Run) -> None:
    given.paths.consent.write_text("{")
    assert "the leave is withdrawn" in run("consent", "--revoke").stdout
    assert not given.paths.consent.exists()


def test_a_provider_that_the_settings_name_is_not_withdrawn_unseen(
    given: SkillLearnerConfig, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILL_LEARNER_PROVIDER", "openai")
    result = run("consent", "--revoke")
    assert "Reviewer: openai, as set by environment" in result.stdout
    assert "openai is still asked, as set by environment" in result.stderr


def test_leave_for_words_that_have_changed_since_is_none(
    given: SkillLearnerConfig, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert reviewer_name(given) == "anthropic"
    monkeypatch.setattr(consent, "TEXT_VERSION", consent.TEXT_VERSION + 1)
    assert reviewer_name(given) == "offline"
