"""Which files a skill may bring along: names, sizes and numbers, checked before any is written.

Every name must be harmless on every system, since what is exported here is imported elsewhere.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import lru_cache
from typing import NamedTuple

from skill_learner.errors import SkillFormatError

SKILL_FILE = "SKILL.md"
MOST_FILES = 200
MOST_BYTES = 5 * 1024 * 1024
MOST_DEPTH = 20
MOST_IN_ALL = 200 * 1024 * 1024
"""Bytes of one import."""

_PART = re.compile(r"[^\x00-\x1f\x7f<>:\"/\\|?*\ud800-\udfff]{1,200}")
"""Not with bytes that are no UTF-8, either, which stand in a name as surrogates."""
_ROOTED = re.compile(r"[A-Za-z]:[\\/]")
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|conin\$|conout\$|com[\d¹²³]|lpt[\d¹²³])(\..*)?")
_IGNORED_PARTS = frozenset({".git", "__pycache__", ".DS_Store", "__MACOSX", "Thumbs.db"})


class SkillFileData(NamedTuple):
    """The bytes of one file, and whether it may be executed."""

    data: bytes
    executable: bool = False


Files = Mapping[str, SkillFileData]
"""Relative paths with `/`, and what lies there."""


@lru_cache(maxsize=256)
def is_safe_part(part: str) -> bool:
    """Whether a string is the name of one file or folder on any system."""
    return bool(
        _PART.fullmatch(part)
        and part not in (".", "..")
        and not part.endswith((".", " "))
        and not _DEVICES.fullmatch(part)
    )


def is_ignored(path: str) -> bool:
    """Files that programs leave behind, ours too, and that belong to no skill."""
    parts = path.split("/")
    return not _IGNORED_PARTS.isdisjoint(parts) or parts[-1].startswith(f".{SKILL_FILE}.")


def is_skill_file(path: str) -> bool:
    """SKILL.md in whatever case."""
    return path.rsplit("/", 1)[-1].lower() == SKILL_FILE.lower()


def check_path(path: object, where: str) -> str:
    """A relative path that stays inside; SkillFormatError for any other."""
    parts = path.split("/") if isinstance(path, str) else []
    if not parts or len(parts) > MOST_DEPTH or not all(map(is_safe_part, parts)):
        raise SkillFormatError(f"{where}: the path {path!r} is not allowed in a skill")
    return "/".join(parts)


def too_large(path: str, size: int) -> str:
    """Why a file is not read at all."""
    return f"{path!r} has {size} bytes, more than the {MOST_BYTES} allowed"


def leads_out(path: str) -> bool:
    """Whether a path is none, or leads out of its folder on some system. No tool writes one by
    accident: what holds one is refused whole, where an odd name costs its own skill only."""
    parts = re.split(r"[\\/]", path)
    return "\0" in path or bool(_ROOTED.match(path)) or not {"", ".", ".."}.isdisjoint(parts)


def check_inside(path: str, where: str) -> str:
    """A path that stays inside; SkillFormatError for one that leads out."""
    if leads_out(path):
        raise SkillFormatError(f"{where}: the path {path!r} is not allowed in a skill")
    return path


def check_files(files: Files, where: str) -> None:
    """SkillFormatError when a skill's files are too many, too large, or collide anywhere."""
    if len(files) > MOST_FILES:
        raise SkillFormatError(f"{where}: {len(files)} files, more than the {MOST_FILES} allowed")
    size = sum(len(file.data) for file in files.values())
    if size > MOST_BYTES:
        largest = max(files, key=lambda path: len(files[path].data))
        raise SkillFormatError(
            f"{where}: {size} bytes, more than {MOST_BYTES}, of which {largest!r} is the largest"
        )
    if len(files) > 1:
        refuse_collisions(files, where)


def check_portable(files: Files, where: str) -> None:
    """SkillFormatError when a skill's files cannot be put into a library on every system."""
    for path in files:
        check_path(path, where)
    check_files(files, where)


def refuse_collisions(paths: Iterable[str], where: str) -> None:
    """Two paths that are one on some file system, or a file where another path needs a folder."""
    seen: dict[str, str] = {}
    for path in paths:
        folded = path.casefold()
        if folded in seen:
            raise SkillFormatError(f"{where}: {path!r} and {seen[folded]!r} are one file somewhere")
        seen[folded] = path
    for folded, path in seen.items():
        parents = folded.split("/")[:-1]
        if any("/".join(parents[:depth]) in seen for depth in range(1, len(parents) + 1)):
            raise SkillFormatError(f"{where}: {path!r} lies below a file")
