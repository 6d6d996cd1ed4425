"""Skills as they leave: the bytes of their files, links left out."""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from skill_learner.exchange.safe_files import SKILL_FILE, Files, SkillFileData, is_ignored
from skill_learner.models import Skill


@dataclass(frozen=True)
class ExportedSkill:
    name: str
    state: str
    scope: str
    files: Files


def exported(skill: Skill) -> ExportedSkill:
    """A skill with every regular file of its folder. A SKILL.md in another case gets its name."""
    file = Path(skill.path)
    files = {SKILL_FILE: SkillFileData(file.read_bytes())}
    for path in _regular_files(file.parent):
        relative = path.relative_to(file.parent).as_posix()
        if path != file and relative.lower() != SKILL_FILE.lower() and not is_ignored(relative):
            files[relative] = SkillFileData(path.read_bytes(), os.access(path, os.X_OK))
    return ExportedSkill(skill.name, skill.state, skill.scope, files)


def _regular_files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not (Path(root) / name).is_symlink())
        for name in sorted(names):
            path = Path(root) / name
            if path.is_file() and not path.is_symlink():
                yield path
