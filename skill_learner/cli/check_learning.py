"""Doctor's checks of reviews and skills: what waits, failed, was refused, or cannot be seen."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from skill_learner.cli.finding import FAULT, NOTE, OK, Finding
from skill_learner.cli.output import counted
from skill_learner.config import SkillLearnerConfig
from skill_learner.learning.descriptions import description_faults
from skill_learner.listing import LONGEST_LISTED

if TYPE_CHECKING:
    from skill_learner.models import Skill
    from skill_learner.skills.library import SkillLibrary

_DAY = 86_400.0


def check_reviews(config: SkillLearnerConfig) -> Iterator[Finding]:
    from skill_learner.jobs import JobStore

    jobs = JobStore(config.paths).all() if config.paths.jobs_dir.exists() else []
    recent = [job for job in jobs if job.updated > time.time() - _DAY]
    failed = [job for job in recent if job.status in ("failed", "abandoned")]
    if failed:
        what = f"{len(failed)} of {len(recent)} failed in 24 h; the last: {failed[-1].detail}"
        todo = f"skill-learner why {failed[-1].session}; see {config.paths.review_log}"
        yield Finding("reviews", FAULT, what, todo)
    else:
        yield Finding("reviews", OK, f"{len(recent)} in 24 h, none failed")
    waiting = [job for job in jobs if job.status == "queued"]
    if waiting:
        oldest = waiting[0].detail or "they run at the next session's start"
        yield Finding("queue", NOTE, f"{len(waiting)} wait: {oldest}", "skill-learner review")
    yield from _unreviewed(config, {job.session for job in jobs if job.is_open})
    yield _reviewer(config)
    yield _ceilings(config)


def _reviewer(config: SkillLearnerConfig) -> Finding:
    from skill_learner.cli.consent import basis
    from skill_learner.providers import what_is_missing
    from skill_learner.wiring import reviewer_name

    name = reviewer_name(config)
    missing = what_is_missing(name, config, os.environ)
    if missing:
        return Finding("reviewer", FAULT, f"{name} cannot work: {missing}", "or set `provider`")
    return Finding("reviewer", OK, name + basis(config, name, before=", "))


def _unreviewed(config: SkillLearnerConfig, queued: set[str]) -> Iterator[Finding]:
    """Sessions at rest with work that nothing has asked to review."""
    from skill_learner.tally import unfinished_sessions

    left = [s for s in unfinished_sessions(config.paths) if s.session_id not in queued]

    def queue() -> str:
        from skill_learner.jobs import JobStore
        from skill_learner.pipeline.requests import wish_for_session

        wishes = [wish_for_session(config.paths, s.session_id, "recover") for s in left]
        store = JobStore(config.paths)
        for wish in wishes:
            if wish is not None:
                store.queue(wish)
        return f"queued {len(left)} reviews"

    if left:
        what = f"{len(left)} sessions got no end and no review, the newest {left[-1].session_id}"
        todo = f"skill-learner review --session {left[-1].session_id}"
        yield Finding("journals", NOTE, what, todo, queue)


def _ceilings(config: SkillLearnerConfig) -> Finding:
    from skill_learner.ledger import Ledger

    spend = Ledger(config.paths.ledger).today()
    reached = spend.reviews >= config.daily_reviews or spend.tokens >= config.daily_tokens
    what = (
        f"{spend.reviews} of {config.daily_reviews} reviews, "
        f"{spend.tokens:,} of {config.daily_tokens:,} tokens today"
    )
    todo = "raise `daily_reviews` or `daily_tokens`, or wait for tomorrow" if reached else ""
    return Finding("ceilings", NOTE if reached else OK, what, todo)


def check_library(config: SkillLearnerConfig, project_dir: Path) -> Iterator[Finding]:
    from skill_learner.wiring import build_library

    library = build_library(config)
    every, problems = library.read_all()
    skills = [skill for skill in every if skill.state != "archived"]
    active = [skill for skill in skills if skill.state == "active"]
    for problem in problems:
        yield Finding("library", FAULT, problem.message, problem.hint)
    if not problems:
        yield Finding("library", OK, f"{counted(len(skills), 'skill')} in {config.skills_dir}")
    yield _secret_scanner()
    yield from _unreadable(skills)
    yield from _held_back(library, active)
    yield from _same_names(config, project_dir, active)
    yield from _listing(config, project_dir, library, active)
    yield from _dead_links(config, project_dir)


def _secret_scanner() -> Finding:
    from skill_learner.secret_scanner import why_absent

    absent = why_absent()
    if absent:
        what = f"looked for by our own rules alone, not by a scanner of many providers ({absent})"
        return Finding("secrets", NOTE, what)
    return Finding("secrets", OK, "our own rules, and the scanner of the extra `secrets`")


def _held_back(library: SkillLibrary, skills: Sequence[Skill]) -> Iterator[Finding]:
    from skill_learner.load_check import reasons_to_hold

    for skill in skills:
        reasons = reasons_to_hold(library, skill)
        if reasons:
            what = f"{skill.path} is not given to agents: it {'; '.join(reasons)}"
            yield Finding(
                "skill", NOTE, what, f"read it, then `skill-learner approve {skill.name}`"
            )


def _same_names(
    config: SkillLearnerConfig, project_dir: Path, skills: Sequence[Skill]
) -> Iterator[Finding]:
    """Skills of the same name in the editors' own folders: they and ours hide each other."""
    from skill_learner.cli.settings import root_of
    from skill_learner.targets import TARGETS, get_target

    library = os.path.realpath(config.skills_dir)
    folders = {
        Path(os.path.expanduser(place)) if scope == "user" else root_of(project_dir) / place
        for name in TARGETS
        for scope, place in get_target(name).SKILLS_DIR.items()
    }
    for folder in sorted(filter(Path.is_dir, folders)):
        for skill in skills:
            other = folder / skill.name
            if other.exists() and not os.path.realpath(other).startswith(library + os.sep):
                what = f"{other} has the name of the skill {skill.name}: it is yours and stays"
                yield Finding("skill", NOTE, what, "rename one of the two")


