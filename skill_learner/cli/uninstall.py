"""`skill-learner uninstall`: take out what init wrote."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, cast

import click

from skill_learner.cli.output import ask, say, show_table
from skill_learner.cli.settings import project_dir_option
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import InstallError

if TYPE_CHECKING:
    from skill_learner.install.places import Scope


@click.command()
@click.option("--target", metavar="EDITOR", help="The editor, as for init.")
@project_dir_option
@click.option("--user", "scope", flag_value="user", help="Only what init --user wrote.")
@click.option("--local", "scope", flag_value="local", help="Only what init --local wrote.")
@click.option("--all", "which", flag_value="all", help="Every install on record, anywhere.")
@click.option("--gone", "which", flag_value="gone", help="Every install whose folder is gone.")
@click.option("--purge", is_flag=True, help="The state folder too, with library and journals.")
@click.option("--yes", is_flag=True, help="Do not ask before --purge.")
def command(
    target: str | None,
    project_dir: Path,
    scope: Scope | None,
    which: str | None,
    purge: bool,
    yes: bool,
) -> None:
    """Take out what init wrote. The library stays, unless --purge; one that `skills_dir` puts
    outside of the state folder stays even then, since your own skills may lie there, too."""
    if (which is None) == (target is None):
        raise click.UsageError("give --target EDITOR, or --all, or --gone")
    # hook.conf is not rewritten here, unlike in other commands: it is about to go
    config = SkillLearnerConfig.load(project_dir)
    library = _library_elsewhere(config)  # asked now: of a link nothing is left to ask
    if purge and not yes:
        stays = f" The library in {library} stays." if library else ""
        ask(f"Delete {config.state_dir} with everything in it?{stays}", "--yes")
    if target is None:
        _everywhere(config, which == "gone", purge)
    else:
        _one(config, target, scope, project_dir, purge)
    if purge and library is not None and library.is_dir():
        say(f"note: the library stays in {library}; delete that folder if you want it to go")


def _library_elsewhere(config: SkillLearnerConfig) -> Path | None:
    """Where the user put the library, if it does not go with the state folder."""
    real = Path(os.path.realpath(config.skills_dir))
    inside = real.is_relative_to(os.path.realpath(config.state_dir))
    return None if inside else real


def _one(
    config: SkillLearnerConfig, target: str, scope: Scope | None, place: Path, purge: bool
) -> None:
    from skill_learner.install.installer import uninstall

    report = uninstall(target, scope, place, config.paths, purge=purge)
    if report.rows:
        show_table(("file", "what"), [(str(path), what) for path, what in report.rows])
    else:
        where = "what `init --user` writes" if scope == "user" else place.resolve()
        say(f"nothing of skill-learner was found in {where}")
    for note in report.notes:
        say(f"note: {note}")


def _everywhere(config: SkillLearnerConfig, gone: bool, purge: bool) -> None:
    """One after the other; where one is refused, the others are taken out all the same."""
    from skill_learner.install.installer import installed
    from skill_learner.install.purge import check_purge, purge_state

    refused = []
    records = installed(config.paths)
    chosen = [r for r in records if not gone or not Path(r.root).is_dir()]
    if purge:
        check_purge(config.paths, [r for r in records if r not in chosen])
    for record in chosen:
        say(f"{record.target}, {record.scope}, {record.root}:")
        try:
            _one(config, record.target, cast("Scope", record.scope), Path(record.root), purge=False)
        except InstallError as problem:
            refused.append(record.root)
            say(f"refused: {problem.message}")
    if not chosen:
        say("no install is on record" if not gone else "every install's folder is there")
    if refused:
        raise InstallError(
            f"{len(refused)} of {len(chosen)} installs were left: {', '.join(refused)}",
            "correct what was refused, then run it again",
        )
    if purge:
        rows, notes = purge_state(config.paths)
        show_table(("file", "what"), rows)
        for note in notes:
            say(f"note: {note}")
