"""`skill-learner uninstall`: take out what init wrote."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import say, show_table
from skill_learner.cli.settings import project_dir_option, target_option
from skill_learner.config import SkillLearnerConfig

if TYPE_CHECKING:
    from skill_learner.install.places import Scope


@click.command()
@target_option
@project_dir_option
@click.option("--user", "scope", flag_value="user", help="Only what init --user wrote.")
@click.option("--local", "scope", flag_value="local", help="Only what init --local wrote.")
@click.option("--purge", is_flag=True, help="The library, journals and settings of it too.")
@click.option("--yes", is_flag=True, help="Do not ask before --purge.")
def command(target: str, project_dir: Path, scope: Scope | None, purge: bool, yes: bool) -> None:
    """Take out what init wrote. The library stays, unless --purge."""
    from skill_learner.install.installer import uninstall

    # hook.conf is not rewritten here, unlike in other commands: it is about to go
    config = SkillLearnerConfig.load(project_dir)
    if purge and not yes:
        click.confirm(f"Delete {config.state_dir} with every skill in it?", abort=True)
    report = uninstall(target, scope, project_dir, config.paths, purge=purge)
    if report.rows:
        show_table(("file", "what"), [(str(path), what) for path, what in report.rows])
    else:
        say("nothing of skill-learner was found here")
    for note in report.notes:
        say(f"note: {note}")
