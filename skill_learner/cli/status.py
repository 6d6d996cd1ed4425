"""`skill-learner status`: what is installed, what ran, what is waiting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from skill_learner.cli.output import (
    counted,
    json_option,
    say,
    show_fields,
    show_json,
    show_table,
    when,
)
from skill_learner.cli.settings import load, project_dir_option, root_of
from skill_learner.config import SkillLearnerConfig

SHOWN_JOBS = 10


@click.command()
@project_dir_option
@click.option("--all", "everywhere", is_flag=True, help="Every install on record, in any project.")
@json_option
def command(project_dir: Path, everywhere: bool, as_json: bool) -> None:
    """Show what is installed, when a hook last fired, journals, jobs, skills, today's spend."""
    config = load(project_dir)
    if everywhere:
        _show_register(config, as_json)
        return
    data = status_of(config, project_dir)
    if as_json:
        show_json(data)
        return
    _show(data, told=config.warnings)


def status_of(config: SkillLearnerConfig, project_dir: Path) -> dict[str, Any]:
    """Everything that `status` knows, as plain data."""
    from skill_learner.cli.consent import reviewer_data
    from skill_learner.cli.installs import (
        install_data,
        install_warnings,
        installs_elsewhere,
        installs_here,
        pauses,
    )
    from skill_learner.cli.listing import listings_of
    from skill_learner.cli.review import job_data
    from skill_learner.jobs import JobStore
    from skill_learner.ledger import Ledger
    from skill_learner.wiring import build_library

    jobs = JobStore(config.paths).all() if config.paths.jobs_dir.exists() else []
    library = build_library(config)
    skills = library.list(states=("active", "candidate", "archived"))
    states = Counter(skill.state for skill in skills)
    return {
        "state_dir": str(config.state_dir),
        "project": str(root_of(project_dir)),
        "installs": [install_data(item) for item in installs_here(config, project_dir)],
        "installs_elsewhere": installs_elsewhere(config, project_dir),
        "journals": _journals(config),
        "jobs": [job_data(job) for job in sorted(jobs, key=lambda job: -job.updated)],
        "skills": {state: states[state] for state in ("active", "candidate", "archived")},
        "proposals": len(library.proposals.all()),
        "listing": listings_of(config, project_dir, library, skills),
        **reviewer_data(config),
        "spend_today": asdict(Ledger(config.paths.ledger).today()),
        "ceilings": {"daily_reviews": config.daily_reviews, "daily_tokens": config.daily_tokens},
        "remotes": remotes_of(config),
        "warnings": [
            *config.warnings,
            *pauses(config),
            *install_warnings(config, project_dir),
        ],
    }


def _journals(config: SkillLearnerConfig) -> dict[str, Any]:
    from skill_learner.journal import journal_files

    journals = journal_files(config.paths)
    return {
        "count": len(journals),
        "bytes": sum(path.stat().st_size for path in journals),
        "last_event": max((path.stat().st_mtime for path in journals), default=None),
    }


def _show_register(config: SkillLearnerConfig, as_json: bool) -> None:
    from skill_learner.cli.installs import every_install

    rows = every_install(config)
    if as_json:
        show_json(rows)
    elif rows:
        columns = ("editor", "scope", "where", "hooks", "last fired")
        cells = [
            (row["target"], row["scope"], row["root"], _word(row), when(row["last_fired"]))
            for row in rows
        ]
        show_table(columns, cells)
    else:
        say("no install is on record")


def remotes_of(config: SkillLearnerConfig) -> list[dict[str, Any]]:
    if not config.remotes:
        return []
    from skill_learner.cli.remote import remote_status
    from skill_learner.remotes.settings import remote_settings

    return [remote_status(config, settings) for settings in remote_settings(config.remotes)]


def _show_remotes(remotes: list[dict[str, Any]]) -> None:
    """One line for each, and one for each thing that needs the user."""
    for row in remotes:
        say(f"remote {row['name']}: last sync {when(row['synced_at'])}")
        notes = [row["error"], row["proposed"], *row["held"], *row["refused"]]
        notes += [f"{name}: two versions wait for your decision" for name in row["waiting"]]
        for note in filter(None, notes):
            say(f"  {note}")


def _show_installs(data: dict[str, Any]) -> None:
    if data["installs"]:
        rows = [
            (row["target"], row["scope"], row["root"], _word(row), when(row["last_fired"]))
            for row in data["installs"]
        ]
        show_table(("editor", "scope", "where", "hooks", "last fired"), rows)
    if data["installs_elsewhere"]:
        roots = ", ".join(row["root"] for row in data["installs_elsewhere"])
        say(f"also installed in: {roots}")
    if data["installs"] or data["installs_elsewhere"]:
        say()


def _word(row: dict[str, Any]) -> str:
    if row.get("missing_folder"):
        return "folder gone"
    if not row["installed"]:
        return "gone"
    if row["disabled_by"] or not row["launcher_alive"]:
        return "off"
    return "complete" if row["complete"] else "incomplete"


def _waiting(count: int) -> str:
    return f"{count} for you to decide: skill-learner candidates"


def _show(data: dict[str, Any], told: Sequence[str]) -> None:
    """told: warnings that the user has read already, when the settings were."""
    _show_installs(data)
    jobs, skills, spend = data["jobs"], data["skills"], data["spend_today"]
    counts = Counter(job["status"] for job in jobs)
    journals, ceilings = data["journals"], data["ceilings"]
    show_fields(
        {
            "journals": f"{journals['count']}, {journals['bytes'] / 1e6:.1f} MB, "
            f"last event {when(journals['last_event'])}",
            "reviews": ", ".join(f"{n} {name}" for name, n in counts.items()) or "none yet",
            "reviewer": ", ".join(filter(None, (data["reviewer"], data["reviewer_by"]))),
            "skills": f"{skills['active']} active, {counted(skills['candidate'], 'candidate')}, "
            f"{skills['archived']} archived",
            **({"proposals": _waiting(data["proposals"])} if data["proposals"] else {}),
            "LLM today": f"{spend['reviews']} of {ceilings['daily_reviews']} reviews, "
            f"{spend['tokens']:,} of {ceilings['daily_tokens']:,} tokens",
        }
    )
    notable = [job for job in jobs if job["status"] != "done"] + [
        job for job in jobs if job["status"] == "done"
    ]
    if notable:
        say()
        job_rows = [
            (job["session"], job["status"], when(job["updated"]), job["detail"])
            for job in notable[:SHOWN_JOBS]
        ]
        show_table(("session", "review", "when", "detail"), job_rows)
    _show_remotes(data["remotes"])
    from skill_learner.cli.listing import show_listings

    show_listings(data["listing"])
    for warning in [text for text in data["warnings"] if text not in told]:
        say(f"warning: {warning}")
