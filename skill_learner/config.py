"""Settings: their names, defaults and checks, and where a value may come from.

Precedence, strongest first: arguments, environment (`SKILL_LEARNER_<KEY>`), the project's
`skill-learner.yaml` (of one that is not trusted only what costs no more: `config_project`), the
user's `skill-learner.yaml`, defaults.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path

from skill_learner.config_values import (
    checked_path,
    checked_value,
    located_command,
    nearest,
    require_mapping,
    unknown_key,
)
from skill_learner.errors import ConfigError
from skill_learner.paths import StatePaths, default_state_dir

TYPE_CHECKING = False  # `typing` itself would cost every program that opens a library
if TYPE_CHECKING:
    from typing import Any

    from skill_learner.privacy import PrivacyRules

FILE_NAME = "skill-learner.yaml"
ENV_PREFIX = "SKILL_LEARNER_"

_SWITCHES = frozenset(
    {"REVIEW", "DEBUG", "SHARED", "CLAUDE", "CLIENT_TESTS", "TEST_VENV", "CLAUDE_BINARY"}
)
"""Variables with our prefix that are no settings: markers between our processes, test switches."""

_UNSET = Path("<default>")
_HERE = Path()
"""The current folder, which is looked at only for a relative path: it may be gone."""


class _PathSetting:
    """A path-valued field that takes a string too, expands `~` and is absolute when read.

    A default is worked out on reading, since it depends on the home folder of the moment and, for
    the library, on where the state is.
    """

    def __init__(self, default: Callable[[SkillLearnerConfig], Path]) -> None:
        self._default = default

    def __set_name__(self, owner: type, name: str) -> None:
        self._slot = f"_{name}"

    def __get__(self, instance: SkillLearnerConfig | None, owner: type) -> Path:
        if instance is None:
            return _UNSET
        value: Path = instance.__dict__[self._slot]
        return self._default(instance) if value is _UNSET else value

    def __set__(self, instance: SkillLearnerConfig, value: str | os.PathLike[str]) -> None:
        if value is not _UNSET:
            value = checked_path(self._slot[1:], value, "argument", _HERE)
        instance.__dict__[self._slot] = value


@dataclass(frozen=True)
class SkillLearnerConfig:
    """All settings. Values are converted and checked on construction; ConfigError names the key.

    skills_dir: the library; below `state_dir` unless set.
    nudge_interval: review after this many tool calls or turns.
    review_timeout: seconds a caller of the Python API ever waits for a review.
    exit_wait: seconds the interpreter's exit waits for one; what is left runs with the next engine.
    prompt_tokens: budget of the skills prompt that the Python API injects.
    review_process_timeout: seconds until a detached review is stopped.
    semantic_top_k, semantic_threshold: most results and least cosine of a semantic search.
    embedding_timeout: seconds that a search waits for an embedding provider.
    provider: "auto", "offline" or a name of `providers.PROVIDERS`; model, base_url: "" = its own.
    command: program of the `command` provider, split as a shell splits words, run without a shell.
    review_when: "signal" (only when a rule found something), "always", "" = the caller's default.
    daily_reviews, daily_tokens: ceilings of LLM use in a day; 0 = none at all.
    daily_patches, max_patch_lines: patches applied unasked in a day, and their size; what is more
    waits for the user. max_active_skills: of one project; above it new skills wait.
    approval: "auto", "evidence" or "manual": when a new skill becomes active.
    digest_tokens, index_tokens: budgets of what a reviewer sees and of the published index.
    payload_cap: bytes above which a hook keeps only head and tail of a payload.
    provider_timeout: seconds for one LLM call, its retries included.
    ignore_learner_sessions: skip headless sessions that other learning tools run.
    journal_days, journal_megabytes: how long, and how much of them, journals are kept.
    ignore_projects, ignore_paths, ignore_tools: never recorded (see `privacy.PrivacyRules`).
    off: the hooks leave at once.
    inject: what a prompt hook may add for a matching prompt: "suggest" (name and why), "body" (the
    text of a short skill that matches strongly), "off".
    listing_characters: room for learned skills in the editor's listing; 0 = what the editor leaves.
    remotes: repositories and databases that the library is shared with (`remotes.settings`).
    origins: for each key where its value came from; warnings: what was ignored, in words.
    """

    skills_dir: _PathSetting = _PathSetting(lambda config: config.state_dir / "skills")
    nudge_interval: int = 10
    storage_backend: str = "sqlite"
    review_timeout: float = 30.0
    semantic_top_k: int = 5
    semantic_threshold: float = 0.3
    embedding_timeout: float = 10.0
    provider: str = "auto"
    model: str = ""
    base_url: str = ""
    command: str = ""
    review_when: str = ""
    daily_reviews: int = 20
    daily_tokens: int = 1_000_000
    daily_patches: int = 20
    max_patch_lines: int = 20
    max_active_skills: int = 100
    state_dir: _PathSetting = _PathSetting(lambda config: default_state_dir())
    journal_days: int = 7
    journal_megabytes: int = 1_000
    approval: str = "evidence"
    digest_tokens: int = 24_000
    index_tokens: int = 1_500
    payload_cap: int = 16 * 1024 * 1024
    prompt_tokens: int = 2_000
    exit_wait: float = 2.0
    review_process_timeout: float = 600.0
    provider_timeout: float = 180.0
    ignore_learner_sessions: bool = True
    ignore_projects: tuple[str, ...] = ()
    ignore_paths: tuple[str, ...] = ()
    ignore_tools: tuple[str, ...] = ()
    off: bool = False
    inject: str = "suggest"
    listing_characters: int = 0
    remotes: Mapping[str, Any] = field(default_factory=dict, hash=False)
    origins: Mapping[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)
    warnings: tuple[str, ...] = field(default=(), init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for key, kind in _kinds().items():
            if kind != "path":
                object.__setattr__(
                    self, key, checked_value(key, kind, getattr(self, key), "argument")
                )

    @property
    def paths(self) -> StatePaths:
        return StatePaths(self.state_dir)

    @property
    def privacy(self) -> PrivacyRules:
        from skill_learner.privacy import PrivacyRules

        return PrivacyRules(self.ignore_projects, self.ignore_paths, self.ignore_tools)

    @property
    def library_paths(self) -> StatePaths:
        """Where the Python library keeps what belongs to this library (conversations, jobs, spend,
        uses): `state_dir` for the library in it, else a folder in `skills_dir`, so that a library
        of a program's own touches nothing in the user's home."""
        if self.skills_dir == self.state_dir / "skills":
            return self.paths
        return StatePaths(self.skills_dir / ".state")

    @property
    def index_db(self) -> Path:
        """The derived search index: one for each library, so that two never share one."""
        if self.skills_dir == self.state_dir / "skills":
            return self.paths.index_db
        return self.skills_dir / ".index.sqlite"

    def values(self) -> dict[str, Any]:
        """Every key with its value, in the order of the documentation."""
        return {key: getattr(self, key) for key in _kinds()}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> SkillLearnerConfig:
        """From plain values; relative paths count from the current folder."""
        require_mapping(values)
        return cls(**_converted(values, "argument", _HERE))

    @classmethod
    def from_yaml(cls, path: str | os.PathLike[str]) -> SkillLearnerConfig:
        """From a YAML file; relative paths in it count from the file's folder."""
        file = Path(path)
        return cls(**_of_file(file)[0])

    @classmethod
    def from_env(
        cls, prefix: str = ENV_PREFIX, environ: Mapping[str, str] | None = None
    ) -> SkillLearnerConfig:
        """From variables named prefix + KEY. A name close to a key is an error; others with the
        same prefix belong to somebody else and are left alone."""
        return cls(**_from_environment(prefix, os.environ if environ is None else environ))

    @classmethod
    def load(
        cls,
        project_dir: Path | None = None,
        *,
        arguments: Mapping[str, Any] | None = None,
        environ: Mapping[str, str] | None = None,
    ) -> SkillLearnerConfig:
        """The settings in force for `project_dir` (None: no project), from every source."""
        warnings: list[str] = []
        layers: list[tuple[str, dict[str, Any]]] = []
        user_file = user_settings_file()
        if user_file.is_file():
            layers.append((f"file {user_file}", _of_file(user_file)[0]))
        environment = _from_environment(ENV_PREFIX, os.environ if environ is None else environ)
        layers.append(("environment", environment))
        layers.append(("argument", _converted(arguments or {}, "argument", _HERE)))
        project_file = project_dir / FILE_NAME if project_dir is not None else None
        if project_file is not None and project_file.is_file():
            mine = cls(**{key: value for _, layer in layers for key, value in layer.items()})
            from skill_learner.config_project import counting

            given, warnings = counting(project_file, *_of_file(project_file), mine)
            layers.insert(-2, (f"file {project_file}", given))
        merged: dict[str, Any] = {}
        origins = dict.fromkeys(_kinds(), "default")
        for origin, layer in layers:
            merged.update(layer)
            for key in layer:
                origins[key] = (
                    f"environment {ENV_PREFIX}{key.upper()}" if origin == "environment" else origin
                )
        config = cls(**merged)
        object.__setattr__(config, "origins", origins)
        object.__setattr__(config, "warnings", tuple(warnings))
        return config


