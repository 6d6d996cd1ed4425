"""`skill-learner init`: write hooks, index and seed skill; ask what may leave."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from skill_learner.cli.output import say, show_table, warn
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import key_of, load, project_dir_option, target_option, tell_hooks
from skill_learner.config import SkillLearnerConfig

if TYPE_CHECKING:
    from skill_learner.consent import Consent
    from skill_learner.install.places import Scope

OFFLINE = "offline"


@click.command()
@target_option
@project_dir_option
@click.option("--user", is_flag=True, help="For all projects: in the home folder.")
@click.option("--local", is_flag=True, help="In settings that are not committed.")
@click.option("--rules", metavar="FILE", help="Cursor: the index in `cursorrules`, or in `mdc`.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
@click.option("--yes", is_flag=True, help="Agree to what would be asked.")
@click.option("--provider", metavar="NAME", help="Agree to this provider, or to `offline`.")
def command(
    target: str,
    project_dir: Path,
    user: bool,
    local: bool,
    **options: Any,
) -> None:
    """Install hooks, index and seed skill for an editor. Running it again changes nothing."""
    from skill_learner.install.installer import install
    from skill_learner.install.status import settings_warnings

    if user and local:
        raise click.UsageError("--user and --local are two installs; run init once for each")
    scope: Scope = "user" if user else "local" if local else "project"
    dry_run, provider = options["dry_run"], options["provider"]
    if provider is not None:
        _check_provider(provider)
    config = load(project_dir)
    _check_command(config, provider)
    for warning in settings_warnings(target, scope, project_dir):
        warn(warning)
    report = install(
        target,
        scope,
        project_dir,
        config.paths,
        dry_run=dry_run,
        rules=options["rules"],
    )
    rows = [(str(path), what) for path, what in report.rows]
    show_table(("file", "what"), rows, title="Nothing written; init would write:" * dry_run)
    for note in report.notes:
        say(f"note: {note}")
    if dry_run:
        return
    tell_hooks()
    # a library from before gives its skills at once
    publish_scope(config, "user" if scope == "user" else key_of(project_dir))
    say()
    _settle_provider(config, provider, options["yes"])
    say()
    say("Work as ever; `skill-learner status` shows what was seen and learned.")
    which = " --user" if scope == "user" else ""
    say(f"To undo: skill-learner uninstall --target {target}{which}")


def _check_provider(name: str) -> None:
    from skill_learner.providers import PROVIDERS

    known = ["auto", OFFLINE, *PROVIDERS]
    if name not in known:
        raise click.BadParameter(f"{name!r} is none of {', '.join(known)}", param_hint="--provider")


def _check_command(config: SkillLearnerConfig, wanted: str | None) -> None:
    """A `command` that is no words is said before anything is written; it may be set later."""
    if not config.command.strip() or (wanted or config.provider) != "command":
        return
    from skill_learner.errors import ConfigError
    from skill_learner.providers.command import split_command

    try:
        split_command(config.command)
    except ConfigError as problem:
        where = config.origins["command"]
        raise ConfigError(f"{where}: {problem.message}", problem.hint) from problem


def _settle_provider(config: SkillLearnerConfig, wanted: str | None, yes: bool) -> None:
    """Say what will leave the machine, and record the user's leave where it has to be asked."""
    from skill_learner.consent import consent_text, load_consent, save_consent
    from skill_learner.providers import detect, install_line, keys_without_sdk, what_is_missing

    def told(provider: str) -> str:
        return consent_text(provider, config.model, config.daily_reviews, config.daily_tokens)

    def record(provider: str) -> None:
        save_consent(
            config.paths, provider, config.model, config.daily_reviews, config.daily_tokens
        )

    if config.provider != "auto" and wanted is None:
        say(f"Reviewer: {config.provider}, as set by {config.origins['provider']}.")
        say(told(config.provider))
        return
    known = load_consent(config.paths)
    if wanted is None and known and _stands(known, config):
        say(f"Reviewer: {known.provider}, as you chose before.")
        say(told(known.provider))
        return
    offered = detect(config, os.environ) if wanted in (None, "auto") else wanted
    say(told(offered))
    if offered == OFFLINE and wanted is None:
        say("Reviewer: offline, since no logged-in claude and no key that can be used was found.")
        for name in keys_without_sdk(os.environ):
            say(f"A key for {name} is set, its package is not installed: {install_line(name)}")
    elif wanted is not None or yes:
        record(offered)
        say(f"Reviewer: {offered}.")
        missing = what_is_missing(offered, config, os.environ)
        if missing:
            warn(f"{offered} cannot work yet: {missing}")
    elif is_interactive():
        chosen = offered if click.confirm(f"Use {offered} for reviews?") else OFFLINE
        record(chosen)
        say(f"Reviewer: {chosen}.")
    else:
        say(f"Reviewer: offline. `skill-learner init --provider {offered}` gives your leave.")


def _stands(known: Consent, config: SkillLearnerConfig) -> bool:
    """Whether an earlier answer still says who reviews."""
    from skill_learner.providers import is_usable

    return known.covers(known.provider) and (
        known.provider == OFFLINE or is_usable(known.provider, config, os.environ)
    )


def is_interactive() -> bool:
    """Whether somebody can be asked."""
    return sys.stdin.isatty() and sys.stdout.isatty()
