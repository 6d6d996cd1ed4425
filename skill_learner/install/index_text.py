"""The index of learned skills in the agent's notes, or a line there that leads to it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from skill_learner.errors import InstallError
from skill_learner.git import is_git_tracked
from skill_learner.install import markdown_block
from skill_learner.install.changes import Change
from skill_learner.install.places import Places, read_if_there
from skill_learner.install.sharing import notes_of_others
from skill_learner.paths import StatePaths, data_dir
from skill_learner.targets.protocol import Target

_WHAT = "index of learned skills"
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


def index_layout(
    target: Target,
    places: Places,
    others: Iterable[str],
    rules: str,
    coming: Collection[str] = (),
) -> str:
    """Where the index stands (see `targets.protocol.Target.index_texts`).

    others: targets whose files stand in the same folder; coming: those of them that are about to.
    rules: what the user chose, or "".
    """
    if places.scope == "user" or places.index is None:
        return "block"
    elsewhere = notes_of_others(target, places.root, others, coming)
    if elsewhere is not None:
        notes = elsewhere.INDEX_FILE["project"]
        return elsewhere.INDEX_IMPORT if _is_tracked(places.root, places.root / notes) else notes
    return rules or ("file" if _is_tracked(places.root, places.index) else "block")


def _is_tracked(root: Path, notes: Path) -> bool:
    """Where git tracks the notes, an index in them would be noise in every diff, and name skills
    that teammates lack: then one constant line that leads to the index is better."""
    if is_git_tracked(root, os.path.relpath(notes, root)):
        return True
    real = Path(os.path.realpath(notes))
    return notes.is_symlink() and is_git_tracked(real.parent, real.name)


def index_changes(target: Target, places: Places, index: str, layout: str) -> list[Change]:
    """The files that the layout wants, what leads to the index last. An index that would not fit
    into what the editor reads of its notes stands in a file of its own."""
    block, own = target.index_texts(index, layout)
    changes = []
    if places.index_file and own is not None:
        before = read_if_there(places.index_file)
        after = own.encode("utf-8")
        changes.append(Change(places.index_file, "index_file", before, after, _WHAT))
    if places.index:
        notes = read_if_there(places.index)
        after = markdown_block.put_block(notes or b"", block, places.index)
        if own is None and places.index_file and 0 < target.NOTES_LIMIT < len(after):
            return index_changes(target, places, index, "file")
        changes.append(Change(places.index, "index_block", notes, after, _WHAT))
    return changes
