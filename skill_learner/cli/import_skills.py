"""`skill-learner import FILE`: read skills that export wrote."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, BinaryIO

import click

from skill_learner.cli.output import json_option, show_json, show_table
from skill_learner.cli.publishing import publish_scope
from skill_learner.cli.settings import key_of, load, project_dir_option, root_of
from skill_learner.errors import SkillFormatError

MOST_BYTES = 100 * 1024 * 1024


@click.command()
@click.argument("file", type=click.File("rb"))
@click.option("--user", is_flag=True, help="For all projects, not only this one.")
@click.option("--dry-run", is_flag=True, help="Show what would be written, write nothing.")
@project_dir_option
@json_option
def command(file: BinaryIO, user: bool, dry_run: bool, project_dir: Path, as_json: bool) -> None:
    """Read skills from FILE (- for stdin). A skill that is there already is never changed."""
    from dataclasses import asdict

    from skill_learner.skill_exchange import import_skills, read_document
    from skill_learner.wiring import build_library

    config = load(project_dir)
    incoming = read_document(_parsed(file))
    scope = "user" if user else key_of(project_dir)
    done = import_skills(
        incoming,
        build_library(config),
        scope=scope,
        project_slug=root_of(project_dir).name,
        dry_run=dry_run,
    )
    if any(item.outcome == "written" for item in done):
        publish_scope(config, scope)
    if as_json:
        show_json([asdict(item) for item in done])
    else:
        show_table(("skill", "outcome", "detail"), [(i.name, i.outcome, i.detail) for i in done])


def _parsed(file: BinaryIO) -> Any:
    data = file.read(MOST_BYTES + 1)
    if len(data) > MOST_BYTES:
        raise SkillFormatError(f"{file.name}: more than {MOST_BYTES} bytes")
    try:
        return json.loads(data)
    except json.JSONDecodeError as problem:
        raise SkillFormatError(
            f"{file.name}:{problem.lineno}:{problem.colno}: not valid JSON: {problem.msg}",
            "nothing was written",
        ) from problem
    except (ValueError, RecursionError) as problem:
        raise SkillFormatError(f"{file.name}: not valid JSON: {problem}") from problem
