"""The settings that hooks need, in a file that they read without YAML."""

from __future__ import annotations

import os
from collections.abc import Mapping

from skill_learner.config import SkillLearnerConfig
from skill_learner.files import atomic_write, ensure_private_dir
from skill_learner.pause import paused_until


def write_hook_conf(
    config: SkillLearnerConfig, project_intervals: Mapping[str, int] | None = None
) -> None:
    """Tell the hooks, which read no YAML, the settings they need; only when they changed.

    Give it the user's own settings, not a project's: the file serves every project.
    project_intervals: `nudge_interval` of projects that set one of their own, by project key.
    """
    ignored = config.privacy.hook_lines()
    lines = [
        f"nudge_interval={config.nudge_interval}",
        f"payload_cap={config.payload_cap}",
        f"off={int(config.off)}",
        f"inject={config.inject}",
        *_library_lines(config),
        f"paused_until={paused_until(config.paths)}",
        f"ignores={len(ignored)}",
        *ignored,
        *(f"nudge_interval.{key}={n}" for key, n in sorted((project_intervals or {}).items())),
    ]
    text = os.fsencode("\n".join(lines) + "\n")
    target = config.paths.hook_conf
    try:
        if target.read_bytes() == text:
            return
    except OSError:
        pass
    ensure_private_dir(target.parent)
    atomic_write(target, text, 0o600)


def _library_lines(config: SkillLearnerConfig) -> list[str]:
    """Where library and index are, when they are not where a hook would look."""
    if config.skills_dir == config.state_dir / "skills":
        return []
    return [f"skills={config.skills_dir}", f"index={config.index_db}"]
