from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import (
    ConfigError,
    ProviderError,
    ProviderTimeoutError,
    ProviderUnavailableError,
)
from skill_learner.interfaces import LLMProvider
from skill_learner.providers import PROVIDERS, choose_provider, detect, make_provider
from skill_learner.providers.base import (
    ChatRequest,
    Completion,
    GuardedProvider,
    TransientProviderError,
)


class Scripted:
    name = "scripted"

    def __init__(self, *steps: Exception | Completion) -> None:
        self.steps = list(steps)
        self.timeouts: list[float] = []

    def send(self, request: ChatRequest, timeout: float) -> Completion:
        self.timeouts.append(timeout)
        step = self.steps.pop(0)
        if isinstance(step, Exception):
            raise step
        return step


class Clock:
    def __init__(self) -> None:
        self.now = 0.0
        self.pauses: list[float] = []

    def __call__(self) -> float:
        return self.now

    def sleep(self, seconds: float) -> None:
        self.pauses.append(seconds)
        self.now += seconds


def guarded(backend: Scripted, clock: Clock, timeout: float = 60.0) -> GuardedProvider:
    return GuardedProvider(
        backend, timeout=timeout, secrets=["s3cret"], sleep=clock.sleep, clock=clock
    )


def test_pauses_grow_and_heed_the_servers_wish() -> None:
    clock = Clock()
    backend = Scripted(
        TransientProviderError("busy"),
        TransientProviderError("busy", retry_after=7.0),
        Completion("fine"),
    )
    assert guarded(backend, clock).complete([]).content == "fine"
    assert clock.pauses == [1.0, 7.0]
    assert backend.timeouts == [60.0, 59.0, 52.0]


def test_no_pause_goes_beyond_the_timeout() -> None:
    clock = Clock()
    backend = Scripted(TransientProviderError("busy", retry_after=3_600.0))
    with pytest.raises(ProviderError, match="busy"):
        guarded(backend, clock).complete([])
    assert clock.pauses == []


@pytest.mark.parametrize(
    ("raised", "expected"),
    [
        (ProviderUnavailableError("no"), ProviderUnavailableError),
        (TimeoutError("slow"), ProviderTimeoutError),
        (ValueError("odd s3cret"), ProviderError),
        (KeyError("x"), ProviderError),
    ],
)
def test_whatever_is_raised_is_a_provider_error(
    raised: Exception, expected: type[ProviderError]
) -> None:
    backend = Scripted(raised)
    with pytest.raises(expected) as error:
        guarded(backend, Clock()).complete([])
    assert "s3cret" not in str(error.value)
    assert len(backend.timeouts) == 1


def test_the_registry_makes_providers(tmp_path: Path) -> None:
    config = SkillLearnerConfig.from_dict(
        {"state_dir": tmp_path, "command": "llm", "model": "m", "provider": "command"}
    )
    for name in PROVIDERS:
        assert isinstance(make_provider(name, config, {}), LLMProvider)
    with pytest.raises(ConfigError) as error:
        make_provider("gpt", config, {})
    assert "claude-cli" in error.value.hint


@pytest.fixture
def logged_in_client(tmp_path: Path) -> dict[str, str]:
    client = tmp_path / "bin" / "claude"
    client.parent.mkdir()
    client.write_text("#!/bin/sh\n")
    client.chmod(0o755)
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / ".credentials.json").write_text("{}")
    return {"PATH": str(client.parent), "HOME": str(tmp_path)}


Config = Callable[..., SkillLearnerConfig]


@pytest.fixture
def make_config(tmp_path: Path) -> Config:
    return lambda **values: SkillLearnerConfig.from_dict({"state_dir": tmp_path / "s", **values})


def test_auto_takes_the_client_then_a_key_then_nobody(
    make_config: Config, logged_in_client: dict[str, str]
) -> None:
    config = make_config()
    key = {"ANTHROPIC_API_KEY": "k"}
    nothing = {"PATH": "/nonexistent", "HOME": "/nonexistent"}
    assert detect(config, {**logged_in_client, **key}) == "claude-cli"
    assert detect(config, {**nothing, **key}) == "anthropic"
    assert detect(config, {**nothing, "OPENAI_API_KEY": "k"}) == "openai"
    assert detect(config, nothing) == "offline"


def test_a_client_without_a_login_is_not_taken(
    make_config: Config, logged_in_client: dict[str, str], tmp_path: Path
) -> None:
    (tmp_path / ".claude" / ".credentials.json").unlink()
    assert detect(make_config(), logged_in_client) == "offline"


def test_nothing_leaves_without_consent(
    make_config: Config, logged_in_client: dict[str, str]
) -> None:
    config = make_config()
    assert choose_provider(config, logged_in_client, None) == "offline"
    assert choose_provider(config, logged_in_client, "offline") == "offline"
    assert choose_provider(config, logged_in_client, "auto") == "claude-cli"
    assert choose_provider(config, logged_in_client, "claude-cli") == "claude-cli"


def test_consent_to_one_provider_is_none_to_another(
    make_config: Config, logged_in_client: dict[str, str]
) -> None:
    only_key = {"PATH": "/nonexistent", "HOME": "/nonexistent", "OPENAI_API_KEY": "k"}
    assert choose_provider(make_config(), only_key, "claude-cli") == "offline"
    assert choose_provider(make_config(), logged_in_client, "openai") == "offline"


def test_a_provider_that_is_named_is_used(make_config: Config) -> None:
    assert choose_provider(make_config(provider="openai"), {}, None) == "openai"
