"""Checks and conversions of single setting values; `config` says which keys there are."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from skill_learner.errors import ConfigError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_CHOICES: Mapping[str, tuple[str, ...]] = {
    "storage_backend": ("sqlite", "filesystem"),
    "review_when": ("", "signal", "always"),
    "approval": ("auto", "evidence", "manual"),
    "provider": ("auto", "offline", "claude-cli", "anthropic", "openai", "command"),
    "inject": ("suggest", "body", "off"),
}
_RANGES: Mapping[str, tuple[float, float]] = {
    "nudge_interval": (1, 100_000),
    "review_timeout": (0, 86_400),
    "review_process_timeout": (1, 86_400),
    "provider_timeout": (1, 86_400),
    "embedding_timeout": (0.1, 86_400),
    "exit_wait": (0, 86_400),
    "prompt_tokens": (0, 1_000_000),
    "semantic_top_k": (1, 1_000),
    "semantic_threshold": (-1, 1),
    "daily_reviews": (0, 1_000_000),
    "daily_tokens": (0, 10**12),
    "daily_patches": (0, 1_000_000),
    "max_patch_lines": (0, 10_000),
    "max_active_skills": (1, 1_000_000),
    "journal_days": (0, 36_500),
    "journal_megabytes": (1, 1_000_000),
    "digest_tokens": (500, 10_000_000),
    "index_tokens": (0, 1_000_000),
    "listing_characters": (0, 1_000_000),
    "payload_cap": (1_024, 2**40),
}


_LONGEST_SHOWN = 80
WORDS = "tuple[str, ...]"


def absolute_path(value: str | os.PathLike[str], base: Path) -> Path:
    """`~` expanded, relative to `base`, without `..`; the path need not exist."""
    return Path(os.path.abspath(base / os.path.expanduser(value)))


def require_mapping(values: object) -> None:
    """ConfigError for settings that a Python program gave as something else."""
    if not isinstance(values, Mapping):
        raise ConfigError(
            f"settings must be a SkillLearnerConfig or a mapping, not {shown(values)}",
            "a settings file is read by `SkillLearnerConfig.from_yaml`",
        )


def checked_path(key: str, value: Any, source: str, base: Path) -> Path:
    """`value` as an absolute path, counted from `base`; ConfigError names `source` and key."""
    path = os.fspath(value) if isinstance(value, (str, os.PathLike)) else None
    if not isinstance(path, str) or not path or "\0" in path:
        raise ConfigError(f"{source}: {key} must be a path, not {shown(value)}")
    if path.startswith("~") and os.path.expanduser(path) == path:
        raise ConfigError(
            f"{source}: {key} is {shown(path)}, and there is no such user",
            f"write ./{path} for a folder of that name",
        )
    return absolute_path(path, base)


def unknown_key(key: str, source: str, known: Collection[str]) -> ConfigError:
    near = nearest(key, known)
    hint = f"did you mean `{near}`?" if near else "known keys: " + ", ".join(known)
    return ConfigError(f"{source}: unknown key `{key}`", hint)


def nearest(key: str, known: Iterable[str], likeness: float = 0.75) -> str:
    """The known key that was meant by one that is not known; "" when none is near."""
    import difflib

    found = difflib.get_close_matches(key.lower().replace("-", "_"), known, n=1, cutoff=likeness)
    return found[0] if found else ""


def located_command(command: str, base: Path) -> str:
    """The command with its program's place, where it is written as a path, counted from `base`:
    reviews run it in a folder of their own."""
    import shlex

    try:
        words = shlex.split(command)
    except ValueError:  # the provider says what is wrong with it
        return command
    if not words or os.sep not in words[0]:
        return command
    placed = str(absolute_path(words[0], base))
    return command if placed == words[0] else shlex.join([placed, *words[1:]])


def shown(value: object) -> str:
    """A value as messages show it: not longer than a line, and never a fault of its own."""
    try:
        text = repr(value)
    except (ValueError, RecursionError):  # thousands of digits, or lists in lists
        return f"such a {type(value).__name__}"
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}…"


def checked_value(key: str, kind: str, value: Any, source: str) -> Any:
    """`value` as the type `kind` ("int", "float", "str", "bool" or WORDS), within the key's limits.

    Text from the environment is converted; ConfigError names `source` and key.
    """
    if kind == WORDS:
        return _words(key, value, source)
    if kind.startswith("Mapping"):
        return _checked_remotes(key, value, source)
    converted = _convert(key, kind, value, source)
    if key in _CHOICES and converted not in _CHOICES[key]:
        allowed = ", ".join(repr(choice) for choice in _CHOICES[key])
        raise ConfigError(f"{source}: {key} must be one of {allowed}, not {shown(converted)}")
    if key in _RANGES:
        low, high = _RANGES[key]
        if not low <= converted <= high:
            raise ConfigError(
                f"{source}: {key} must lie in {low:g} to {high:g}, not {shown(converted)}"
            )
    return converted


def _convert(key: str, kind: str, value: Any, source: str) -> Any:
    fault = ConfigError(f"{source}: {key} must be {_KIND_WORDS[kind]}, not {shown(value)}")
    if kind == "str":
        if value is None:
            return ""
        if isinstance(value, str):
            return value
        raise fault
    if kind == "bool":
        if isinstance(value, bool):
            return value
        word = (value if isinstance(value, str) else shown(value)).strip().lower()
        if word in _BOOLEAN_WORDS:
            return _BOOLEAN_WORDS[word]
        raise fault
    if isinstance(value, bool) or not isinstance(value, (str, int, float)):
        raise fault
    try:
        number = float(value)
        if kind == "int":
            # int() of the text itself: a float would lose digits of a big number
            return int(value) if isinstance(value, (str, int)) else _whole(number)
    except (ValueError, OverflowError):
        raise fault from None
    return number


def _words(key: str, value: Any, source: str) -> tuple[str, ...]:
    """A list of texts; one text, as the environment gives it, is split at commas."""
    fault = ConfigError(f"{source}: {key} must be {_KIND_WORDS[WORDS]}, not {shown(value)}")
    if value is None:
        return ()
    items = value.split(",") if isinstance(value, str) else value
    if not isinstance(items, (list, tuple)) or not all(isinstance(item, str) for item in items):
        raise fault
    words = tuple(item.strip() for item in items if item.strip())
    if any("\n" in word or "\0" in word for word in words):
        raise fault
    return words


def _checked_remotes(key: str, value: Any, source: str) -> dict[str, Any]:
    """The remotes by name, each checked; JSON text where it comes from the environment."""
    if value in (None, "", {}):
        return {}
    from skill_learner.remotes.settings import remote_settings

    if isinstance(value, str) and value.strip():
        import json

        try:
            value = json.loads(value)
        except (ValueError, RecursionError):
            raise ConfigError(f"{source}: {key} is not JSON: {{NAME: URL}}") from None
    if not isinstance(value, Mapping):
        raise ConfigError(f"{source}: {key} must map names to addresses")
    remote_settings(value, f"{source}: {key}")
    return {str(name): value[name] for name in value}


def _whole(number: float) -> int:
    if not number.is_integer():
        raise ValueError(number)
    return int(number)


_KIND_WORDS = {
    "int": "a whole number",
    "float": "a number",
    "str": "text",
    "bool": "true or false",
    WORDS: "a list of texts",
}
_BOOLEAN_WORDS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}
