"""`skill-learner consent`: what may leave this machine, by whose word, and how to take it back."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import json_option, say, show_json, warn, when
from skill_learner.cli.settings import load, project_dir_option

if TYPE_CHECKING:
    from skill_learner.config import SkillLearnerConfig


@click.command()
@project_dir_option
@click.option("--revoke", "take_back", is_flag=True, help="Withdraw the leave given to `init`.")
@json_option
def command(project_dir: Path, take_back: bool, as_json: bool) -> None:
    """Say what reviews send from this machine, to whom, and by whose word. With --revoke they run
    by rules alone from the next one on, until `init` is given leave again."""
    from skill_learner.consent import consent_text, load_consent, withdraw_consent
    from skill_learner.wiring import reviewer_name

    config = load(project_dir)
    given = load_consent(config.paths)
    if take_back:
        gone = withdraw_consent(config.paths)
        given = None
        if not as_json:
            say("the leave is withdrawn" if gone else "no leave was on record")
    name = reviewer_name(config)
    if as_json:
        at = given.at if given else None
        show_json({**reviewer_data(config), "given": at})
        return
    say(f"Reviewer: {name}{basis(config, name, before=', ')}.")
    say(consent_text(name, config.model, config.daily_reviews, config.daily_tokens))
    if given is not None and given.provider != name:
        say(f"Leave on record: {given.provider}, of {when(given.at)}; it is not used now.")
    if take_back and name != "offline":
        warn(f"{name} is still asked{basis(config, name, before=', ')}; take `provider` out there")


def reviewer_data(config: SkillLearnerConfig) -> dict[str, str]:
    """Who reviews, and by whose word, as `status` has it."""
    from skill_learner.wiring import reviewer_name

    name = reviewer_name(config)
    return {"reviewer": name, "reviewer_by": basis(config, name)}


def basis(config: SkillLearnerConfig, name: str, before: str = "") -> str:
    """By whose word reviews ask `name`; "" for reviews that send nothing. before: stands first
    where there is something to say."""
    from skill_learner.consent import load_consent

    if name == "offline":
        return ""
    if config.provider != "auto":
        return f"{before}as set by {config.origins['provider']}"
    given = load_consent(config.paths)
    told = f" of {when(given.at)}" if given else ""
    return f"{before}by your leave{told} (`skill-learner consent --revoke` withdraws it)"
