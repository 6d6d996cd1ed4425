"""The bare copy of a repository that a git remote works on; it can be thrown away at any time."""

from __future__ import annotations

import contextlib
import os
import shutil

from skill_learner.errors import RemoteError
from skill_learner.files import ensure_private_dir
from skill_learner.remotes.git_program import GitFailedError, GitProgram

_MOST_PACKS = 100
_BY_LENGTH = {40: "sha1", 64: "sha256"}
_LEFTOVERS = ("*.lock", "refs/**/*.lock", "objects/pack/tmp_*", "objects/**/tmp_obj_*")


def ensure(git: GitProgram, algorithm: str = "") -> None:
    """Have one: a copy that is no repository, or in too many pieces, is made anew. algorithm: that
    of its ids, as git calls it, when one is made ("" for the one that git prefers)."""
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
            how = [f"--object-format={algorithm}"] if algorithm else []
            git.run("init", "--quiet", "--bare", "--template=", *how, str(copy))
        except GitFailedError as error:
            raise RemoteError(
                f"{copy}: {error.told}", "It can be removed: the next sync makes it anew."
            ) from error


def make_anew(git: GitProgram, algorithm: str = "") -> None:
    shutil.rmtree(git.repository, ignore_errors=True)
    ensure(git, algorithm)


def suit(git: GitProgram, commit: str) -> None:
    """Have one that can hold a commit of this id: all ids of a repository are of one algorithm."""
    algorithm = _BY_LENGTH.get(len(commit), "")
    if algorithm and algorithm != algorithm_of(git):
        make_anew(git, algorithm)


def other_algorithm(git: GitProgram) -> None:
    """Have one whose ids are made the other way: a repository without commits tells of its own only
    by not taking ours."""
    now = algorithm_of(git)
    make_anew(git, next(other for other in _BY_LENGTH.values() if other != now))


def algorithm_of(git: GitProgram) -> str:
    """As git calls it; a git that cannot tell knows one only."""
    try:
        return git.run("rev-parse", "--show-object-format").decode().strip()
    except GitFailedError:
        return "sha1"


def clear_leftovers(git: GitProgram) -> None:
    """Lock files and half packs of a git that was killed; nobody else works in this copy."""
    for pattern in _LEFTOVERS:
        for path in git.repository.glob(pattern):
            with contextlib.suppress(OSError):
                path.unlink()
