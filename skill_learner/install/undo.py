"""What each kind of file is without us: exactly as before where possible, else ours cut out."""

from __future__ import annotations

from pathlib import Path

from skill_learner.install import git_exclude, json_splice, markdown_block, settings_file
from skill_learner.install.records import FileRecord, sha256
from skill_learner.install.seed import is_our_seed
from skill_learner.targets.protocol import Target


def without_ours(
    kind: str, data: bytes, path: Path, target: Target, known: FileRecord | None
) -> bytes | None:
    """The bytes this file has without us; None when it should not be there at all.

    known: what an install recorded of it. When nobody changed the file since, the answer is what
    was there before. Raises InstallError when the file can no longer be understood.
    """
    if known is not None and sha256(data) == known.after:
        return known.before
    before = known.before if known else None
    if kind == "seed_skill":
        return _seed_left(data, known)
    if kind == "index_file":
        return before
    if kind == "settings":
        left = settings_file.without_hooks(target, data, path, before)
        nothing_left = json_splice.is_empty_document(left)
    elif kind == "index_block":
        left = markdown_block.take_block(data, path, before)
        nothing_left = not left.strip()
    else:
        left = git_exclude.take_lines(data, path, before)
        nothing_left = not left.strip()
    if nothing_left and before is None and left != data:
        return None
    return left


def _seed_left(data: bytes, known: FileRecord | None) -> bytes | None:
    """A seed skill that the user has edited since is the user's."""
    return None if known is None and is_our_seed(data) else data
