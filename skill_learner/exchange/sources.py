"""What can be imported: a JSON export, a zip archive, a SKILL.md, or a folder with skills in it."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from skill_learner.errors import SkillFormatError
from skill_learner.exchange.archives import read_archive
from skill_learner.exchange.documents import read_document
from skill_learner.exchange.incoming import Incoming, Unfit, grouped, nearest_root
from skill_learner.exchange.safe_files import (
    MOST_BYTES,
    MOST_DEPTH,
    MOST_IN_ALL,
    SKILL_FILE,
    SkillFileData,
    is_ignored,
    is_skill_file,
    too_large,
)

_MOST_SEEN = 100_000
_BEFORE_JSON = b"\xef\xbb\xbf\xff\xfe\x00 \t\r\n"
"""Byte order marks and white space, also of UTF-16."""


def read_source(path: Path) -> Incoming:
    """The skills in a file or folder; SkillFormatError when it is unsafe."""
    if path.is_dir():
        return _read_folder(path)
    try:
        # before it is opened, too: a pipe would be waited for, perhaps for ever
        if not path.is_file():
            raise _not_plain(path)
        with path.open("rb") as handle:
            if not stat.S_ISREG(os.fstat(handle.fileno()).st_mode):
                raise _not_plain(path)
            return read_stream(handle, str(path))
    except OSError as problem:
        raise SkillFormatError(f"{path}: {problem.strerror or problem}") from problem


def _not_plain(path: Path) -> SkillFormatError:
    return SkillFormatError(
        f"{path} is neither a file nor a folder",
        "nothing was written; what comes through a pipe is read as `-`:"
        " `cat skills.json | skill-learner import -`",
    )


def read_stream(handle: BinaryIO, name: str) -> Incoming:
    """The skills in an open file or in what comes through a pipe, told apart by how it begins."""
    data = handle.read(MOST_IN_ALL + 1)
    if len(data) > MOST_IN_ALL:
        raise SkillFormatError(f"{name}: more than {MOST_IN_ALL} bytes")
    if data.startswith((b"PK\x03\x04", b"PK\x05\x06")):
        return read_archive(data, name)
    if is_skill_file(name) or data.lstrip(b"\xef\xbb\xbf \t\r\n").startswith(b"---"):
        folder = Path(name).resolve().parent.name if name != "-" else ""
        named = folder if is_skill_file(name) and folder else Path(name).stem
        return grouped([(SKILL_FILE, SkillFileData(data))], named)
    return read_document(_json(data, name))


def _json(data: bytes, name: str) -> object:
    if not data.strip():
        raise SkillFormatError(f"{name}: is empty", "nothing was written")
    if data.lstrip(_BEFORE_JSON)[:1] not in (b"{", b"["):
        raise SkillFormatError(
            f"{name}: neither a zip archive, a JSON export nor a SKILL.md",
            "nothing was written; to make a text a skill, call it SKILL.md in a folder of the"
            " skill's name, or begin it with the lines `---`, `name:`, `description:` and `---`",
        )
    try:
        return json.loads(data)
    except UnicodeDecodeError as problem:
        raise SkillFormatError(
            f"{name}: not valid JSON: it is no UTF-8", "nothing was written"
        ) from problem
    except json.JSONDecodeError as problem:
        raise SkillFormatError(
            f"{name}:{problem.lineno}:{problem.colno}: not valid JSON: {problem.msg}",
            "nothing was written",
        ) from problem
    except (ValueError, RecursionError) as problem:
        raise SkillFormatError(f"{name}: not valid JSON: {problem}") from problem


def _read_folder(folder: Path) -> Incoming:
    """Every skill below a folder. Links are not followed: they may lead anywhere."""
    return grouped(_files_below(folder), folder.resolve().name)


def _files_below(folder: Path) -> Iterator[tuple[str, SkillFileData | Unfit]]:
    """Files of skills, read once it is known which folders hold one."""
    seen: list[tuple[str, Path]] = []
    roots: set[str] = set()
    for root, folders, names in os.walk(folder, followlinks=False):
        relative = Path(root).relative_to(folder).as_posix()
        prefix = "" if relative == "." else f"{relative}/"
        folders[:] = sorted(name for name in folders if not is_ignored(name))
        if prefix.count("/") >= MOST_DEPTH:
            folders[:] = []
        for name in sorted(names):
            seen.append((prefix + name, Path(root) / name))
            if is_skill_file(name):
                roots.add(prefix.removesuffix("/"))
        if len(seen) > _MOST_SEEN:
            raise SkillFormatError(f"{folder}: more than {_MOST_SEEN} files")
    total = 0
    for path, file in seen:
        if is_ignored(path) or nearest_root(path, roots) is None:
            continue
        read = _read_file(path, file)
        total += len(read.data) if isinstance(read, SkillFileData) else 0
        if total > MOST_IN_ALL:
            raise SkillFormatError(f"{folder}: more than {MOST_IN_ALL} bytes")
        yield path, read


def _read_file(path: str, file: Path) -> SkillFileData | Unfit:
    status = file.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise SkillFormatError(
            f"{file} is a link, which may lead anywhere", "Replace it by the file it stands for."
        )
    if not stat.S_ISREG(status.st_mode):
        raise SkillFormatError(f"{file} is no regular file")
    if status.st_size > MOST_BYTES:
        return Unfit(too_large(path, status.st_size))
    return SkillFileData(file.read_bytes(), bool(status.st_mode & 0o111))
