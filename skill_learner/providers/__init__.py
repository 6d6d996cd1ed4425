"""Ways to ask a language model. Add one: a module with a `Backend`, and a line in `PROVIDERS`."""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from skill_learner.errors import ConfigError
from skill_learner.interfaces import PlainLLMProvider
from skill_learner.providers.base import Backend, GuardedProvider, find_key


class ProviderSettings(Protocol):
    """The settings a provider may read (`SkillLearnerConfig` has them all)."""

    @property
    def provider(self) -> str: ...
    @property
    def model(self) -> str: ...
    @property
    def base_url(self) -> str: ...
    @property
    def command(self) -> str: ...
    @property
    def state_dir(self) -> Path: ...
    @property
    def provider_timeout(self) -> float: ...


Environment = Mapping[str, str]


def _claude_cli(config: ProviderSettings, env: Environment) -> Backend:
    from skill_learner.providers.claude_cli import ClaudeCli

    return ClaudeCli(model=config.model, env=env, cwd=_neutral_folder(config))


def _anthropic(config: ProviderSettings, env: Environment) -> Backend:
    from skill_learner.providers.anthropic import AnthropicBackend

    return AnthropicBackend(model=config.model, env=env, base_url=config.base_url)


def _openai(config: ProviderSettings, env: Environment) -> Backend:
    from skill_learner.providers.openai import OpenAIBackend

    return OpenAIBackend(model=config.model, env=env, base_url=config.base_url)


def _command(config: ProviderSettings, env: Environment) -> Backend:
    from skill_learner.providers.command import CommandBackend

    return CommandBackend(
        command=config.command, model=config.model, env=env, cwd=_neutral_folder(config)
    )


PROVIDERS: dict[str, Callable[[ProviderSettings, Environment], Backend]] = {
    "claude-cli": _claude_cli,
    "anthropic": _anthropic,
    "openai": _openai,
    "command": _command,
}

_KEYS = ("ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OPENAI_API_KEY")
_ATTEMPTS = {"claude-cli": 1}  # the client asks again by itself


def make_provider(name: str, config: ProviderSettings, env: Environment) -> PlainLLMProvider:
    """The provider of that name; ConfigError, with the list, for a name that is none."""
    factory = PROVIDERS.get(name)
    if factory is None:
        known = ", ".join(["auto", "offline", *PROVIDERS])
        raise ConfigError(f"provider: unknown name `{name}`", f"known names: {known}")
    backend = factory(config, env)
    return GuardedProvider(
        backend,
        timeout=config.provider_timeout,
        attempts=_ATTEMPTS.get(name, 3),
        secrets=[find_key(env, [key]) for key in _KEYS],
    )


@dataclass(frozen=True)
class _Connection:
    """Settings of a provider for a program of its own."""

    provider: str
    model: str
    base_url: str
    command: str
    state_dir: Path
    provider_timeout: float


def connect(
    name: str,
    *,
    model: str = "",
    base_url: str = "",
    timeout: float = 180.0,
    env: Environment | None = None,
) -> PlainLLMProvider:
    """An `LLMProvider` for Python programs: "anthropic", "openai" (or a server that speaks its
    language, by `base_url`) or "claude-cli". Keys come from the environment, the rest
    has the providers' own defaults; nothing is asked before the first `complete`."""
    from skill_learner.paths import default_state_dir

    connection = _Connection(name, model, base_url, "", default_state_dir(), timeout)
    return make_provider(name, connection, os.environ if env is None else env)


def choose_provider(config: ProviderSettings, env: Environment, consented: str | None) -> str:
    """The name of the provider to use: one of `PROVIDERS`, or "offline".

    A provider that is named in the settings is used as named: only the user's own file, the
    environment and arguments can name one, which is consent. `auto` leaves the machine only after
    the consent of `init` (`consented`: the provider it was given for, "auto" for any, None for
    none), and then only to that one.
    """
    if config.provider != "auto":
        return config.provider
    if not consented or consented == "offline":
        return "offline"
    if consented == "auto":
        return detect(config, env)
    return consented if is_usable(consented, config, env) else "offline"


def detect(config: ProviderSettings, env: Environment) -> str:
    """What `auto` means on this machine: the client when it is there and logged in, else a key in
    the environment, else "offline". Asks nobody."""
    order = ("claude-cli", "anthropic", "openai")
    return next((name for name in order if is_usable(name, config, env)), "offline")


def is_usable(name: str, config: ProviderSettings, env: Environment) -> bool:
    """Whether what the provider needs seems to be there, judged without asking it."""
    if name == "claude-cli":
        from skill_learner.providers.claude_cli import find_client, is_logged_in

        return find_client(env) is not None and is_logged_in(env)
    if name == "anthropic":
        return _sdk_is_there(name) and bool(find_key(env, _KEYS[:2]))
    if name == "openai":
        return _sdk_is_there(name) and bool(find_key(env, ["OPENAI_API_KEY"]))
    return name == "command" and bool(config.command)


def install_line(name: str) -> str:
    """How the SDK of a provider gets beside the program, however that was installed."""
    return f"`pip install 'skill-learner[{name}]'`, or `pipx inject skill-learner {name}`"


def keys_without_sdk(env: Environment) -> list[str]:
    """Providers whose key is in the environment, and whose SDK is not installed."""
    keys = {"anthropic": _KEYS[:2], "openai": ["OPENAI_API_KEY"]}
    return [name for name, of in keys.items() if find_key(env, of) and not _sdk_is_there(name)]


_NEEDS = {
    "claude-cli": "it needs a `claude` on PATH that is logged in",
    "anthropic": f"it needs ANTHROPIC_API_KEY, and its package: {install_line('anthropic')}",
    "openai": f"it needs OPENAI_API_KEY, and its package: {install_line('openai')}",
    "command": "it needs the setting `command`",
}


def what_is_missing(name: str, config: ProviderSettings, env: Environment) -> str:
    """Why the provider cannot work here and now, in words for the user; "" when it seems to."""
    import shutil

    if name == "openai" and _sdk_is_there(name) and (config.base_url or "OPENAI_BASE_URL" in env):
        return ""  # a server of one's own may want no key
    if name not in _NEEDS:
        return ""
    if not is_usable(name, config, env):
        return _NEEDS[name]
    if name != "command":
        return ""
    from skill_learner.providers.command import split_command

    try:
        program = split_command(config.command)[0]
    except ConfigError as problem:
        return problem.message
    found = shutil.which(program, path=env.get("PATH"))
    return "" if found else f"`command` starts {program}, which is not found"


def _sdk_is_there(name: str) -> bool:
    import importlib.util

    return importlib.util.find_spec(name) is not None


def _neutral_folder(config: ProviderSettings) -> Path:
    """Nobody's project, so that no project's settings or hooks apply there."""
    return config.state_dir if config.state_dir.is_dir() else Path(config.state_dir.anchor or "/")
