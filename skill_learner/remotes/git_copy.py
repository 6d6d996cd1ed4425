"""The bare copy of a repository that a git remote works on; it can be thrown away at any time."""

from __future__ import annotations

import contextlib
import os
import shutil

from skill_learner.errors import RemoteError
from skill_learner.files import ensure_private_dir
from skill_learner.remotes.git_program import GitFailedError, GitProgram

_MOST_PACKS = 100
_LEFTOVERS = ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/**/tmp_obj_*")


def ensure(git: GitProgram) -> None:
    """Have one: a copy that is no repository, or in too many pieces, is made anew."""
    copy = git.repository
    packs = copy / "objects" / "pack"
    if packs.is_dir() and len(os.listdir(packs)) > _MOST_PACKS * 2:
        shutil.rmtree(copy, ignore_errors=True)
    if not (copy / "HEAD").is_file() or not packs.is_dir():
        ensure_private_dir(copy.parent)
        shutil.rmtree(copy, ignore_errors=True)
        if not copy.is_dir():
            copy.unlink(missing_ok=True)
        try:
            git.run("init", "--quiet", "--bare", "--template=", str(copy))
        except GitFailedError as error:
            raise RemoteError(
                f"{copy}: {error.told}", "It can be removed: the next sync makes it anew."
            ) from error


def make_anew(git: GitProgram) -> None:
    shutil.rmtree(git.repository, ignore_errors=True)
    ensure(git)


def clear_leftovers(git: GitProgram) -> None:
    """Lock files and half packs of a git that was killed; nobody else works in this copy."""
    for pattern in _LEFTOVERS:
        for path in git.repository.glob(pattern):
            with contextlib.suppress(OSError):
                path.unlink()
