"""`skill-learner trust`: let a project's settings file set everything, as it is now."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import ask, say
from skill_learner.cli.settings import project_dir_option, root_of
from skill_learner.errors import ConfigError

if TYPE_CHECKING:
    from skill_learner.config import SkillLearnerConfig


@click.command()
@project_dir_option
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--revoke", "take_back", is_flag=True, help="Trust it no more.")
def command(project_dir: Path, yes: bool, take_back: bool) -> None:
    """Let this project's skill-learner.yaml set every key, also those that run programs, send data
    or choose paths. It holds for the file as it is now: a change of it needs trust anew."""
    from skill_learner.config import FILE_NAME, SkillLearnerConfig
    from skill_learner.config_file import parse_settings
    from skill_learner.config_project import needing_trust
    from skill_learner.config_trust import revoke, trust
    from skill_learner.files import read_plain

    file = root_of(project_dir) / FILE_NAME
    mine = SkillLearnerConfig.load(None)
    if take_back:
        gone = revoke(mine.state_dir, file)
        say(f"{file}: no longer trusted" if gone else f"{file}: was not trusted")
        return
    try:
        data = read_plain(file)
    except OSError as problem:
        raise ConfigError(f"{file}: {problem.strerror}", "there is nothing to trust") from problem
    values = parse_settings(data, file)
    given = SkillLearnerConfig.from_dict(values)
    guarded = needing_trust({key: getattr(given, key) for key in values}, mine)
    for key in guarded:
        say(f"{key}: {values[key]}")
    if not guarded:
        say(f"{file}: sets nothing that needs trust")
        return
    _say_what_leaves(given)
    if not yes:
        ask(f"Let {file} set these?", "--yes")
    trust(mine.state_dir, file, data)
    say(f"{file}: trusted as it is now")


def _say_what_leaves(config: SkillLearnerConfig) -> None:
    """To trust a file that names a provider is to give leave for it: in the words of that leave."""
    from skill_learner.consent import consent_text
    from skill_learner.providers import PROVIDERS

    if config.provider in PROVIDERS:
        say("For sessions in this project, as long as the file stays as it is:")
        say(consent_text(config.provider, config.model, config.daily_reviews, config.daily_tokens))
