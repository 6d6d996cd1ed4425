"""What every command starts with: the settings in force and the project it stands in."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from skill_learner.cli.output import warn
from skill_learner.config import SkillLearnerConfig, write_hook_conf
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
        write_hook_conf(SkillLearnerConfig.load(None) if project_dir else config)
    return config


def root_of(project_dir: Path) -> Path:
    from skill_learner.project import project_root

    return project_root(project_dir)


def key_of(project_dir: Path) -> str:
    from skill_learner.project import project_key

    return project_key(root_of(project_dir))
