"""The one skill that init brings along: it tells the agent how to recall and how to save."""

from __future__ import annotations

from skill_learner.errors import InstallError
from skill_learner.paths import data_dir

_MARK = b"skill-learner-seed:"


def seed_skill() -> bytes:
    """Its SKILL.md. Raises InstallError when the package lacks the template."""
    path = data_dir("templates") / "seed-skill" / "SKILL.md"
    try:
        return path.read_bytes()
    except OSError:
        raise InstallError(
            f"{path}: missing, so the package is damaged", "Install skill-learner again."
        ) from None


def is_our_seed(data: bytes) -> bool:
    """Whether a SKILL.md is one of ours, of any version (as far as its front matter says)."""
    return _MARK in data.replace(b"\r\n", b"\n").split(b"\n---\n", 1)[0]
