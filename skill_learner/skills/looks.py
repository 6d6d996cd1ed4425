"""What one look at a folder tells of its files: whether anything changed, and what.

A library may have ten thousand files, and is looked at before every search. So a look keeps flat
lists of texts and numbers, one `lstat` a file, and makes no object for each; their stamps are put
into words only where something did change.
"""

from __future__ import annotations

import os
import stat
import time

_CLOCK_TICK_NS = 100_000_000
"""Two writes within one tick of the file system's clock cannot be told apart by their times."""
_ALWAYS = 1 << 100
_NUMBERS = 4
_KIND = 0o170000


class Look:
    """names: as listed. numbers: for each name those of `stamp_of`. others: stamps of what is no
    plain file there, to be filled in by who knows what to make of it."""

    __slots__ = ("certain", "names", "numbers", "others")

    def __init__(self) -> None:
        self.names: list[str] = []
        self.numbers: list[int] = []
        self.others: dict[str, str] = {}
        self.certain = time.time_ns() - _CLOCK_TICK_NS

    def is_certain(self) -> bool:
        """Whether no file is so new that a further change could not be told."""
        newest = max(self.numbers[::_NUMBERS], default=0)
        return newest <= self.certain and "" not in self.others.values()

    def stamps(self) -> dict[str, str]:
        """For each name a text that changes whenever the file does; "" where that is uncertain."""
        found = {}
        each = zip(*(self.numbers[start::_NUMBERS] for start in range(_NUMBERS)), strict=True)
        for name, (written, changed, size, number) in zip(self.names, each, strict=True):
            told = f"{written}:{changed}:{size}:{number}"
            found[name] = told if written <= self.certain else ""
        found.update(self.others)
        return found

    def stamp(self, path: str) -> str:
        """The stamp of one file, as in `stamps`; OSError when there is none."""
        status = os.stat(path)
        return stamp_of(status) if status.st_mtime_ns <= self.certain else ""

    def told(self) -> bytes:
        """The same for the same names and numbers in the same order (the hash of numbers is not
        seeded)."""
        names = "\0".join(self.names)
        text = f"{names}\0{hash(tuple(self.numbers))}\0{sorted(self.others.items())}"
        return text.encode("utf-8", "surrogatepass")


def look_at(base: str, after: str = "") -> tuple[Look, list[str]]:
    """The plain files `<base>/<name><after>` of all visible names; and the names that are links or
    have none. Relative to the open folder where the system can."""
    look = Look()
    odd: list[str] = []
    names: list[str] = []
    try:
        with os.scandir(base) as listing:
            for entry in listing:
                name = entry.name
                if name[0] != ".":
                    (odd if entry.is_symlink() else names).append(name)
        folder = os.open(base, os.O_RDONLY) if os.stat in os.supports_dir_fd else None
    except OSError:
        return look, []
    before = "" if folder is not None else base + os.sep
    found, numbers, status_of, plain = look.names, look.numbers, os.stat, stat.S_IFREG
    try:
        for name in names:
            try:
                status = status_of(before + name + after, dir_fd=folder, follow_symlinks=False)
            except OSError:
                odd.append(name)
                continue
            if status.st_mode & _KIND != plain:
                odd.append(name)
                continue
            found.append(name)
            numbers += status.st_mtime_ns, status.st_ctime_ns, status.st_size, status.st_ino
    finally:
        if folder is not None:
            os.close(folder)
    return look, odd


def files_of(folder: str) -> Look:
    """A look at the files right in a folder of ours. They are replaced, never written into, so
    that the file's number tells even two changes within one tick."""
    look, odd = look_at(folder)
    look.certain = _ALWAYS
    for name in odd:
        try:
            look.others[name] = stamp_of(os.stat(os.path.join(folder, name)))
        except OSError:
            continue
    return look


def stamp_of(status: os.stat_result) -> str:
    """A text that differs when a file's content was replaced or changed."""
    return f"{status.st_mtime_ns}:{status.st_ctime_ns}:{status.st_size}:{status.st_ino}"


def size_told(stamp: str) -> int:
    """The size of the file that a stamp is of."""
    return int(stamp.split(":", 3)[2])
