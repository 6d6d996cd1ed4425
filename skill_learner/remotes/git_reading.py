"""Reads skills out of a commit: which files there are first, then, in batches, what they hold.

Links, submodules and whatever is too large are never read. A batch is read when the first of its
files is asked for, so that of many skills the first are used before the last are read.
"""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, ItemsView, Iterator, Mapping, Sequence

from skill_learner.exchange.safe_files import MOST_BYTES, MOST_FILES, SkillFileData
from skill_learner.remotes.git_layout import SKILLS, entries
from skill_learner.remotes.git_program import GitFailedError, GitProgram
from skill_learner.remotes.protocol import RemoteSkill

MOST_AT_ONCE = 400 * 1024 * 1024
_BATCH_BYTES = 2 * 1024 * 1024
_FEW = 200
_MOST_CHECKED_BYTES = 64 * 1024 * 1024
_MOST_LISTED = 20_000
"""Files of one skill from which on it is not listed to its end."""
_ENTRY = re.compile(rf"(?<![^\0])(\d+) \w+ (\w+) +(\S+)\t{SKILLS}/([^/\0]+)/([^\0]+)\0")
"""Of what `ls-tree -r -l -z` prints, whatever lies in a skill's folder, also what has no size, or
one that says BAD, for it is missing in the copy."""
_Blob = tuple[str, str, str, str, str]
"""Mode, id, size, the skill's name, the path within its folder."""
Unreadable = Callable[[GitFailedError], Exception]
"""What is to be raised in place of files that cannot be read."""


class Reading:
    """The skills of a commit with these names and tree ids. Raises GitFailedError; the files of its
    skills raise what `unreadable` makes of one."""

    def __init__(
        self, git: GitProgram, commit: str, tokens: Mapping[str, str], unreadable: Unreadable
    ) -> None:
        self.skills: list[RemoteSkill] = []
        batch = _Batch(git, unreadable)
        self._batches = [batch]
        room = MOST_AT_ONCE
        found = _blobs(git, commit, sorted(tokens))
        plain = _plain_files(git, commit) if not all(found.values()) else frozenset()
        for name, blobs in found.items():
            if name in plain:  # a README, say: no skill, or none any more
                self.skills.append(RemoteSkill(name, "", None))
                continue
            size, fault = _size_and_fault(name, blobs)
            if size > room and not fault:
                fault = "too much at once"
            if fault:
                self.skills.append(RemoteSkill(name, tokens[name], None, fault))
                continue
            room -= size
            if batch.size > _BATCH_BYTES:
                batch = _Batch(git, unreadable)
                self._batches.append(batch)
            self.skills.append(RemoteSkill(name, tokens[name], batch.files(blobs, size)))

    def now(self) -> None:
        """Read all that was not read yet."""
        for batch in self._batches:
            batch.read()


class _Batch:
    """What is read at once. Only one thread may use it."""

    def __init__(self, git: GitProgram, unreadable: Unreadable) -> None:
        self.size = 0
        self._git = git
        self._unreadable = unreadable
        self._sizes: dict[str, int] = {}
        self._contents: dict[str, bytes] | None = None

    def files(self, blobs: Sequence[_Blob], size: int) -> _Files:
        self.size += size
        for blob in blobs:
            self._sizes[blob[1]] = int(blob[2])
        return _Files(self, blobs)

    def read(self) -> dict[str, bytes]:
        if self._contents is None:
            self._contents = _contents(self._git, self._sizes)
        return self._contents

    def contents(self) -> Mapping[str, bytes]:
        try:
            return self.read()
        except GitFailedError as error:
            raise self._unreadable(error) from error


class _Files(Mapping[str, SkillFileData]):
    """The files of one skill. How many there are is known before they are read."""

    __slots__ = ("_batch", "_blobs", "_read")

    def __init__(self, batch: _Batch, blobs: Sequence[_Blob]) -> None:
        self._batch = batch
        self._blobs = blobs
        self._read: dict[str, SkillFileData] | None = None

    def _here(self) -> dict[str, SkillFileData]:
        if self._read is None:
            contents = self._batch.contents()
            self._read = {
                path: SkillFileData(contents[identity], mode == "100755")
                for mode, identity, _, _, path in self._blobs
            }
        return self._read

    def __getitem__(self, path: str) -> SkillFileData:
        return self._here()[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._here())

    def __len__(self) -> int:
        return len(self._blobs)

    def items(self) -> ItemsView[str, SkillFileData]:
        return self._here().items()


