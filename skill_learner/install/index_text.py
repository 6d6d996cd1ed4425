"""The text of our block in the agent's notes: the index itself, or one line that imports it."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from skill_learner.errors import InstallError
from skill_learner.install.places import Places
from skill_learner.paths import StatePaths, data_dir
from skill_learner.project import is_git_tracked

_NONE_YET = "None yet."
_MORE = 'More: `skill-learner search "what you are looking for"`.'


def render_index(lines: Sequence[str], more: str = _MORE) -> str:
    """The index as Markdown. lines: one for each skill, already safe (see `neutralised`)."""
    template = data_dir("templates") / "index-block.md"
    try:
        text = template.read_text("utf-8")
    except OSError:
        raise InstallError(
            f"{template}: missing, so the package is damaged", "Install skill-learner again."
        ) from None
    skills = "\n".join(lines) or _NONE_YET
    return text.replace("{skills}", skills).replace("{more}", more)


def current_index(paths: StatePaths, key: str) -> str:
    """What was last published under `key`, or an index of nothing."""
    try:
        return (paths.published_dir / f"{key}.index.md").read_text("utf-8")
    except (OSError, UnicodeDecodeError):
        return render_index(())


def imports_index(places: Places) -> bool:
    """Whether the block shall be the one constant import line: where git tracks the notes, an index
    in them would be noise in every diff, and name skills that teammates lack."""
    if places.index_file is None:
        return False
    if is_git_tracked(places.root, os.path.relpath(places.index, places.root)):
        return True
    real = Path(os.path.realpath(places.index))
    return places.index.is_symlink() and is_git_tracked(real.parent, real.name)


def block_body(places: Places, index: str) -> str:
    if not imports_index(places):
        return index
    assert places.index_file is not None
    return "@" + os.path.relpath(places.index_file, places.root).replace(os.sep, "/")
