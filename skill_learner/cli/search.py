"""`skill-learner search QUERY`: find skills for a task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from skill_learner.cli.output import json_option, say, show_json, show_table
from skill_learner.cli.settings import key_of, load
from skill_learner.cli.skill_data import summary
from skill_learner.config import SkillLearnerConfig
from skill_learner.interfaces import SearchHit
from skill_learner.models import SkillState
from skill_learner.ranking.strength import LOOKED_AT, THRESHOLD


@click.command()
@click.argument("query", nargs=-1, required=True)
@click.option("--top", type=click.IntRange(1, 100), default=None, help="At most so many.")
@click.option("--candidates", is_flag=True, help="Candidates too.")
@click.option("--all-projects", is_flag=True, help="Skills of other projects too.")
@click.option("--explain", is_flag=True, help="Which words, in which fields, and the score.")
@json_option
def command(
    query: tuple[str, ...],
    top: int | None,
    candidates: bool,
    all_projects: bool,
    explain: bool,
    as_json: bool,
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
        show_json([{**summary(hit.skill), **_reasons(hit, explain)} for hit in hits])
    elif not hits:
        wider = [] if candidates else ["--candidates"]
        wider += [] if all_projects else ["--all-projects"]
        say(f"no skill matches{'; wider: ' if wider else ''}{', '.join(wider)}")
    elif explain:
        _explain(hits, _declined(config))
    else:
        rows = [(h.skill.name, h.skill.state, h.skill.description, h.skill.path) for h in hits]
        show_table(("name", "state", "description", "file"), rows)


def _reasons(hit: SearchHit, explain: bool) -> dict[str, Any]:
    told: dict[str, Any] = {"score": round(hit.score, 4)}
    if explain:
        told["strength"] = round(hit.strength, 3)
        told["threshold"] = THRESHOLD
        told["matched"] = {field: list(words) for field, words in hit.matched.items()}
        told["signals"] = {name: round(value, 3) for name, value in hit.signals.items()}
    return told


def _declined(config: SkillLearnerConfig) -> Mapping[str, int]:
    from skill_learner.listing import declined_offers
    from skill_learner.published_set import usage_of

    uses, offers = usage_of(config.paths)
    return declined_offers(offers, uses)


def _explain(hits: Sequence[SearchHit], declined: Mapping[str, int]) -> None:
    """Each skill with its words by field; the first ones with their strength against the threshold
    from which a prompt hook offers them."""
    for place, hit in enumerate(hits):
        strength = ""
        if place < LOOKED_AT:
            word = "offered" if hit.strength >= THRESHOLD else "not offered"
            if hit.skill.name in declined:
                word = f"offered {declined[hit.skill.name]} times and never loaded, so no more"
            strength = f", strength {hit.strength:.2f} against {THRESHOLD} ({word} with a prompt)"
        say(f"{hit.skill.name}: score {hit.score:.3f}{strength}")
        for field, words in hit.matched.items():
            say(f"  {field}: {', '.join(words)}")
        parts = (f"{name} {value:.2f}" for name, value in hit.signals.items() if value)
        say(f"  signals: {', '.join(parts)}")