def _blobs(git: GitProgram, commit: str, names: Sequence[str]) -> dict[str, list[_Blob]]:
    """What lies in the folders of these names."""
    found: dict[str, list[_Blob]] = {name: [] for name in names}
    try:
        _list(git, commit, [SKILLS] if len(names) > _FEW else [*map(_folder, names)], found)
    except _EndlessError as endless:  # it is known to hold too much; the others are listed anew
        others = [name for name in names if name != endless.name]
        for start in range(0, len(others), _FEW):
            found.update(_blobs(git, commit, others[start : start + _FEW]))
    return found


def _plain_files(git: GitProgram, commit: str) -> frozenset[str]:
    """Names of what lies beside the folders of skills and is neither link nor other repository."""
    listed = entries(git, commit, SKILLS)
    return frozenset(name for mode, _, name in listed if mode.startswith("100"))


class _EndlessError(Exception):
    """A few small trees that hold one another make millions of files of this skill."""

    def __init__(self, name: str) -> None:
        super().__init__(name)
        self.name = name


def _list(
    git: GitProgram, commit: str, paths: Sequence[str], found: Mapping[str, list[_Blob]]
) -> None:
    rest, of = b"", f"{commit}^{{tree}}"
    last, count = "", 0
    with contextlib.closing(git.pieces("ls-tree", "-r", "-l", "-z", of, "--", *paths)) as pieces:
        for piece in pieces:
            whole, end, rest = (rest + piece).rpartition(b"\0")
            blobs = _ENTRY.findall((whole + end).decode("utf-8", "surrogateescape"))
            for blob in blobs:
                if blob[3] in found:
                    found[blob[3]].append(blob)
            before, last = last, blobs[-1][3] if blobs else ""
            count = count + len(blobs) if last == before else 0
            if count > _MOST_LISTED:
                raise _EndlessError(last)


def check_trees(git: GitProgram, commit: str) -> None:
    """GitFailedError where a folder of a commit is missing in the copy."""
    left = _MOST_CHECKED_BYTES
    tree = f"{commit}^{{tree}}"
    with contextlib.closing(git.pieces("ls-tree", "-r", "--name-only", tree)) as pieces:
        for piece in pieces:
            left -= len(piece)
            if left < 0:  # of so many names of files few are of folders that were not seen yet
                return


def _folder(name: str) -> str:
    return f"{SKILLS}/{name}"


def _size_and_fault(name: str, blobs: Sequence[_Blob]) -> tuple[int, str]:
    """Bytes of the files among these, and why they cannot be taken, if so. GitFailedError where one
    is missing in the copy."""
    size, odd = 0, ""
    for mode, identity, told, _, path in blobs:
        if mode[:3] != "100":
            odd = odd or path
        elif told.isdigit():
            size += int(told)
        else:
            raise GitFailedError("ls-tree", f"{identity} is missing in the copy")
    if odd:
        return size, f"{f'{SKILLS}/{name}/{odd}'[:200]} is a link or another repository"
    if len(blobs) > MOST_FILES:
        return size, f"{len(blobs)} files, more than the {MOST_FILES} allowed"
    if size > MOST_BYTES:
        return size, f"{size} bytes, more than the {MOST_BYTES} allowed"
    return size, "" if blobs else f"{name[:80]!r} is no folder"


def _contents(git: GitProgram, sizes: Mapping[str, int]) -> dict[str, bytes]:
    """By the id, of blobs with these sizes. git is not asked for sizes again: to find out the one
    of a packed object takes it half as long as to unpack it."""
    if not sizes:
        return {}
    asked = "".join(f"{identity}\n" for identity in sizes).encode()
    raw = git.run("cat-file", "--batch=%(objectname)", "--buffer", data=asked)
    found: dict[str, bytes] = {}
    position = 0
    for identity, size in sizes.items():
        start = position + len(identity) + 1
        end = start + size
        if raw[position:start] != f"{identity}\n".encode() or raw[end : end + 1] != b"\n":
            raise GitFailedError("cat-file", f"{identity} is missing in the copy")
        found[identity] = raw[start:end]
        position = end + 1
    return found
