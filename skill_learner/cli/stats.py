"""`skill-learner stats`: what was learned, what was used, what it cost."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from typing import Any

import click

from skill_learner.cli.output import json_option, say, show_fields, show_json, show_table, when
from skill_learner.cli.settings import load
from skill_learner.cli.skill_data import offer_data, offers_of, summary, uses_of
from skill_learner.config import SkillLearnerConfig
from skill_learner.job import CLOSED
from skill_learner.ledger import Call, DaySpend, Ledger, by_day, summed
from skill_learner.paths import StatePaths


@click.command()
@click.option("--spend", is_flag=True, help="LLM use by day, provider and result.")
@click.option("--calls", is_flag=True, help="Every LLM call: when, to whom, what came of it.")
@json_option
def command(spend: bool, calls: bool, as_json: bool) -> None:
    """Show what was learned, what was used, and what it cost."""
    if spend and calls:
        raise click.UsageError("give --spend or --calls")
    config = load()
    if spend or calls:
        (_show_spend if spend else _show_calls)(config, as_json)
        return
    data = _stats(config)
    if as_json:
        show_json(data)
        return
    on_record = sum(data["reviews"].get(status, 0) for status in CLOSED)
    done = f"{data['counts']['reviews']} done, of the last {on_record} on record"
    counts = {**data["counts"], "reviews": done}
    show_fields({**counts, "LLM reviews today": data["today"]["reviews"]})
    if data["counts"]["LLM reviews"]:
        say("each LLM call: skill-learner stats --calls")
    used = [row for row in data["skills"] if row["uses"] or row["offered"]]
    if used:
        say()
        rows = [
            (
                row["name"],
                row["uses"],
                when(row["last_used"]),
                f"{row['loaded_when_offered']} of {row['offered']}",
                f"{row['helped']} / {row['did_not_help']}",
            )
            for row in used
        ]
        columns = ("used skill", "uses", "last used", "loaded when offered", "helped / not")
        show_table(columns, rows)


def _stats(config: SkillLearnerConfig) -> dict[str, Any]:
    from skill_learner.jobs import JobStore
    from skill_learner.wiring import build_library

    skills = build_library(config).list(states=("active", "candidate", "archived"))
    uses = uses_of(config, skills)
    states = Counter(skill.state for skill in skills)
    jobs = [
        job for paths in _places(config) if paths.jobs_dir.exists() for job in JobStore(paths).all()
    ]
    offers = offers_of(config)
    rows = [
        {**summary(skill, uses.get(skill.name)), **offer_data(offers.get(skill.name))}
        for skill in skills
    ]
    rows.sort(key=lambda row: (-row["uses"], row["name"]))
    return {
        "counts": {
            "active skills": states["active"],
            "candidates": states["candidate"],
            "archived": states["archived"],
            "uses": sum(row["uses"] for row in rows),
            "reviews": sum(1 for job in jobs if job.status == "done"),
            "LLM reviews": summed(_calls(config)).reviews,
        },
        "skills": rows,
        "reviews": dict(Counter(str(job.status) for job in jobs)),
        "today": asdict(summed(_calls_of_today(config))),
    }


def _places(config: SkillLearnerConfig) -> list[StatePaths]:
    """Where editors' sessions and where Python programs of this library keep jobs and spend."""
    return list(dict.fromkeys([config.paths, config.library_paths]))


def _calls_of_today(config: SkillLearnerConfig) -> list[Call]:
    return [call for paths in _places(config) for call in Ledger(paths.ledger).calls_of_today()]


def _calls(config: SkillLearnerConfig) -> list[Call]:
    """All there ever were, oldest first."""
    calls = [call for paths in _places(config) for call in Ledger(paths.ledger).calls()]
    return sorted(calls, key=lambda call: call.at)


def _show_calls(config: SkillLearnerConfig, as_json: bool) -> None:
    calls = _calls(config)
    if as_json:
        show_json([asdict(call) for call in calls])
    elif not calls:
        say("no LLM call yet")
    else:
        columns = (
            "at",
            "provider",
            "model",
            "result",
            "tokens in",
            "tokens out",
            "cost_usd",
            "job",
        )
        rows = [
            (when(one.at), one.provider, one.model, one.result, one.tokens_in, one.tokens_out,
             one.cost_usd, one.job)
            for one in calls
        ]  # fmt: skip
        show_table(columns, rows)


def _show_spend(config: SkillLearnerConfig, as_json: bool) -> None:
    rows = [_row(item) for item in by_day(_calls(config))]
    if as_json:
        show_json({"today": asdict(summed(_calls_of_today(config))), "days": rows})
    elif not rows:
        say("no LLM call yet")
    else:
        show_table(tuple(rows[0]), [tuple(row.values()) for row in rows])


def _row(item: DaySpend) -> dict[str, Any]:
    return {
        "day": item.day,
        "provider": item.provider,
        "result": item.result,
        "reviews": item.spend.reviews,
        "calls": item.spend.calls,
        "tokens": item.spend.tokens,
        "cost_usd": round(item.spend.cost_usd, 6) if item.spend.cost_known else None,
    }