def user_settings_file() -> Path:
    """Where the user's own settings are looked for."""
    import platformdirs

    return Path(platformdirs.user_config_dir("skill-learner", appauthor=False)) / FILE_NAME


def _of_file(file: Path) -> tuple[dict[str, Any], bytes]:
    """What a settings file sets, and its bytes; an error names the line of the key."""
    from skill_learner.config_file import lines_of_keys, parse_settings, settings_bytes

    data = settings_bytes(file)
    values, base = parse_settings(data, file), file.resolve().parent
    try:
        return _converted(values, str(file), base), data
    except ConfigError:
        lines = lines_of_keys(data)
        for key, value in values.items():
            _converted({key: value}, f"{file}:{lines.get(key, 1)}", base)
        raise


def _kinds() -> dict[str, str]:
    """Key to its kind, in order of declaration: "path", else its annotation as it is written:
    "int", "float", "str", "bool", "tuple[str, ...]" or "Mapping[str, Any]"."""
    return {
        item.name: "path" if item.type == "_PathSetting" else str(item.type)
        for item in fields(SkillLearnerConfig)
        if item.init
    }


def _converted(values: Mapping[str, Any], source: str, base: Path) -> dict[str, Any]:
    kinds = _kinds()
    result: dict[str, Any] = {}
    for key, value in values.items():
        if key not in kinds:
            raise unknown_key(str(key), source, kinds)
        if kinds[key] == "path":
            result[key] = checked_path(key, value, source, base)
        else:
            result[key] = checked_value(key, kinds[key], value, source)
    if result.get("command"):
        result["command"] = located_command(result["command"], base)
    return result


def _from_environment(prefix: str, environ: Mapping[str, str]) -> dict[str, Any]:
    kinds = _kinds()
    result: dict[str, Any] = {}
    for name in sorted(environ):
        if not name.startswith(prefix) or name[len(prefix) :] in _SWITCHES:
            continue
        key = name[len(prefix) :].lower()
        if key in kinds:
            if environ[name]:  # an empty variable counts as unset
                result.update(_converted({key: environ[name]}, name, _HERE))
        elif near := nearest(key, kinds, likeness=0.85):
            raise ConfigError(
                f"environment: unknown setting {name}",
                f"did you mean {prefix}{near.upper()}?",
            )
    return result
