"""`skill-learner doctor`: look for what is wrong, say what to do, and do it where that is safe."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import click

from skill_learner.cli.finding import FAULT, OK, Finding
from skill_learner.cli.output import json_option, show_json, show_table
from skill_learner.cli.settings import load, project_dir_option
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import SkillLearnerError


@click.command()
@project_dir_option
@click.option("--fix", is_flag=True, help="Do what is safe to do.")
@json_option
@click.pass_context
def command(ctx: click.Context, project_dir: Path, fix: bool, as_json: bool) -> None:
    """Look for what is wrong, and say what to do. Exit code 1 when a fault is left.

    --fix closes files to other users, writes our own entries, links and launcher anew, removes
    drafts that a kill left, and queues reviews that nobody asked for. Nothing of yours is changed.
    """
    config = load(project_dir)
    findings = list(examine(config, project_dir))
    if fix:
        findings = [_fixed(finding) for finding in findings]
    if as_json:
        show_json([finding.data() for finding in findings])
    else:
        rows = [(f.check, f.result, f.what, f.todo) for f in findings]
        show_table(("check", "result", "found", "what to do"), rows)
    if any(finding.result == FAULT for finding in findings):
        ctx.exit(1)


def examine(config: SkillLearnerConfig, project_dir: Path) -> Iterator[Finding]:
    """Every check, in the order in which one would look."""
    from skill_learner.cli.check_editors import check_clients, check_installs, check_register
    from skill_learner.cli.check_learning import check_library, check_reviews
    from skill_learner.cli.check_remotes import check_remotes
    from skill_learner.cli.check_state import check_state

    yield Finding("python", OK, f"{sys.executable} ({sys.version.split()[0]})")
    yield from check_installs(config, project_dir)
    yield from check_register(config)
    yield from check_reviews(config)
    yield from check_library(config, project_dir)
    yield from check_remotes(config)
    yield from check_state(config)
    yield from check_clients()


def _fixed(finding: Finding) -> Finding:
    """The finding after its remedy; as it was where there is none or it does not help."""
    if finding.fix is None or finding.result == OK:
        return finding
    try:
        return replace(finding, result=OK, what=f"mended: {finding.fix()}", todo="", fix=None)
    except (SkillLearnerError, OSError) as problem:
        return replace(finding, what=f"{finding.what}; not mended: {problem}", fix=None)
