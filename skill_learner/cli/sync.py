"""`skill-learner sync`: bring the library and its remotes up to date."""

from __future__ import annotations

from contextlib import nullcontext
from dataclasses import asdict
from typing import Any

import click

from skill_learner.cli.output import json_option, progress, say, show_json, show_table
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import load
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import RemoteError, SkillLearnerError
from skill_learner.remote_wiring import propose_again
from skill_learner.remotes.settings import RemoteSettings, remote_settings, settings_of
from skill_learner.remotes.sync import SyncReport


@click.command()
@click.argument("name", required=False)
@click.option(
    "--dry-run", is_flag=True, help="Show what would be done; library and remote stay as they are."
)
@click.option("--take", metavar="SKILL", help="Of two versions that wait, take the remote's.")
@click.option("--keep", metavar="SKILL", help="Of two versions that wait, keep this machine's.")
@click.option("--again", is_flag=True, help="Propose once more what people there declined.")
@json_option
def command(
    name: str | None,
    dry_run: bool,
    take: str | None,
    keep: str | None,
    again: bool,
    as_json: bool,
) -> None:
    """Sync with the remote NAME, or with all. Everything else goes on when one is unreachable."""
    config = load()
    chosen = [settings_of(config.remotes, name)] if name else remote_settings(config.remotes)
    if not chosen:
        raise RemoteError("there is no remote yet", "`skill-learner remote add NAME URL` adds one")
    if take or keep:
        if dry_run:
            raise click.UsageError("--dry-run writes nothing, --take and --keep decide: choose one")
        _settle(config, chosen, take, keep)
        return
    if again:
        if dry_run:
            raise click.UsageError("--dry-run proposes nothing, --again does: choose one")
        for settings in chosen:
            propose_again(config, settings)
    with progress("syncing") as step:
        reports = [_one(config, settings, dry_run, step) for settings in chosen]
    if any(report.unpublished for report in reports):
        publish_all(config)
    if as_json:
        show_json([_data(report) for report in reports])
    else:
        _show(reports)
    failed = [report for report in reports if report.error]
    if failed:
        raise RemoteError(
            f"{failed[0].remote}: {failed[0].error}",
            failed[0].hint or "The library here goes on by itself; the next sync tries again.",
        )


def publish_all(config: SkillLearnerConfig) -> None:
    """Bring every project's skills folder and index up to date, and the user's."""
    from skill_learner.project import list_projects
    from skill_learner.remote_wiring import note_published

    scopes = ("user", *(record.key for record in list_projects(config.paths)))
    done = [publish_scope(config, scope) for scope in scopes]
    if all(done):
        note_published(config)


def _one(
    config: SkillLearnerConfig, settings: RemoteSettings, dry_run: bool, step: Any
) -> SyncReport:
    from skill_learner.remote_wiring import aside_if_read_only, build_sync

    step(settings.name)
    with aside_if_read_only(config) if dry_run else nullcontext() as aside:
        synchroniser = build_sync(config, settings, aside=aside)
        try:
            return synchroniser.sync(dry_run=dry_run)
        except SkillLearnerError as problem:
            return synchroniser.failed(problem)
        finally:
            synchroniser.close()


def _settle(
    config: SkillLearnerConfig, chosen: list[RemoteSettings], take: str | None, keep: str | None
) -> None:
    from skill_learner.remote_wiring import build_sync

    if len(chosen) != 1 or (take and keep):
        raise click.UsageError("name the remote, and one of --take and --keep")
    synchroniser = build_sync(config, chosen[0])
    done = synchroniser.settle(take or keep or "", take=bool(take))
    synchroniser.close()
    publish_all(config)
    say(f"{done.name}: {done.outcome}; `skill-learner sync {chosen[0].name}` tells the others")


def _data(report: SyncReport) -> dict[str, Any]:
    told = {**asdict(report), "changed_home": report.changed_home}
    del told["unpublished"]  # it was published before this is told
    return told


def _show(reports: list[SyncReport]) -> None:
    rows = [
        (report.remote, one.direction, one.name, one.outcome, one.detail)
        for report in reports
        for one in report.outcomes
    ]
    if rows:
        show_table(("remote", "way", "skill", "outcome", "detail"), rows)
    for report in reports:
        if report.proposed:
            say(f"{report.remote}: {report.proposed}")
        if not report.outcomes and not report.error and not report.proposed:
            say(f"{report.remote}: nothing to do")
