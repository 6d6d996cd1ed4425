"""What is installed for a project, as `status` and `doctor` show it."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

from skill_learner.cli.output import when
from skill_learner.config import SkillLearnerConfig
from skill_learner.install.installer import installed
from skill_learner.install.status import ScopeStatus, installation_status
from skill_learner.project import project_root, worktree_root
from skill_learner.targets import get_target


def installs_here(config: SkillLearnerConfig, project_dir: Path) -> list[ScopeStatus]:
    """Installs that stand, or should stand, in this folder, at the top of its worktree, or for the
    user; of editors that read it, also in the main worktree."""
    here = project_dir.resolve()
    near = (here, worktree_root(here))
    found = {
        (status.target, status.scope, status.root): status
        for folder in dict.fromkeys((*near, project_root(here)))
        for status in installation_status(config.paths, folder)
        if (status.installed or status.on_record)
        and (folder in near or _reads_main_worktree(status, near[1]))
    }
    return list(found.values())


def installs_elsewhere(config: SkillLearnerConfig, project_dir: Path) -> list[dict[str, str]]:
    """Where else this state folder knows of installs."""
    here = {(s.target, s.scope, s.root) for s in installs_here(config, project_dir)}
    return [
        {"target": record.target, "scope": record.scope, "root": record.root}
        for record in installed(config.paths)
        if (record.target, record.scope, record.root) not in here
    ]


def every_install(config: SkillLearnerConfig) -> list[dict[str, Any]]:
    """Every install on record, as it stands today."""
    found = []
    for record in installed(config.paths):
        root = Path(record.root)
        folder = {"target": record.target, "scope": record.scope, "root": record.root}
        if not root.is_dir():
            gone = {"installed": False, "complete": False, "last_fired": None}
            found.append({**folder, **gone, "missing_folder": True})
            continue
        for status in installation_status(config.paths, root):
            if (status.target, status.scope) == (record.target, record.scope):
                found.append({**install_data(status), "missing_folder": False})
    return found


def install_data(status: ScopeStatus) -> dict[str, Any]:
    """One install as plain data."""
    data = asdict(status)
    data.pop("launcher")
    return data


def install_warnings(config: SkillLearnerConfig, project_dir: Path) -> list[str]:
    """What keeps hooks from firing in sessions that are started in this folder."""
    here = str(project_dir.resolve())
    found = installs_here(config, project_dir)
    working = [status for status in found if status.installed]
    warnings = [
        f"{status.target}, {status.scope}: {problem}"
        for status in found
        for problem in (*status.problems, *status.not_run, *status.notes)
    ]
    for status in found:
        warnings += [f"{path} switches all hooks off" for path in status.disabled_by]
        if not status.installed:
            again = f"skill-learner init --target {status.target}"
            warnings.append(f"{status.target}, {status.scope}: its hooks are gone: {again}")
    if not found:
        warnings.append("no editor is set up here: skill-learner init --target claude-code")
    elif working and not any(_reaches(status, here) for status in working):
        warnings.append(
            f"a session started in {here} does not read the settings of {working[0].root}, so no "
            f"hook fires: start it there, or run `skill-learner init --target "
            f"{working[0].target} --user`"
        )
    return list(dict.fromkeys([*warnings, *_switches(config, project_dir)]))


def _reads_main_worktree(status: ScopeStatus, worktree: Path) -> bool:
    target = get_target(status.target)
    return target.READS_ABOVE and (worktree / target.SETTINGS_FILE["project"]).parent.is_dir()


def _reaches(status: ScopeStatus, here: str) -> bool:
    """Whether sessions that are started in `here` read the settings of an install found there."""
    above = get_target(status.target).READS_ABOVE
    return status.scope == "user" or status.root == here or above


def pauses(config: SkillLearnerConfig) -> list[str]:
    """The pause that is on, in words."""
    from skill_learner.pause import FOR_EVER, paused_until

    until = paused_until(config.paths)
    lasts = "" if until == FOR_EVER else f" until {when(until)}"
    return [f"recording is paused{lasts}: skill-learner resume"] if until else []


def _switches(config: SkillLearnerConfig, project_dir: Path) -> list[str]:
    """What the user set so that nothing is recorded here."""
    here, root = project_dir.resolve(), project_root(project_dir)
    found = [f"switched off by {config.origins['off']}"] if config.off else []
    for folder in dict.fromkeys((here, worktree_root(here), root)):
        if (folder / ".skill-learner-off").exists():
            found.append(f"{folder / '.skill-learner-off'} switches it off")
    if config.privacy.ignores_project(str(root)):
        found.append(f"{root} is ignored by {config.origins['ignore_projects']}")
    return found
