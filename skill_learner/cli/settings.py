"""What every command starts with: the settings in force and the project it stands in."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from skill_learner.cli.output import warn
from skill_learner.config import ENV_PREFIX, FILE_NAME, SkillLearnerConfig
from skill_learner.errors import ConfigError
from skill_learner.hook_conf import write_hook_conf
from skill_learner.state_format import open_state
from skill_learner.targets import TARGETS

target_option = click.option(
    "--target", required=True, metavar="EDITOR", help=f"The editor: {' or '.join(TARGETS)}."
)

project_dir_option = click.option(
    "--project-dir",
    type=click.Path(path_type=Path, file_okay=False, exists=True),
    default=".",
    help="The project (default: the current folder).",
)


def load(
    project_dir: Path | None = None, arguments: Mapping[str, Any] | None = None
) -> SkillLearnerConfig:
    """The settings in force; what was ignored is said on stderr, and the hooks are told theirs."""
    given = {key: value for key, value in (arguments or {}).items() if value is not None}
    config = SkillLearnerConfig.load(root_of(project_dir) if project_dir else None, arguments=given)
    for warning in config.warnings:
        warn(warning)
    if config.state_dir.is_dir():
        open_state(config.paths)
        tell_hooks()
    return config


def tell_hooks() -> None:
    """Write down for the hooks what the user's settings file, and those of every known project,
    say. Hooks read the environment that they are started in; this command's is not theirs."""
    state_dir = f"{ENV_PREFIX}STATE_DIR"
    environ = {state_dir: os.environ[state_dir]} if state_dir in os.environ else {}
    config = SkillLearnerConfig.load(None, environ=environ)
    write_hook_conf(config, _project_intervals(config, environ))


def _project_intervals(config: SkillLearnerConfig, environ: Mapping[str, str]) -> dict[str, int]:
    """Projects with a `nudge_interval` of their own. A file that cannot be read sets nothing here:
    commands that stand in its project complain about it."""
    from skill_learner.project import list_projects

    intervals: dict[str, int] = {}
    for record in list_projects(config.paths):
        file = Path(record.path) / FILE_NAME
        with contextlib.suppress(ConfigError, OSError):
            if not file.is_file():
                continue
            own = SkillLearnerConfig.load(file.parent, environ=environ)
            if own.origins["nudge_interval"] == f"file {file}":
                intervals[record.key] = own.nudge_interval
    return intervals


def root_of(project_dir: Path) -> Path:
    from skill_learner.project import project_root

    return project_root(project_dir)


def key_of(project_dir: Path) -> str:
    from skill_learner.project import project_key

    return project_key(root_of(project_dir))
