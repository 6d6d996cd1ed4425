"""New skills, many at once: one transaction for what is noted of them, one wait for the disk.

Every SKILL.md is written under a temporary name, then what the history tells of all is made
durable, then the files are, then they get their names. A kill before that leaves folders with
nothing but a temporary file, which count as none; after it, what `writer` leaves.
"""

from __future__ import annotations

import contextlib
import itertools
import os
import secrets
import shutil
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path

from skill_learner.errors import LibraryError
from skill_learner.files import DRAFT_SUFFIX, atomic_write, ensure_private_dir, sync_file_system
from skill_learner.skills.arrivals import ArrivedEntry
from skill_learner.skills.arriving_skill import Attachments, ReadySkill
from skill_learner.skills.folder import ARCHIVE, SKILL_FILE
from skill_learner.skills.history import History

_STAGING = ".arriving"
_WORTH_A_THREAD = 500
"""Skills from which on a second thread costs less than it saves."""


class BulkIntake:
    """Within the library's lock. Use as a context manager: what was not committed is taken away."""

    def __init__(self, root: Path, history: History) -> None:
        self.root = str(root)
        self._history = history
        self._staging = root / _STAGING
        self._token = secrets.token_hex(4)
        self._marks = itertools.count()
        self._planned: list[tuple[list[str], str]] = []
        self._renames: list[tuple[str, str]] = []
        self._noted: list[ArrivedEntry] = []
        self._sizes: dict[str, int] = {}

    def __enter__(self) -> BulkIntake:
        shutil.rmtree(self._staging, ignore_errors=True)  # what a kill left there
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None:
            self.abandon()

    def plan(self, names: Iterable[str]) -> str:
        """A mark for drafts of these skills, which somebody else is about to write; `abandon` takes
        them away, too."""
        mark = f"{self._token}-{next(self._marks):x}"
        self._planned.append((list(names), mark))
        return mark

    def put(self, ready: ReadySkill) -> None:
        """Write a skill that `commit` will put in place. OSError: nothing of it is left."""
        folder = f"{self.root}{os.sep}{ready.name}"
        mark = self.plan([ready.name])
        with self._whole_or_not(ready.name, mark):
            if not make_folder(folder):
                _clear(folder)
            if ready.attachments:
                self._add(ready.noted, len(ready.data), self._stage(ready), folder)
            else:
                write_draft(folder, ready.data, mark)
                self.add_written(ready.noted, len(ready.data), mark)

    def put_archived(self, ready: ReadySkill, moved: ArrivedEntry) -> None:
        """The same for one that is to lie in the archive. moved: tells that it went there."""
        with self._whole_or_not(ready.name, self.plan([ready.name])):
            archive = ensure_private_dir(Path(self.root, ARCHIVE))
            self._add(ready.noted, len(ready.data), self._stage(ready), str(archive / ready.name))
            self._noted.append(moved)

    @contextlib.contextmanager
    def _whole_or_not(self, name: str, mark: str) -> Iterator[None]:
        try:
            yield
        except OSError:
            shutil.rmtree(self._staging / name, ignore_errors=True)
            _remove_planned(self.root, [name], mark)
            raise

    def add_written(self, noted: ArrivedEntry, size: int, mark: str) -> None:
        """Take up a skill whose draft was written with that mark of `plan`."""
        folder = f"{self.root}{os.sep}{noted.name}"
        self._add(noted, size, draft_of(folder, mark), f"{folder}{os.sep}{SKILL_FILE}")

    def _add(self, noted: ArrivedEntry, size: int, source: str, target: str) -> None:
        self._renames.append((source, target))
        self._noted.append(noted)
        self._sizes[noted.name] = size

    def commit(self, meanwhile: Callable[[], object] = int) -> dict[str, int]:
        """Put all in place: each is there or not after a kill at any moment, and all of them when
        this returns. Returns the sizes of their SKILL.md. The records are left to be made from the
        ledger. meanwhile: is done once, while the disk is waited for; none is in place then."""
        if not self._noted:
            meanwhile()
            return {}
        together = _at_once if len(self._renames) >= _WORTH_A_THREAD else _one_by_one
        together(
            lambda: self._history.write_many(self._noted),
            meanwhile,
            lambda: sync_file_system(self.root),
        )
        half = len(self._renames) // 2
        first, second = self._renames[:half], self._renames[half:]
        together(lambda: _put_in_place(first), lambda: _put_in_place(second))
        self._planned, self._renames, self._noted = [], [], []
        return self._sizes

    def abandon(self) -> None:
        """Take away what was not committed, and folders that are empty without it."""
        for names, mark in self._planned:
            _remove_planned(self.root, names, mark)

    def _stage(self, ready: ReadySkill) -> str:
        """A skill with further files, complete, beside where it will stand."""
        folder = ensure_private_dir(self._staging / ready.name)
        _write_files(folder, ready.attachments)
        _write_new(str(folder / SKILL_FILE), ready.data, 0o600)
        return str(folder)


