"""The user's leave, and the words it is given on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from skill_learner import consent
from skill_learner.consent import (
    Consent,
    consent_text,
    load_consent,
    save_consent,
)
from skill_learner.paths import StatePaths


@pytest.fixture
def state(tmp_path: Path) -> StatePaths:
    return StatePaths(tmp_path / "state")


@pytest.mark.parametrize("provider", ["claude-cli", "anthropic", "openai", "command", "other"])
def test_the_text_says_what_to_whom_and_how_much(provider: str) -> None:
    text = consent_text(provider, "model-x", 20, 1_000_000)
    assert "digest" in text
    assert "To whom:" in text
    assert "model-x" in text
    assert "20 reviews and 1,000,000 tokens a day" in text


def test_offline_sends_nothing_and_says_so() -> None:
    assert "Nothing leaves it" in consent_text("offline", "", 20, 1_000)


def test_it_is_kept(state: StatePaths) -> None:
    assert load_consent(state) is None
    saved = save_consent(state, "claude-cli", "", 20, 1_000)
    assert load_consent(state) == saved
    assert state.consent.stat().st_mode & 0o777 == 0o600
    assert saved.covers("claude-cli")
    assert not saved.covers("anthropic")


def test_leave_for_other_words_is_no_leave(monkeypatch: pytest.MonkeyPatch) -> None:
    given = Consent("anthropic", "", 1, 1, 0.0)
    monkeypatch.setattr(consent, "TEXT_VERSION", consent.TEXT_VERSION + 1)
    assert not given.covers("anthropic")


@pytest.mark.parametrize("text", ["", "{", "[]", "{}", json.dumps({"provider": "x"})])
def test_a_damaged_record_is_no_leave(state: StatePaths, text: str) -> None:
    state.root.mkdir()
    state.consent.write_text(text)
    assert load_consent(state) is None
