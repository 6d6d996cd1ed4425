"""`skill-learner search QUERY`: find skills for a task."""

from __future__ import annotations

from pathlib import Path

import click

from skill_learner.cli.output import json_option, say, show_json, show_table
from skill_learner.cli.settings import key_of, load
from skill_learner.cli.skill_data import summary
from skill_learner.models import SkillState


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--top", type=click.IntRange(1, 100), default=None, help="At most so many.")
@click.option("--candidates", is_flag=True, help="Candidates too.")
@click.option("--all-projects", is_flag=True, help="Skills of other projects too.")
@json_option
def command(
    query: tuple[str, ...], top: int | None, candidates: bool, all_projects: bool, as_json: bool
) -> None:
    """Find this project's and user-wide skills for a task, best first."""
    from skill_learner.wiring import build_search

    here = Path.cwd()
    config = load(here)
    states: tuple[SkillState, ...] = ("active", "candidate") if candidates else ("active",)
    hits = build_search(config).search(
        " ".join(query),
        top_k=top or config.semantic_top_k,
        scope=None if all_projects else key_of(here),
        states=states,
    )
    if as_json:
        show_json([{**summary(hit.skill), "score": round(hit.score, 4)} for hit in hits])
    elif not hits:
        say("no skill matches")
    else:
        rows = [(h.skill.name, h.skill.state, h.skill.description, h.skill.path) for h in hits]
        show_table(("name", "state", "description", "file"), rows)
