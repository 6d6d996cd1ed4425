"""`skill-learner curate`: propose what to merge, retire or split."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import json_option, say, show_json, show_table
from skill_learner.cli.settings import load
from skill_learner.cli.skill_data import counted_uses
from skill_learner.config import SkillLearnerConfig
from skill_learner.models import ArchiveSkill, MergeSkills, ProposalSource, Skill

if TYPE_CHECKING:
    from skill_learner.curation import Curation, Life
    from skill_learner.jobs import Job
    from skill_learner.skills.library import SkillLibrary


@click.command()
@click.option("--dry-run", is_flag=True, help="Only show; keep no proposal.")
@json_option
def command(dry_run: bool, as_json: bool) -> None:
    """Look for near-duplicates, skills that nobody uses and skills that are too long. Nothing is
    changed: the proposals wait, `approve` applies one."""
    from skill_learner.curation import Caps, curate
    from skill_learner.skills.history import now
    from skill_learner.wiring import build_library

    config = load()
    library = build_library(config)
    skills = library.list()
    found = curate(
        skills,
        _lives(config, library, skills),
        library.pins.names(),
        Caps(active_skills=config.max_active_skills, today=now()[:10]),
    )
    kept = {} if dry_run else _park(library, found, {one.name: one.scope for one in skills})
    if as_json:
        show_json(asdict(found))
        return
    rows = [(kept.get(one.name, "-"), "merge", one.name, f"{', '.join(one.absorbed)}: {one.reason}")
            for one in found.merges]  # fmt: skip
    rows += [
        (kept.get(one.name, "-"), "archive", one.name, one.reason) for one in found.retirements
    ]
    rows += [("-", "split", name, why) for name, why in found.splits]
    if not rows:
        say("nothing to merge, retire or split")
        return
    show_table(("proposal", "what", "skill", "why"), rows)
    if kept:
        say("`skill-learner approve PROPOSAL` applies one, `reject` turns it down for good")


def _park(library: SkillLibrary, found: Curation, scopes: dict[str, str]) -> dict[str, str]:
    """Ids by skill of the proposals that wait now; those that were rejected before do not."""
    kept: dict[str, str] = {}
    wishes: Sequence[MergeSkills | ArchiveSkill] = (*found.merges, *found.retirements)
    for wish in wishes:
        absorbed = wish.absorbed if isinstance(wish, MergeSkills) else ()
        prints = [f"curate {type(wish).__name__} {wish.name} {' '.join(sorted(absorbed))}"]
        source = ProposalSource("curate", "", scopes.get(wish.name, "user"))
        parked = library.proposals.park(wish, prints, source, why=(wish.reason,))
        if parked is not None:
            kept[wish.name] = parked.id
    return kept


def _lives(
    config: SkillLearnerConfig, library: SkillLibrary, skills: Sequence[Skill]
) -> dict[str, Life]:
    from datetime import datetime

    from skill_learner.curation import Life
    from skill_learner.jobs import JobStore

    jobs = JobStore(config.paths).all() if config.paths.jobs_dir.exists() else []
    done: dict[str, list[Job]] = {}
    for job in jobs:
        if job.status == "done":
            done.setdefault(job.project_key, []).append(job)
    uses = counted_uses(config, skills)
    lives = {}
    for skill in skills:
        since: set[str] = set()
        if skill.scope in done:  # else there is nothing to count, and no history need be read
            changes = library.history(skill.name)
            born = datetime.fromisoformat(changes[0].at).timestamp() if changes else 0.0
            since = {job.session for job in done[skill.scope] if job.created > born}
        use = uses.get(skill.name)
        lives[skill.name] = Life(use.count if use else 0, len(since))
    return lives
