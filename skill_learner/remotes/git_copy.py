"""The bare copy of a repository that a git remote works on; it can be thrown away at any time.

It is fetched, as little as will do; of a small repository in a folder of this machine it is taken
as `git clone` takes it, by copying files: a fraction of the work of packing and unpacking them. No
file is shared with that folder, so that what befalls the copy befalls nothing else.
"""

from __future__ import annotations

import contextlib
import os
import shutil
from pathlib import Path

from skill_learner.errors import RemoteError
from skill_learner.files import ensure_private_dir
from skill_learner.remotes.git_program import GitFailedError, GitProgram

_MOST_PACKS = 100
_MOST_COPIED_BYTES = 64 * 1024 * 1024
_MOST_COPIED_FILES = 500
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
        try:
            git.run("init", "--quiet", "--bare", "--template=", str(copy))
        except GitFailedError as error:
            raise RemoteError(f"{copy}: {error.told}") from error


def make_anew(git: GitProgram) -> None:
    shutil.rmtree(git.repository, ignore_errors=True)
    ensure(git)


def take_over(git: GitProgram, source: str, branch: str, ref: str) -> bool:
    """Have the branch of the repository in that folder as `ref` of the copy, and all that it knows.
    False, with the copy as it was, where a fetch is less work or where it cannot be done."""
    if not _is_quickly_copied(Path(source)):
        return False
    copy = git.repository
    beside = copy.with_name(f"{copy.name}.new")
    shutil.rmtree(beside, ignore_errors=True)  # what a kill left there
    how = ("--quiet", "--bare", "--no-hardlinks", "--no-tags", "--single-branch", "--template=")
    names = f"create {ref}\0refs/heads/{branch}\0delete refs/heads/{branch}\0\0"
    try:
        git.run("clone", *how, f"--branch={branch}", "--", source, str(beside))
        GitProgram(beside).run("update-ref", "--stdin", "-z", data=os.fsencode(names))
        shutil.rmtree(copy)
        os.rename(beside, copy)
    except (GitFailedError, OSError):
        shutil.rmtree(beside, ignore_errors=True)
        ensure(git)
        return False
    return True


def _is_quickly_copied(source: Path) -> bool:
    """Whether all of its objects are few plain files, and small ones."""
    objects = source / ".git" / "objects"
    if not objects.is_dir():
        objects = source / "objects"
    if (objects.parent / "shallow").exists() or (objects / "info" / "alternates").exists():
        return False
    left_bytes, left_files = _MOST_COPIED_BYTES, _MOST_COPIED_FILES
    folders = [str(objects)]
    with contextlib.suppress(OSError):
        while folders:
            for entry in os.scandir(folders.pop()):
                if entry.is_dir(follow_symlinks=False):
                    folders.append(entry.path)
                    continue
                left_files -= 1
                left_bytes -= entry.stat(follow_symlinks=False).st_size
                if min(left_bytes, left_files) < 0 or not entry.is_file(follow_symlinks=False):
                    return False
        return True
    return False


def clear_leftovers(git: GitProgram) -> None:
    """Lock files and half packs of a git that was killed; nobody else works in this copy."""
    for pattern in _LEFTOVERS:
        for path in git.repository.glob(pattern):
            with contextlib.suppress(OSError):
                path.unlink()
