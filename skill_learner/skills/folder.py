"""The library's folder: which skills lie where, and nothing outside it.

A name is a folder's name and never a path. Symbolic links that leave the library are not followed.
"""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Container, Iterator
from pathlib import Path
from typing import NamedTuple

from skill_learner.errors import LibraryError, SkillFormatError
from skill_learner.files import ensure_private_dir, read_at_once
from skill_learner.skills.frontmatter import READ_CAP
from skill_learner.skills.looks import Look, look_at, stamp_of
from skill_learner.skills.validation import folder_faults

SKILL_FILE = "SKILL.md"
ARCHIVE = ".archive"
_STALE_AFTER = 60.0


class Place(NamedTuple):
    """Where a skill lies: its folder, its SKILL.md (whatever its case), archived or not. As texts,
    since who reads a library makes thousands."""

    name: str
    folder_path: str
    file_path: str
    archived: bool = False

    @classmethod
    def of(cls, folder: Path) -> Place:
        """The place of a skill of ours whose folder this is, or will be."""
        return cls(folder.name, str(folder), str(folder / SKILL_FILE))

    @property
    def folder(self) -> Path:
        return Path(self.folder_path)

    @property
    def file(self) -> Path:
        return Path(self.file_path)


def place_key(name: str, archived: bool) -> str:
    """Names a skill among all of library and archive."""
    return f"{ARCHIVE}/{name}" if archived else name


class SkillFolder:
    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.abspath(root))
        self.archive = self.root / ARCHIVE
        self._bases = (str(self.root), str(self.archive))

    def places(self, *, archived: bool = False) -> Iterator[Place]:
        """Every skill of the library (or of its archive), by name."""
        base = self.archive if archived else self.root
        try:
            names = sorted(name for name in os.listdir(base) if not name.startswith("."))
        except OSError:
            return
        for name in names:
            place = self._place(name, archived)
            if place is not None and self._inside(place):
                yield place

    def find(self, name: str) -> Place | None:
        """The skill of that name, in the library or else in the archive. LibraryError for a name
        that is no folder name, or whose folder or file leads outside the library."""
        refuse_unsafe(name)
        for archived in (False, True):
            place = self._place(name, archived)
            if place is None or not _is_spelled(name, self._bases[archived]):
                continue
            if not self._inside(place):
                raise LibraryError(
                    f"skill {name!r} is a link that leaves the library {self.root}",
                    "Copy the skill into the library instead.",
                )
            return place
        return None

    def _place(self, name: str, archived: bool) -> Place | None:
        folder = f"{self._bases[archived]}{os.sep}{name}"
        file = f"{folder}{os.sep}{SKILL_FILE}"
        if os.path.isfile(file):
            return Place(name, folder, file, archived)
        with contextlib.suppress(OSError):
            for entry in sorted(os.listdir(folder)):
                file = f"{folder}{os.sep}{entry}"
                if entry.lower() == SKILL_FILE.lower() and os.path.isfile(file):
                    return Place(name, folder, file, archived)
        return None

    def _inside(self, place: Place) -> bool:
        if not os.path.islink(place.folder_path) and not os.path.islink(place.file_path):
            return True
        real, root = os.path.realpath(place.file_path), os.path.realpath(self.root)
        return real.startswith(root + os.sep)

    def taken(self, name: str) -> bool:
        """Whether anything in library or archive has this name, in whatever case."""
        wanted = name.casefold()
        for base in (self.root, self.archive):
            with contextlib.suppress(OSError):
                for entry in os.listdir(base):
                    if entry.casefold() == wanted and not _abandoned(base / entry):
                        return True
        return False

    def names_taken(self) -> set[str]:
        """The names for which `taken` holds, in one case: one look for many questions."""
        found: set[str] = set()
        for base in self._bases:
            look, odd = look_at(base, f"/{SKILL_FILE}")
            found.update(name.casefold() for name in look.names)
            found.update(n.casefold() for n in odd if not _abandoned(Path(base, n)))
        return found

    def new_place(self, name: str) -> Place:
        """Make the folder for a new skill. Only a name that is not taken may be asked for."""
        refuse_unsafe(name)
        folder = self.root / name
        ensure_private_dir(self.root)
        if folder.is_symlink():
            raise LibraryError(f"{folder} is a link; nothing is written through it")
        folder.mkdir(mode=0o700, exist_ok=True)
        return Place.of(folder)

    def to_archive(self, place: Place) -> Place:
        """Move a skill's folder into the archive, in one step. An earlier archived skill of the
        name is set aside under `.archive/.superseded/`, never removed."""
        ensure_private_dir(self.archive)
        target = self.archive / place.name
        if os.path.lexists(target):
            aside = ensure_private_dir(self.archive / ".superseded")
            os.rename(target, aside / f"{place.name}.{time.time_ns()}")
        os.rename(place.folder, target)
        return Place(place.name, str(target), str(target / place.file.name), True)

    def refuse_occupied(self, place: Place) -> None:
        """LibraryError when something lies where an archived skill would return to."""
        target = self.root / place.name
        if os.path.lexists(target):
            raise LibraryError(
                f"{place.name!r} cannot be restored: {target} exists",
                "Rename or archive that one first.",
            )

    def from_archive(self, place: Place) -> Place:
        self.refuse_occupied(place)
        target = self.root / place.name
        os.rename(place.folder, target)
        return Place(place.name, str(target), str(target / place.file.name))

    def at(self, key: str) -> Place:
        """The place with a key; LibraryError when nothing is there, or it leads outside."""
        head, _, name = key.rpartition("/")
        refuse_unsafe(name)
        place = self._place(name, head == ARCHIVE) if head in {"", ARCHIVE} else None
        if place is None or not self._inside(place):
            raise LibraryError(f"there is no skill {key!r}")
        return place

    def look(self, *, archived: bool = False) -> Look:
        """What can be told of all SKILL.md files without reading them."""
        look, odd = look_at(self._bases[archived], f"/{SKILL_FILE}")
        for name in odd:  # links, other spellings of SKILL.md, folders that are no skills
            place = self._place(name, archived)
            if place is not None and self._inside(place):
                look.others[name] = look.stamp(place.file_path)
        return look

    def sweep(self, place: Place) -> None:
        """Remove temporary files that killed writers left in a skill's folder."""
        with contextlib.suppress(OSError):
            for path in place.folder.glob(f".{SKILL_FILE}.*"):
                if time.time() - path.stat().st_mtime > _STALE_AFTER:
                    path.unlink()


