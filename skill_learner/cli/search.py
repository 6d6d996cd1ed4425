"""`skill-learner search QUERY`: find skills for a task."""

from __future__ import annotations

from pathlib import Path

import click

from skill_learner.cli.output import json_option, say, show_json, show_table
from skill_learner.cli.settings import load
from skill_learner.cli.skill_data import summary


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--top", type=click.IntRange(1, 100), default=None, help="At most so many.")
@click.option("--all", "everything", is_flag=True, help="Candidates too.")
@json_option
def command(query: tuple[str, ...], top: int | None, everything: bool, as_json: bool) -> None:
    """Find skills for a task, best first."""
    from skill_learner.wiring import build_search

    config = load(Path.cwd())
    hits = build_search(config).search(
        " ".join(query),
        top_k=top or config.semantic_top_k,
        states=("active", "candidate") if everything else ("active",),
    )
    if as_json:
        show_json([{**summary(hit.skill), "score": round(hit.score, 4)} for hit in hits])
    elif not hits:
        say("no skill matches")
    else:
        rows = [(h.skill.name, h.skill.state, h.skill.description, h.skill.path) for h in hits]
        show_table(("name", "state", "description", "file"), rows)
