"""Links from an editor's skills folder into the library, and copies where links do not work."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from skill_learner import files

COPY_MARK = ".skill-learner-copy"
LinkOutcome = Literal["linked", "copied", "kept", "foreign"]
MakeLink = Callable[[Path, Path], None]


def make_folder_link(source: Path, link: Path) -> None:
    """Make `link` point to the folder `source`. Raises OSError where that is not allowed."""
    if files.ON_WINDOWS:
        from skill_learner import windows

        windows.link_folder(str(source), str(link), os.symlink)
    else:
        os.symlink(source, link, target_is_directory=True)


def put_link(
    skills_dir: Path, name: str, source: Path, library: Path, make_link: MakeLink = make_folder_link
) -> LinkOutcome:
    """Let `skills_dir/name` show the library folder `source`.

    An entry that is not ours is left alone ("foreign"). library: the folder all our links point
    into.
    """
    entry = skills_dir / name
    if os.path.lexists(entry):
        if not is_ours(entry, library):
            return "foreign"
        if _is_current(entry, source):
            return "kept"
    skills_dir.mkdir(parents=True, exist_ok=True)
    fresh = skills_dir / f".{name}.skill-learner-new"
    _discard(fresh)
    outcome: LinkOutcome = "linked"
    try:
        make_link(source, fresh)
    except (OSError, NotImplementedError):
        _copy(source, fresh)
        outcome = "copied"
    if entry.is_symlink() and fresh.is_symlink() and not files.ON_WINDOWS:
        os.replace(fresh, entry)
    else:
        _discard(entry)
        os.rename(fresh, entry)
    return outcome


def take_link(skills_dir: Path, name: str, library: Path) -> bool:
    """Remove `skills_dir/name` if it is ours; whether it was removed."""
    entry = skills_dir / name
    if not os.path.lexists(entry) or not is_ours(entry, library):
        return False
    _discard(entry)
    return True


def is_ours(entry: Path, library: Path) -> bool:
    """A link into the library, or a copy that nobody has changed since we made it."""
    leads_to = link_target(entry)
    if leads_to is not None:
        return leads_to.parent in (library, Path(os.path.realpath(library)))
    try:
        return (entry / COPY_MARK).read_text("ascii").strip() == _fingerprint(entry)
    except (OSError, UnicodeDecodeError):
        return False


def link_target(entry: Path) -> Path | None:
    """Where a symlink, or a junction of Windows (no symlink to Python), leads to; else None."""
    try:
        told = os.readlink(entry)
    except OSError:
        return None
    if told.startswith("\\\\?\\"):  # so Windows tells it, and so it is never asked for
        told = told[4:]
    return Path(os.path.normpath(os.path.join(entry.parent, told)))


def _is_current(entry: Path, source: Path) -> bool:
    leads_to = link_target(entry)
    if leads_to is not None:
        return leads_to == source
    return _fingerprint(entry) == _fingerprint(source)


def _copy(source: Path, target: Path) -> None:
    """Plain files only: nothing that a link in the library points to is carried along."""
    for folder, _, names in os.walk(source):
        below = target / os.path.relpath(folder, source)
        below.mkdir(parents=True, exist_ok=True)
        for name in names:
            file = Path(folder) / name
            if not file.is_symlink() and file.is_file():
                shutil.copyfile(file, below / name)
    files.atomic_write(target / COPY_MARK, _fingerprint(target).encode("ascii") + b"\n")


def _fingerprint(folder: Path) -> str:
    total = hashlib.sha256()
    for where, folders, names in os.walk(folder):
        folders.sort()
        for name in sorted(names):
            file = Path(where) / name
            if name != COPY_MARK and not file.is_symlink() and file.is_file():
                total.update(os.fsencode(os.path.relpath(file, folder)) + b"\0")
                total.update(hashlib.sha256(file.read_bytes()).digest())
    return total.hexdigest()


def _discard(entry: Path) -> None:
    if link_target(entry) is not None:
        entry.unlink()
    elif entry.is_dir():
        shutil.rmtree(entry)
    else:
        with contextlib.suppress(FileNotFoundError):
            entry.unlink()
