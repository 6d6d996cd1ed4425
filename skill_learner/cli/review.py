"""`skill-learner review`: run the queued reviews now."""

from __future__ import annotations

import os
from pathlib import Path

import click

from skill_learner.cli.output import json_option, progress, say, show_json, show_table, warn
from skill_learner.cli.settings import load
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import JobError, SkillLearnerError
from skill_learner.jobs import Job, JobStore


@click.command()
@click.option("--session", metavar="ID", help="Only this session, even if nothing asked for it.")
@click.option(
    "--wait", is_flag=True, help="If another review runs, wait for it instead of leaving."
)
@click.option(
    "--detached", is_flag=True, help="As the hooks start it: log to a file, print nothing."
)
@click.option("--provider", metavar="NAME", help="With this provider, whatever the settings say.")
@json_option
def command(
    session: str | None, wait: bool, detached: bool, provider: str | None, as_json: bool
) -> None:
    """Run the queued reviews now, in the foreground."""
    from skill_learner.pipeline import collect_requests, run_jobs
    from skill_learner.wiring import build_services

    if detached:
        _run_detached()
        return
    config = load(arguments={"provider": provider})
    services = build_services(config, Path.cwd())
    collect_requests(services)
    with progress("reviewing") as step:
        jobs = run_jobs(services, progress=step, only_session=session, wait=wait)
    jobs += _library_jobs(config, session, by_hand=provider is not None)
    if session and not jobs:
        _explain_nothing(services.jobs, session)
    if as_json:
        show_json([job_data(job) for job in jobs])
    elif not jobs:
        say("nothing to review")
    else:
        rows = [(job.session, job.status, job.detail) for job in jobs]
        show_table(("session", "status", "detail"), rows)
    failed = [job for job in jobs if job.status in ("failed", "abandoned")]
    if failed:
        raise JobError(
            f"{len(failed)} of {len(jobs)} reviews failed: {failed[0].detail}",
            "`skill-learner status` lists them; `skill-learner doctor` looks for the cause",
        )


def _library_jobs(config: SkillLearnerConfig, session: str | None, *, by_hand: bool) -> list[Job]:
    """Conversations of Python programs go only where their program sends them, or where the user
    says by `--provider`."""
    from skill_learner.reviewer import OWNER, run_library_jobs
    from skill_learner.wiring import build_library_services

    if not config.library_paths.jobs_dir.is_dir():
        return []
    if not by_hand:
        waiting = [job for job in JobStore(config.library_paths).open() if job.owner == OWNER]
        if waiting:
            warn(
                f"{len(waiting)} conversations of Python programs wait for their own provider; "
                "--provider NAME reviews them with another"
            )
        return []
    return run_library_jobs(build_library_services(config), only_session=session)


def _run_detached() -> None:
    """Nobody sees what it prints, so even settings that cannot be read are told to review.log."""
    from skill_learner.paths import StatePaths, default_state_dir
    from skill_learner.pause import paused_until
    from skill_learner.pipeline import run_detached
    from skill_learner.pipeline.review_log import log_fault
    from skill_learner.wiring import build_services

    try:
        config = load()
        if config.off or paused_until(config.paths):
            return  # what is queued waits
        services = build_services(config, None)
    except SkillLearnerError as problem:
        state = os.environ.get("SKILL_LEARNER_STATE_DIR") or default_state_dir()
        log_fault(StatePaths(Path(state)).review_log, f"review: {problem.message}")
        raise
    run_detached(services)
    _sync_remotes()


def _sync_remotes() -> None:
    """The remotes whose time has come, once the reviews are done; faults are noted for `status`."""
    config = load()
    if not config.remotes:
        return
    from skill_learner.cli.sync import publish_all
    from skill_learner.remote_wiring import sync_due

    if any(report.unpublished for report in sync_due(config)):
        publish_all(config)


def _explain_nothing(store: JobStore, session: str) -> None:
    """Why an asked session was not reviewed: somebody else is at it, or nobody ever saw it."""
    if any(job.session == session for job in store.open()):
        raise JobError(
            f"{session}: another review runs, which will take it over", "--wait waits for its end"
        )
    raise JobError(f"no journal of a session {session!r}", "`skill-learner status` lists sessions")


def job_data(job: Job) -> dict[str, object]:
    """A job as plain data, the same in every command's JSON."""
    return {
        "id": job.id,
        "session": job.session,
        "project": job.project,
        "reason": job.reason,
        "status": job.status,
        "detail": job.detail,
        "attempts": job.attempts,
        "created": job.created,
        "updated": job.updated,
        "result": dict(job.result),
    }
