"""Installs that no record tells of: a teammate committed our hooks with the project's settings."""

from __future__ import annotations

from pathlib import Path

from skill_learner.errors import InstallError
from skill_learner.install import json_splice, markdown_block
from skill_learner.install.places import Places, places_for, read_if_there, scopes_of
from skill_learner.project import ProjectInstall
from skill_learner.targets import TARGETS, get_target
from skill_learner.targets.protocol import Target


def recognised_installs(project: Path) -> list[ProjectInstall]:
    """Those whose hooks stand in the settings of `project`, on record or not."""
    if not project.is_dir():
        return []
    return [
        ProjectInstall(name, scope, str(project))
        for name in TARGETS
        for scope in scopes_of(get_target(name))
        if scope != "user"
        and _has_hooks(get_target(name), places_for(get_target(name), scope, project))
    ]


def has_block(places: Places) -> bool:
    """Whether our block stands in the notes; a damaged one does not count."""
    try:
        notes = read_if_there(places.index) if places.index else None
        if notes is None or places.index is None:
            return False
        return markdown_block.read_block(notes, places.index) is not None
    except InstallError:
        return False


def _has_hooks(target: Target, places: Places) -> bool:
    try:
        data = read_if_there(places.settings) or b""
        return bool(json_splice.events_of_ours(data, target.is_our_hook, places.settings))
    except InstallError:
        return False
