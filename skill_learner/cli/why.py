"""`skill-learner why`: what became of one session, or of one skill, and why."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from skill_learner.cli.output import json_option, say, show_json, show_table, when
from skill_learner.cli.settings import key_of, load, project_dir_option, root_of
from skill_learner.config import SkillLearnerConfig

if TYPE_CHECKING:
    from skill_learner.remotes.scope_names import ScopeNames
    from skill_learner.remotes.settings import RemoteSettings
    from skill_learner.session_trace import Station, Surroundings


@click.command()
@click.argument("session", default="last")
@project_dir_option
@json_option
def command(session: str, project_dir: Path, as_json: bool) -> None:
    """Follow a session from the hook to the skill, to the step where it stopped, and say what would
    change it. SESSION is an id, the beginning of one, or `last` of this project; for the name of a
    skill, whether it is shared by the remotes, and what keeps it from that."""
    from skill_learner.errors import JobError
    from skill_learner.session_trace import find_session, trace

    config = load(project_dir)
    around = surroundings(config, project_dir)
    try:
        journal = find_session(around, session)
    except JobError:
        stations = _of_skill(config, around, session)
        if not stations:
            raise
        _show({"skill": session}, stations, as_json)
        return
    stations = trace(around, journal)
    if config.remotes and journal is not None:
        stations += _synced(config, around, journal)
    _show({"session": journal.stem if journal else ""}, stations, as_json)


def _show(about: dict[str, str], stations: list[Station], as_json: bool) -> None:
    if as_json:
        show_json({**about, "stations": [asdict(station) for station in stations]})
        return
    for kind, name in about.items():
        if name:
            say(f"{kind} {name}")
    rows = [(item.step, item.result, item.what, item.change) for item in stations]
    show_table(("step", "result", "what", "what would change it"), rows)


def _of_skill(config: SkillLearnerConfig, around: Surroundings, name: str) -> list[Station]:
    """What is known of a skill of that name, here and at the remotes; empty for nothing."""
    from skill_learner.errors import LibraryError, SkillLearnerError
    from skill_learner.session_trace import Station
    from skill_learner.sync_trace import skill_stations

    skill, stations = None, []
    try:
        skill = around.get_skill(name)
    except LibraryError:  # there is none
        pass
    except SkillLearnerError as problem:
        stations.append(Station("file", "stopped", problem.message, problem.hint))
    else:
        told = f"skill-learner history {name}"
        stations.append(Station("file", "ok", f"{skill.path}: {skill.state}", told))
    if config.remotes:
        stations += skill_stations(*_memory(config), name, skill, _scopes(config), when)
    return stations


def _synced(config: SkillLearnerConfig, around: Surroundings, journal: Path) -> list[Station]:
    from skill_learner.sync_trace import skills_written, sync_stations

    skills = skills_written(around, journal)
    return list(sync_stations(*_memory(config), skills, _scopes(config), when))


def _memory(config: SkillLearnerConfig) -> tuple[Path, list[RemoteSettings]]:
    from skill_learner.remotes.settings import remote_settings

    return config.library_paths.remotes_db, remote_settings(config.remotes)


def _scopes(config: SkillLearnerConfig) -> ScopeNames:
    from skill_learner.project import list_projects
    from skill_learner.remotes.scope_names import ScopeNames

    return ScopeNames({p.key: Path(p.path).name for p in list_projects(config.paths)})


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
