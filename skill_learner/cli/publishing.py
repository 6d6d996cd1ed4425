"""Bring a project's skills folder and index up to date after a command changed the library."""

from __future__ import annotations

from skill_learner.cli.output import warn
from skill_learner.config import SkillLearnerConfig


def publish_scope(config: SkillLearnerConfig, scope: str) -> None:
    """Publish to the project whose key is `scope` ("user": to every project that has an install).

    A project whose folder is gone is only warned about: the library has already changed.
    """
    from skill_learner.project import list_projects
    from skill_learner.wiring import build_publisher

    publisher = build_publisher(config)
    known = list_projects(config.paths)
    wanted = [record for record in known if scope in ("user", record.key)]
    for record in wanted:
        try:
            publisher(record.path, record.key)
        except OSError as problem:
            warn(f"{record.path}: not updated: {problem.strerror or problem}")
