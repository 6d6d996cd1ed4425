"""`skill-learner resume`: end a pause."""

from __future__ import annotations

import click

from skill_learner.cli.output import say
from skill_learner.cli.settings import load, tell_hooks


@click.command()
def command() -> None:
    """Record again."""
    from skill_learner.pause import resume

    config = load()
    was_paused = resume(config.paths)
    if config.state_dir.is_dir():
        tell_hooks()
    say("Recording again." if was_paused else "There was no pause; events are recorded.")
    if config.off:
        say(f"note: still switched off by {config.origins['off']}")