def _unreadable(skills: Sequence[Skill]) -> Iterator[Finding]:
    for skill in skills:
        named = [text for text in skill.warnings if "differs from its folder" in text]
        if not skill.description.strip():
            what = f"{skill.path} has no description, so no editor knows when to use it"
            yield Finding("skill", FAULT, what, "give it a `description`")
        elif len(skill.description) > LONGEST_LISTED:
            what = f"{skill.path}: its description is cut at {LONGEST_LISTED} characters"
            yield Finding("skill", NOTE, what, "shorten it")
        elif skill.ours and (faults := description_faults(skill.name, skill.description)):
            what = f"{skill.name}: its description may not trigger: {'; '.join(faults)}"
            yield Finding("skill", NOTE, what, f"reword it: {skill.path}")
        if named:
            yield Finding("skill", NOTE, f"{skill.path}: {named[0]}", "give both the same name")


def _listing(
    config: SkillLearnerConfig, project_dir: Path, library: SkillLibrary, active: Sequence[Skill]
) -> Iterator[Finding]:
    """What this project's agent is shown."""
    from skill_learner.cli.settings import key_of, root_of
    from skill_learner.project import load_project
    from skill_learner.publish.index import shown_count
    from skill_learner.published_set import listing_for, what_is_shared
    from skill_learner.wiring import project_config

    key, root = key_of(project_dir), root_of(project_dir)
    record = load_project(config.paths, key)
    scopes = {key, "user", *(record.aliases if record else ())}
    shown = [skill for skill in active if skill.scope in scopes]
    if not shown:
        return
    budget = project_config(config, root).index_tokens
    fitting = shown_count(shown, budget)
    shared = what_is_shared(config, library, active)
    listing = listing_for(config, library, str(root), key, shared)
    if fitting < len(shown):
        what = f"the index shows {fitting} of {len(shown)} skills (index_tokens {budget:,})"
        yield Finding("listing", NOTE, what, "raise `index_tokens`, or reject what is not used")
    if listing.left_out:
        what = (
            f"{counted(len(listing.left_out), 'skill')} found by search only: the editor's listing"
            f" has {listing.room:,} characters for whole descriptions"
        )
        todo = "`skill-learner status` says which and why; `listing_characters` sets the room"
        yield Finding("listing", NOTE, what, todo)
    elif fitting == len(shown):
        told = f"{counted(len(shown), 'skill')}, {listing.taken:,} characters"
        yield Finding("listing", OK, told)


def _dead_links(config: SkillLearnerConfig, project_dir: Path) -> Iterator[Finding]:
    """Also where there is nothing to list any more: the library's folder may be gone."""
    from skill_learner.cli.settings import key_of, root_of
    from skill_learner.project import load_project
    from skill_learner.wiring import build_publisher

    key, root = key_of(project_dir), root_of(project_dir)
    record = load_project(config.paths, key)
    if record is None or not record.installs:
        return
    broken = list(_broken_links(root))

    def publish() -> str:
        build_publisher(config)(str(root), key)
        return f"published what the library holds to {root}"

    if broken:
        what = f"links that lead nowhere: {', '.join(broken)}"
        todo = f"skill-learner init --target {record.installs[0].target}"
        yield Finding("listing", FAULT, what, todo, publish)


def _broken_links(root: Path) -> Iterator[str]:
    from skill_learner.install.links import link_target
    from skill_learner.targets import TARGETS, get_target

    for name in TARGETS:
        folder = root / get_target(name).SKILLS_DIR["project"]
        for path in sorted(folder.glob("*")) if folder.is_dir() else ():
            if link_target(path) is not None and not os.path.exists(path):
                yield str(path)
