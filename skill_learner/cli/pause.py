"""`skill-learner pause`: record nothing for a while."""

from __future__ import annotations

from datetime import datetime

import click

from skill_learner.cli.output import say, when
from skill_learner.cli.settings import load, tell_hooks


@click.command()
@click.argument("until", nargs=-1, metavar="[1h | until DATE]")
def command(until: tuple[str, ...]) -> None:
    """Record nothing until then, in any project. Without a time: until `resume`.

    For example: pause 1h, pause 2d, pause until 18:30, pause until 2030-01-31.
    """
    from skill_learner.pause import FOR_EVER, moment, pause

    config = load()
    words = until[1:] if until and until[0] == "until" else until
    at = moment(" ".join(words), datetime.now()) if words else FOR_EVER
    pause(config.paths, at)
    tell_hooks()
    lasts = "until `skill-learner resume`" if at == FOR_EVER else f"until {when(at)}"
    say(f"Paused {lasts}: no event is recorded and no review begins.")
