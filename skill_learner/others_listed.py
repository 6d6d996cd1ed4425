"""What an editor lists beside the learned skills: those that the user put into its skills folders.

They stand in the same listing and take their part of its room.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from skill_learner.errors import SkillLearnerError
from skill_learner.install.links import is_ours
from skill_learner.install.places import SEED_SKILL
from skill_learner.listing import entry_size
from skill_learner.skills.frontmatter import parse
from skill_learner.targets.protocol import Target

_MOST_BYTES = 1 << 18


def characters_of_others(target: Target, project: Path | None, library: Path) -> int:
    """How much of the editor's listing they take, told as the editor does: by the folder's name and
    the description, else the beginning of the text. project: None counts the home folder's alone.
    library: the folder that our links point into."""
    return sum(
        entry_size(entry.name, described)
        for folder in _folders(target, project)
        for entry in _entries(folder)
        if entry.name != SEED_SKILL and not is_ours(entry, library)
        for described in _described(entry / "SKILL.md")
    )


def _folders(target: Target, project: Path | None) -> list[Path]:
    """The skills folders that the editor reads, each once."""
    names = (target.SKILLS_DIR["project"], *target.READS_SKILLS)
    home = Path.home()
    found = [home / target.SKILLS_DIR["user"].removeprefix("~/"), *(home / name for name in names)]
    if project is not None:
        found += [project / name for name in names]
    return list(dict.fromkeys(Path(os.path.realpath(folder)) for folder in found))


def _entries(folder: Path) -> list[Path]:
    try:
        return sorted(folder.iterdir())
    except OSError:
        return []


def _described(file: Path) -> Iterator[str]:
    """The description that the model is shown; nothing for what it is not shown at all."""
    try:
        with file.open("rb") as opened:
            data = opened.read(_MOST_BYTES)
    except OSError:
        return
    try:
        parsed = parse(data, str(file))
    except SkillLearnerError:
        lines = data.decode("utf-8", "replace").splitlines()
        yield next((line.strip() for line in lines if line.strip()), "")
        return
    if str(parsed.fields.get("disable-model-invocation", "")).lower() == "true":
        return
    when = str(parsed.fields.get("when_to_use") or "")
    yield parsed.description + (f" - {when}" if when else "")