def refuse_unsafe(name: str) -> None:
    """LibraryError unless `name` is the name of one folder inside the library."""
    faults = folder_faults(name)
    if faults:
        raise LibraryError(faults[0], "Name a skill as `skill-learner list` shows it.")


def read_capped(path: str) -> bytes:
    """The file's bytes; SkillFormatError where it is too large to be a skill."""
    try:
        return read_at_once(path, READ_CAP)
    except ValueError as error:
        raise SkillFormatError(
            f"{path}: {error}, more than the {READ_CAP} that are read"
        ) from error


def with_further_files(
    root: str, stamps: dict[str, str], alone: Container[str] = ()
) -> dict[str, str]:
    """Stamps of skills below `root` that change with any file of theirs. alone: keys of skills that
    were just written without further files, which are not looked for."""
    for key, stamp in stamps.items():
        further = further_files(f"{root}{os.sep}{key}") if stamp and key not in alone else ""
        if further:
            stamps[key] = f"{stamp}#{further}"
    return stamps


def further_files(folder: str) -> str:
    """A text that changes when a file beside the SKILL.md does; "" when there is none."""
    told: list[str] = []
    with contextlib.suppress(OSError), os.scandir(folder) as listing:
        for entry in listing:
            if entry.name == SKILL_FILE or entry.is_symlink():
                continue
            if entry.is_dir():
                told.append(f"{entry.name}/({further_files(entry.path)})")
            else:
                told.append(f"{entry.name}:{stamp_of(entry.stat())}")
    return ",".join(sorted(told))


def _is_spelled(name: str, base: str) -> bool:
    """Whether a name that leads to something is the very name of it: where a file system ignores
    case, `Deploy` must not answer for `deploy`. (To list a library of thousands for each of its
    skills costs far more than to ask for one other spelling.)"""
    if name.isascii() and name.replace("-", "").isalnum():
        other = name.swapcase()
        if other == name or not os.path.lexists(f"{base}{os.sep}{other}"):
            return True
    return name in os.listdir(base)


def _abandoned(folder: Path) -> bool:
    """A folder that a killed create left behind: nothing in it but our own temporary files."""
    try:
        return not folder.is_symlink() and all(
            entry.startswith(f".{SKILL_FILE}.") for entry in os.listdir(folder)
        )
    except OSError:
        return False
