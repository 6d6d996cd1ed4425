"""`skill-learner purge`: take away what was recorded of sessions; the library stays."""

from __future__ import annotations

import re
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import ask, json_option, say, show_json, show_table
from skill_learner.cli.settings import key_of, load
from skill_learner.paths import StatePaths

if TYPE_CHECKING:
    from skill_learner.config import SkillLearnerConfig
    from skill_learner.recordings import Chosen

_DAY = 86_400


@click.command()
@click.option(
    "--project-dir",
    type=click.Path(path_type=Path, file_okay=False),
    help="Only what was recorded in this project.",
)
@click.option("--session", default="", metavar="ID", help="Only this session.")
@click.option("--older-than", metavar="DAYS", help="Only what is older: 30 or 30d.")
@click.option("--dry-run", is_flag=True, help="Say what would go, remove nothing.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@json_option
def command(
    project_dir: Path | None,
    session: str,
    older_than: str | None,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    """Take away journals and what was kept of sessions besides: reviews on record, command
    memories, conversations, logs. Skills, their uses, installs and spending stay."""
    from skill_learner.recordings import Chosen

    config = load()
    chosen = Chosen(
        keys=_keys(config.paths, project_dir) if project_dir else frozenset(),
        session=session,
        before=time.time() - _days(older_than) * _DAY if older_than else float("inf"),
    )
    counts = _purge(config, chosen, dry_run=True)
    if counts and not dry_run:
        if not yes:
            what = ", ".join(f"{number} {kind}" for kind, number in counts.items())
            ask(f"Remove for good: {what}?", "--yes")
        counts = _purge(config, chosen, dry_run=False)
    if as_json:
        show_json(counts)
    elif counts:
        rows = [(kind, number) for kind, number in counts.items()]
        show_table(("would go" if dry_run else "removed", "number"), rows)
    else:
        say("nothing of that was recorded")


def _purge(config: SkillLearnerConfig, chosen: Chosen, *, dry_run: bool) -> dict[str, int]:
    """Of editors' sessions, and of Python programs with the library in use; counts by kind."""
    from skill_learner.recordings import purge_recordings

    counts: Counter[str] = Counter()
    for paths in dict.fromkeys([config.paths, config.library_paths]):
        counts.update(purge_recordings(paths, chosen, dry_run=dry_run).counts)
    return dict(counts)


def _keys(paths: StatePaths, project_dir: Path) -> frozenset[str]:
    from skill_learner.project import load_project

    key = key_of(project_dir)
    record = load_project(paths, key)
    return frozenset({key, *(record.aliases if record else ())})


def _days(text: str) -> float:
    found = re.fullmatch(r"(\d+(?:\.\d+)?)\s*(?:d|days?)?", text.strip())
    if not found:
        raise click.BadParameter(f"{text!r} is no number of days", param_hint="--older-than")
    return float(found[1])
