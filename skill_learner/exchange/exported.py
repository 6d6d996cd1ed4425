"""Skills as they leave: the bytes of their files, links left out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from skill_learner.errors import SkillFormatError
from skill_learner.exchange.safe_files import (
    MOST_IN_ALL,
    SKILL_FILE,
    Files,
    SkillFileData,
    check_path,
    check_portable,
    is_ignored,
)
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


def refusals(skills: Iterable[ExportedSkill]) -> Iterator[str]:
    """Why an import would refuse some of these skills, one text each, though they stand here."""
    size = 0
    seen: dict[str, str] = {}
    for skill in skills:
        where = f"skill {skill.name!r}"
        size += sum(len(file.data) for file in skill.files.values())
        other = seen.setdefault(skill.name.casefold(), skill.name)
        if other != skill.name:
            yield f"skills {other!r} and {skill.name!r} have one name on some systems"
        try:
            check_path(skill.name, where)
            check_portable(skill.files, where)
        except SkillFormatError as problem:
            yield problem.message
    if size > MOST_IN_ALL:
        yield f"{size} bytes, and one import takes {MOST_IN_ALL}; export in parts, by name"


def _regular_files(folder: Path) -> Iterator[Path]:
    for root, folders, names in os.walk(folder, followlinks=False):
        folders[:] = sorted(name for name in folders if not (Path(root) / name).is_symlink())
        for name in sorted(names):
            path = Path(root) / name
            if path.is_file() and not path.is_symlink():
                yield path
