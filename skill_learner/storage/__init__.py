"""Storage backends: where the derived index over the library is kept."""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import cast

from skill_learner.errors import ConfigError
from skill_learner.interfaces import SkillIndex

BACKENDS = {
    "sqlite": "skill_learner.storage.sqlite:SqliteIndex",
    "filesystem": "skill_learner.storage.filesystem:FilesystemIndex",
}


def open_index(backend: str, db: Path) -> SkillIndex:
    """The index of a backend by its configured name. `db` is the file of those that keep one."""
    if backend not in BACKENDS:
        raise ConfigError(
            f"storage_backend {backend!r} is not known", f"Choose one of: {', '.join(BACKENDS)}."
        )
    module, _, name = BACKENDS[backend].partition(":")
    return cast(SkillIndex, getattr(import_module(module), name)(db))
