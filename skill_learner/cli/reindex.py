"""`skill-learner reindex`: make the search index anew from the files."""

from __future__ import annotations

import click

from skill_learner.cli.output import json_option, say, show_json
from skill_learner.cli.settings import load


@click.command()
@json_option
def command(as_json: bool) -> None:
    """Make the search index anew. Nothing of the library is in it alone: it may always be lost."""
    from skill_learner.wiring import build_library, build_search

    config = load()
    count = build_search(config).rebuild()
    problems = build_library(config).problems()
    if as_json:
        show_json({"indexed": count, "unusable": [problem.message for problem in problems]})
        return
    say(f"{count} skills indexed ({config.storage_backend})")
    for problem in problems:
        say(f"cannot be used: {problem.message}")
