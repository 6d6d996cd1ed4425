"""`skill-learner status`: what is installed, what ran, what is waiting."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from pathlib import Path
from typing import Any

import click

from skill_learner.cli.output import json_option, say, show_fields, show_json, show_table, when
from skill_learner.cli.settings import load, project_dir_option, root_of
from skill_learner.config import SkillLearnerConfig

SHOWN_JOBS = 10


@click.command()
@project_dir_option
@json_option
def command(project_dir: Path, as_json: bool) -> None:
    """Show what is installed, when a hook last fired, journals, jobs, skills, today's spend."""
    config = load(project_dir)
    data = status_of(config, project_dir)
    if as_json:
        show_json(data)
        return
    _show(data)


def status_of(config: SkillLearnerConfig, project_dir: Path) -> dict[str, Any]:
    """Everything that `status` knows, as plain data."""
    from skill_learner.cli.review import job_data
    from skill_learner.jobs import JobStore
    from skill_learner.journal import journal_files
    from skill_learner.ledger import Ledger
    from skill_learner.wiring import build_library, reviewer_name

    journals = journal_files(config.paths)
    jobs = JobStore(config.paths).all() if config.paths.jobs_dir.exists() else []
    skills = build_library(config).list(states=("active", "candidate", "archived"))
    states = Counter(skill.state for skill in skills)
    return {
        "state_dir": str(config.state_dir),
        "project": str(root_of(project_dir)),
        "installs": _installs(config, project_dir),
        "journals": {
            "count": len(journals),
            "bytes": sum(path.stat().st_size for path in journals),
            "last_event": max((path.stat().st_mtime for path in journals), default=None),
        },
        "jobs": [job_data(job) for job in sorted(jobs, key=lambda job: -job.updated)],
        "skills": {
            "active": states["active"],
            "candidate": states["candidate"],
            "archived": states["archived"],
        },
        "reviewer": reviewer_name(config),
        "spend_today": asdict(Ledger(config.paths.ledger).today()),
        "ceilings": {"daily_reviews": config.daily_reviews, "daily_tokens": config.daily_tokens},
        "warnings": _warnings(config, project_dir),
    }


def _installs(config: SkillLearnerConfig, project_dir: Path) -> list[dict[str, Any]]:
    """Each install with the time of the last event from its projects (all of them, for `user`)."""
    from skill_learner.install.installer import installed
    from skill_learner.project import project_key

    found = []
    here = root_of(project_dir)
    for record in installed(config.paths):
        key = None if record.scope == "user" else project_key(root_of(Path(record.root)))
        found.append(
            {
                "target": record.target,
                "scope": record.scope,
                "root": record.root,
                "here": record.scope == "user" or root_of(Path(record.root)) == here,
                "version": record.version,
                "installed_at": record.at,
                "last_fired": last_fired(config, key),
                "files": [file.path for file in record.files],
            }
        )
    return found


def last_fired(config: SkillLearnerConfig, key: str | None) -> float | None:
    """When a hook last wrote an event of the project (None: of any); None for never.

    The newest event of each journal tells the project; only journals newer than what was found are
    opened.
    """
    from skill_learner.journal import journal_files, read_journal

    newest: float | None = None
    by_age = sorted(((p.stat().st_mtime, p) for p in journal_files(config.paths)), reverse=True)
    for modified, path in by_age:
        if newest is not None and modified <= newest:
            break
        if key is None:
            return modified
        for record in read_journal(path).records:
            if record.project_key == key and record.at > (newest or 0):
                newest = record.at
    return newest


def _warnings(config: SkillLearnerConfig, project_dir: Path) -> list[str]:
    from skill_learner.install.installer import installed

    warnings = list(config.warnings)
    root, here = root_of(project_dir), project_dir.resolve()
    records = installed(config.paths)
    covered_here = [r for r in records if r.scope == "user" or Path(r.root).resolve() == here]
    at_root = [r for r in records if r.scope != "user" and Path(r.root).resolve() == root]
    if at_root and not covered_here:
        warnings.append(
            f"Claude Code started in {here} does not read the settings of {root}, so no hook "
            "fires: start it there, or run `skill-learner init --target claude-code --user`"
        )
    if not records:
        warnings.append("no editor is set up: skill-learner init --target claude-code")
    if config.off:
        warnings.append(f"switched off by {config.origins['off']}")
    return warnings


def _show(data: dict[str, Any]) -> None:
    if data["installs"]:
        rows = [
            (row["target"], row["scope"], row["root"], when(row["last_fired"]))
            for row in data["installs"]
        ]
        show_table(("editor", "scope", "where", "hook last fired"), rows)
        say()
    jobs, skills, spend = data["jobs"], data["skills"], data["spend_today"]
    counts = Counter(job["status"] for job in jobs)
    journals, ceilings = data["journals"], data["ceilings"]
    show_fields(
        {
            "journals": f"{journals['count']}, {journals['bytes'] / 1e6:.1f} MB, "
            f"last event {when(journals['last_event'])}",
            "reviews": ", ".join(f"{n} {name}" for name, n in counts.items()) or "none yet",
            "reviewer": data["reviewer"],
            "skills": f"{skills['active']} active, {skills['candidate']} candidates, "
            f"{skills['archived']} archived",
            "LLM today": f"{spend['reviews']} of {ceilings['daily_reviews']} reviews, "
            f"{spend['tokens']} of {ceilings['daily_tokens']} tokens",
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
    for warning in data["warnings"]:
        say(f"warning: {warning}")
