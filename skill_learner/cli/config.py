"""`skill-learner config`: the settings in force."""

from __future__ import annotations

from pathlib import Path

import click

from skill_learner.cli.output import json_option, say, show_fields, show_json, show_table
from skill_learner.cli.settings import load, project_dir_option
from skill_learner.config import user_settings_file


@click.command()
@click.option("--show-origin", is_flag=True, help="Where each value comes from.")
@project_dir_option
@json_option
def command(show_origin: bool, project_dir: Path, as_json: bool) -> None:
    """Show the settings in force.

    Strongest first: arguments, environment (SKILL_LEARNER_<KEY>), the project's
    skill-learner.yaml (harmless keys only), the user's skill-learner.yaml, defaults.
    """
    config = load(project_dir)
    values = config.values()
    if as_json:
        if show_origin:
            show_json({k: {"value": v, "origin": config.origins[k]} for k, v in values.items()})
        else:
            show_json(values)
    elif show_origin:
        rows = [(key, str(value), config.origins[key]) for key, value in values.items()]
        show_table(("key", "value", "origin"), rows)
    else:
        show_fields({key: str(value) for key, value in values.items()})
    if not as_json:
        file = user_settings_file()
        say(f"\nYour settings file: {file}{'' if file.is_file() else ' (not there)'}")
