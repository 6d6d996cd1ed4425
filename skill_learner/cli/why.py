"""`skill-learner why`: what became of one session, and why."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import json_option, say, show_json, show_table, when
from skill_learner.cli.settings import key_of, load, project_dir_option, root_of
from skill_learner.config import SkillLearnerConfig

if TYPE_CHECKING:
    from skill_learner.session_trace import Station, Surroundings


@click.command()
@click.argument("session", default="last")
@project_dir_option
@json_option
def command(session: str, project_dir: Path, as_json: bool) -> None:
    """Follow a session from the hook to the skill, to the step where it stopped, and say what would
    change it. SESSION is an id, the beginning of one, or `last` of this project."""
    from skill_learner.session_trace import find_session, trace

    config = load(project_dir)
    around = surroundings(config, project_dir)
    journal = find_session(around, session)
    stations = trace(around, journal)
    if config.remotes and journal is not None:
        stations += _synced(config, around, journal)
    if as_json:
        name = journal.stem if journal else ""
        show_json({"session": name, "stations": [asdict(station) for station in stations]})
        return
    if journal is not None:
        say(f"session {journal.stem}")
    rows = [(item.step, item.result, item.what, item.change) for item in stations]
    show_table(("step", "result", "what", "what would change it"), rows)


def _synced(config: SkillLearnerConfig, around: Surroundings, journal: Path) -> list[Station]:
    from skill_learner.project import list_projects
    from skill_learner.remotes.scope_names import ScopeNames
    from skill_learner.remotes.settings import remote_settings
    from skill_learner.sync_trace import skills_written, sync_stations

    db = config.library_paths.remotes_dir / "state.sqlite"
    scopes = ScopeNames({p.key: Path(p.path).name for p in list_projects(config.paths)})
    skills = skills_written(around, journal)
    return list(sync_stations(db, remote_settings(config.remotes), skills, scopes, when))


def surroundings(config: SkillLearnerConfig, project_dir: Path) -> Surroundings:
    from skill_learner.project import load_project
    from skill_learner.session_trace import Surroundings
    from skill_learner.targets import TARGETS, get_target
    from skill_learner.wiring import build_library

    key, root = key_of(project_dir), root_of(project_dir)
    record = load_project(config.paths, key)
    folders = (get_target(name).SKILLS_DIR for name in TARGETS)
    home = Path.home()
    return Surroundings(
        paths=config.paths,
        keys=frozenset({key, *(record.aliases if record else ())}),
        nudge_interval=config.nudge_interval,
        obstacles=obstacles(config, project_dir),
        get_skill=build_library(config).get,
        skills_dirs=[
            place
            for folder in folders
            for place in (root / folder["project"], home / folder["user"].removeprefix("~/"))
        ],
    )


def obstacles(config: SkillLearnerConfig, project_dir: Path) -> list[str]:
    """What keeps hooks from recording here, in words."""
    from skill_learner.cli.installs import install_warnings, pauses

    return [*pauses(config), *install_warnings(config, project_dir)]
