"""Remotes: one library for many machines. `ENGINES` is the table of what a remote can be."""

from __future__ import annotations

import importlib
from pathlib import Path

from skill_learner.remotes.protocol import Remote
from skill_learner.remotes.settings import RemoteSettings

ENGINES: dict[str, str] = {
    "git": "skill_learner.remotes.git",
    "postgres": "skill_learner.remotes.postgres",
}
"""Name of an engine: the module that has an `open_remote(settings, folder, machine)`."""


def open_remote(settings: RemoteSettings, folder: Path, machine: str) -> Remote:
    """The remote of these settings; `folder` is where an engine may keep what it can make again."""
    module = importlib.import_module(ENGINES[settings.engine])
    remote: Remote = module.open_remote(settings, folder, machine)
    return remote
