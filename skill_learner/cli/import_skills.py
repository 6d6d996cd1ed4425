"""`skill-learner import`: take in skills from an export, an archive, or folders of other tools."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from skill_learner.cli.output import json_option, show_json, show_table
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import key_of, load, project_dir_option, root_of
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import SkillFormatError


@click.command()
@click.argument("source", type=click.Path(path_type=Path, exists=True, allow_dash=True))
@click.option("--user", is_flag=True, help="All of them for all projects.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
@project_dir_option
@json_option
def command(source: Path, user: bool, dry_run: bool, project_dir: Path, as_json: bool) -> None:
    """Take in skills: a JSON or zip export, a SKILL.md, a folder with skills, or - for stdin.

    Their bytes stay as they are, a skill that is there already is never changed, and what looks
    like a smuggled instruction waits as a candidate. A skill is this project's, unless its export
    says that it was for all projects, or another's that is known here.
    """
    from dataclasses import asdict

    from skill_learner.exchange.importing import ImportTarget, import_skills
    from skill_learner.exchange.sources import read_source, read_stream
    from skill_learner.wiring import build_library

    config = load(project_dir)
    piped = str(source) == "-"
    incoming = read_stream(sys.stdin.buffer, "-") if piped else read_source(source)
    scope = "user" if user else key_of(project_dir)
    known = {} if user else _known_scopes(config)
    target = ImportTarget(scope, root_of(project_dir).name, dry_run, known)
    done = import_skills(incoming, build_library(config), target, _suspicions)
    for changed in sorted({item.scope for item in done if item.outcome == "written"}):
        publish_scope(config, changed)
    if as_json:
        show_json([asdict(item) for item in done])
    elif not done:
        click.echo(f"no skill in {'what was piped' if piped else source}")
    else:
        show_table(("skill", "outcome", "detail"), [(i.name, i.outcome, i.detail) for i in done])
    refused = [item for item in done if item.outcome == "refused"]
    if refused:
        raise SkillFormatError(
            f"{len(refused)} of {len(done)} skills were refused: {refused[0].detail}"
        )


def _known_scopes(config: SkillLearnerConfig) -> dict[str, str]:
    """The user's, and those of projects that are still there, by their former keys too."""
    from skill_learner.project import list_projects

    known = {"user": "user"}
    for record in list_projects(config.paths):
        if Path(record.path).is_dir():
            known |= dict.fromkeys((*record.aliases, record.key), record.key)
    return known


def _suspicions(text: str) -> list[str]:
    from skill_learner.learning.injection import findings

    return [finding.reason for finding in findings(text)]
