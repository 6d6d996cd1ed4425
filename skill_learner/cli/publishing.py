"""Bring a project's skills folder and index up to date after a command changed the library."""

from __future__ import annotations

from pathlib import Path

from skill_learner.cli.output import warn
from skill_learner.config import SkillLearnerConfig
from skill_learner.errors import SkillLearnerError


def publish_scope(config: SkillLearnerConfig, scope: str) -> bool:
    """Publish what belongs to `scope`: a project's key, or "user". False when it has to be done
    again.

    A project whose folder is gone, or whose files cannot be written, is only warned about: the
    library has already changed.
    """
    from skill_learner.project import load_project
    from skill_learner.wiring import build_publisher

    record = load_project(config.paths, scope)
    if scope != "user" and (record is None or not Path(record.path).is_dir()):
        return True
    try:
        build_publisher(config)(record.path if record else "", record.key if record else scope)
    except (SkillLearnerError, OSError) as problem:
        warn(f"{record.path if record else 'home folder'}: not updated: {problem}")
        return False
    return True