def _one_by_one(*works: Callable[[], object]) -> None:
    for work in works:
        work()


def _at_once(first: Callable[[], object], *others: Callable[[], object]) -> None:
    """Do all, at once where threads can be had: the kernel does most of the work, and has many
    cores. Raises what one of them raised, once all have ended."""
    failed: list[BaseException] = []

    def beside(work: Callable[[], object]) -> None:
        try:
            work()
        except BaseException as error:
            failed.append(error)

    left, threads = [*others], []
    with contextlib.suppress(RuntimeError):  # no thread can be had
        while left:
            thread = threading.Thread(target=beside, args=(left[0],), name="skill-learner-disk")
            thread.start()
            threads.append(thread)
            del left[0]
    try:
        _one_by_one(first, *left)
    finally:
        for thread in threads:
            thread.join()
    if failed:
        raise failed[0]


def draft_of(folder: str, mark: str) -> str:
    return f"{folder}{os.sep}.{SKILL_FILE}.{mark}{DRAFT_SUFFIX}"


def write_draft(folder: str, data: bytes, mark: str) -> None:
    """Make the folder of a new skill, and write its SKILL.md under a temporary name."""
    make_folder(folder)
    _write_new(draft_of(folder, mark), data, 0o600)


def remove_drafts(root: str, names: Iterable[str], mark: str) -> None:
    for name in names:
        with contextlib.suppress(OSError):
            os.unlink(draft_of(f"{root}{os.sep}{name}", mark))


def _remove_planned(root: str, names: Sequence[str], mark: str) -> None:
    """The drafts, and folders that are empty without them."""
    remove_drafts(root, names, mark)
    for name in names:
        with contextlib.suppress(OSError):
            os.rmdir(f"{root}{os.sep}{name}")


def _clear(folder: str) -> None:
    """Drafts that a kill left in the folder of a skill that never was: nobody else takes them away,
    and no other skill's folder can be moved there."""
    for entry in os.listdir(folder):
        if entry.startswith(f".{SKILL_FILE}."):
            os.unlink(f"{folder}{os.sep}{entry}")


def make_folder(folder: str) -> bool:
    """Whether it was not there. LibraryError where a link lies in its place; nothing is written
    through it."""
    try:
        os.mkdir(folder, 0o700)
    except FileExistsError:
        if os.path.islink(folder):
            raise LibraryError(f"{folder} is a link; nothing is written through it") from None
        return False
    return True


def _write_files(folder: Path, attachments: Attachments) -> None:
    for relative, (data, executable) in attachments.items():
        target = folder.joinpath(*relative.split("/"))
        ensure_private_dir(target.parent)
        _write_new(str(target), data, 0o700 if executable else 0o600)


def _write_new(path: str, data: bytes, mode: int) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | _BINARY, mode)
    try:
        written = os.write(descriptor, data)
        while written < len(data):
            written += os.write(descriptor, data[written:])
    finally:
        os.close(descriptor)


_BINARY = getattr(os, "O_BINARY", 0)


def _put_in_place(renames: Sequence[tuple[str, str]]) -> None:
    for source, target in renames:
        os.replace(source, target)


if not hasattr(os, "sync"):  # pragma: no cover - Windows

    def _put_in_place(renames: Sequence[tuple[str, str]]) -> None:
        """Each is on the disk when it gets its name."""
        for source, target in renames:
            if os.path.isdir(source):
                with contextlib.suppress(FileNotFoundError):
                    os.rmdir(target)
                os.rename(source, target)
            else:
                atomic_write(Path(target), Path(source).read_bytes())
                os.unlink(source)
