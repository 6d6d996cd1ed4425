"""`skill-learner doctor`: look for what is wrong, and say what to do."""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path

import click

from skill_learner.cli.output import json_option, show_json, show_table
from skill_learner.cli.settings import load, project_dir_option
from skill_learner.config import SkillLearnerConfig
from skill_learner.install.status import ScopeStatus

DAY = 86_400.0


@dataclass(frozen=True)
class Finding:
    """result: ok, note (nothing to do, or the user's choice) or fault. todo: the next step."""

    check: str
    result: str
    what: str
    todo: str = ""


@click.command()
@project_dir_option
@json_option
@click.pass_context
def command(ctx: click.Context, project_dir: Path, as_json: bool) -> None:
    """Look for what is wrong, and say what to do. Exit code 1 when there is a fault."""
    config = load(project_dir)
    findings = list(examine(config, project_dir))
    if as_json:
        show_json([asdict(finding) for finding in findings])
    else:
        rows = [(f.check, f.result, f.what, f.todo) for f in findings]
        show_table(("check", "result", "found", "what to do"), rows)
    if any(finding.result == "fault" for finding in findings):
        ctx.exit(1)


def examine(config: SkillLearnerConfig, project_dir: Path) -> Iterator[Finding]:
    """Every check, in the order in which one would look."""
    yield Finding("python", "ok", f"{sys.executable} ({sys.version.split()[0]})")
    yield from _installs(config, project_dir)
    yield from _reviews(config)
    yield from _library(config)
    yield _hook_log(config)
    yield _client()


def _installs(config: SkillLearnerConfig, project_dir: Path) -> Iterator[Finding]:
    from skill_learner.cli.installs import install_warnings, installs_here
    from skill_learner.targets import get_target

    found = installs_here(config, project_dir)
    for status in found:
        yield _registration(status)
        yield _fired(config, status)
    told = {problem for status in found for problem in status.problems}
    for name in dict.fromkeys(status.target for status in found):
        for limit in get_target(name).LIMITS:
            yield Finding(f"{name}: known", "note", limit)
    for warning in install_warnings(config, project_dir):
        if not any(problem in warning for problem in told):
            yield Finding("place", "note", warning)


def _registration(status: ScopeStatus) -> Finding:
    check = f"{status.target}, {status.scope}"
    again = f"skill-learner init --target {status.target}"
    if status.problems:
        return Finding(check, "fault", "; ".join(status.problems), again)
    if status.disabled_by:
        what = f"all hooks are switched off by {', '.join(status.disabled_by)}"
        return Finding(check, "fault", what, "take `disableAllHooks` out there")
    if not status.installed:
        return Finding(check, "fault", f"its hooks are gone from {status.root}", again)
    if not status.complete:
        what = f"hooks are there, index or skill is missing: only {', '.join(status.files)}"
        return Finding(check, "fault", what, again)
    starts = f", started by {status.launcher.interpreter}" if status.launcher else ""
    return Finding(check, "ok", f"complete in {status.root}{starts}")


def _fired(config: SkillLearnerConfig, status: ScopeStatus) -> Finding:
    from skill_learner.cli.output import when

    check = f"{status.target}, {status.scope}: events"
    if status.last_fired:
        return Finding(check, "ok", f"last one {when(status.last_fired)}")
    if config.off:
        return Finding(check, "note", f"switched off by {config.origins['off']}")
    todo = f"work in {status.root} with the editor; a session that runs already needs a restart"
    return Finding(check, "note", "none yet", todo)


def _reviews(config: SkillLearnerConfig) -> Iterator[Finding]:
    from skill_learner.jobs import JobStore
    from skill_learner.ledger import Ledger
    from skill_learner.wiring import reviewer_name

    jobs = JobStore(config.paths).all() if config.paths.jobs_dir.exists() else []
    recent = [job for job in jobs if job.updated > time.time() - DAY]
    failed = [job for job in recent if job.status in ("failed", "abandoned")]
    if failed:
        what = f"{len(failed)} of {len(recent)} failed in 24 h; the last: {failed[-1].detail}"
        yield Finding("reviews", "fault", what, f"see {config.paths.review_log}")
    else:
        yield Finding("reviews", "ok", f"{len(recent)} in 24 h, none failed")
    waiting = [job for job in jobs if job.status == "queued"]
    if waiting:
        oldest = waiting[0].detail or "they run at the next session's start"
        yield Finding("queue", "note", f"{len(waiting)} wait: {oldest}", "skill-learner review")
    yield Finding("reviewer", "ok", reviewer_name(config))
    spend = Ledger(config.paths.ledger).today()
    reached = spend.reviews >= config.daily_reviews or spend.tokens >= config.daily_tokens
    what = (
        f"{spend.reviews} of {config.daily_reviews} reviews, "
        f"{spend.tokens:,} of {config.daily_tokens:,} tokens today"
    )
    yield Finding("ceilings", "note" if reached else "ok", what)


def _library(config: SkillLearnerConfig) -> Iterator[Finding]:
    from skill_learner.wiring import build_library

    library = build_library(config)
    problems = library.problems()
    for problem in problems:
        yield Finding("library", "fault", problem.message, problem.hint)
    if not problems:
        yield Finding("library", "ok", f"{len(library.list())} skills in {config.skills_dir}")


def _hook_log(config: SkillLearnerConfig) -> Finding:
    try:
        modified = config.paths.hook_log.stat().st_mtime
        last = config.paths.hook_log.read_text("utf-8", "replace").strip().splitlines()[-1:]
    except OSError:
        return Finding("hook.log", "ok", "no faults of hooks")
    if modified < time.time() - 7 * DAY or not last:
        return Finding("hook.log", "ok", "no faults of hooks in the last week")
    return Finding("hook.log", "note", last[0][:200], f"see {config.paths.hook_log}")


def _client() -> Finding:
    found = shutil.which("claude")
    if found:
        return Finding("claude", "ok", found)
    return Finding("claude", "note", "not on PATH", "only the claude-cli reviewer needs it")
