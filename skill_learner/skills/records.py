"""What we know about a skill beyond its SKILL.md, one small JSON file each in `.records/`.

A record that is missing and one that cannot be read behave the same: as none.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_learner.files import DRAFT_SUFFIX, atomic_write, ensure_private_dir, read_at_once
from skill_learner.paths import safe_file_name
from skill_learner.skills.looks import Look, files_of

_SIMPLE_NAME = re.compile(r"[a-z0-9-]{1,64}")


@dataclass(frozen=True)
class SkillRecord:
    """What stands behind a SKILL.md.

    hash: sha256 of the file that we wrote last ("" when it is the user's). noted_hash, noted_state:
    the state that the user gave, by command, to a file that is theirs. unverified: "yes" for a
    skill that rests on a model's answers alone.
    """

    hash: str
    version: int = 1
    created: str = ""
    state: str = "candidate"
    sessions: tuple[str, ...] = ()
    trigger_key: str = ""
    remedy_key: str = ""
    origin: str = ""
    scope: str = "user"
    noted_hash: str = ""
    noted_state: str = ""
    unverified: str = ""
    expires: str = ""


def record_to_dict(record: SkillRecord) -> dict[str, Any]:
    return dict(vars(record))


def told_briefly(record: SkillRecord) -> dict[str, Any]:
    """As `record_to_dict`, without what `record_from_dict` takes for granted."""
    return {key: value for key, value in vars(record).items() if value != _GRANTED[key]}


_GRANTED: Mapping[str, Any] = {**vars(SkillRecord(hash="")), "hash": None}
"""What was written down rests on these defaults: none of them can be changed any more."""


def record_bytes(record: SkillRecord) -> bytes:
    return json.dumps(record_to_dict(record), ensure_ascii=True, indent=1).encode()


def record_from_dict(data: Any) -> SkillRecord | None:
    """The record in decoded JSON; None unless every field has its type (unknown ones are left)."""
    if not isinstance(data, Mapping) or not isinstance(data.get("hash"), str):
        return None
    values: dict[str, Any] = {}
    for name, value in data.items():
        if name not in _GRANTED:
            continue
        if name == "sessions":
            if not isinstance(value, list | tuple) or not all(isinstance(s, str) for s in value):
                return None
            values[name] = tuple(value)
            continue
        if not isinstance(value, int if name == "version" else str):
            return None
        values[name] = value
    return SkillRecord(**values)


def record_file(name: str) -> str:
    simple = _SIMPLE_NAME.fullmatch(name) is not None
    return f"{name if simple else safe_file_name(name)}.json"


class RecordStore:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        return self.folder / record_file(name)

    def load(self, name: str) -> SkillRecord | None:
        try:
            path = f"{self.folder}{os.sep}{record_file(name)}"
            return record_from_dict(json.loads(read_at_once(path)))
        except (OSError, ValueError, RecursionError):
            return None

    def save(self, name: str, record: SkillRecord) -> None:
        ensure_private_dir(self.folder)
        atomic_write(self.path(name), record_bytes(record))

    def save_noted(self, records: Mapping[str, SkillRecord]) -> None:
        """Save records that the ledger tells of already: where a power cut spoils some, or one
        cannot be written, they are made again from it, so the disk is not waited for."""
        with contextlib.suppress(OSError):
            ensure_private_dir(self.folder)
            for name, record in records.items():
                file = record_file(name)
                draft = f"{self.folder}{os.sep}.{file}{DRAFT_SUFFIX}"
                with open(draft, "wb", opener=_private) as handle:
                    handle.write(record_bytes(record))
                os.replace(draft, f"{self.folder}{os.sep}{file}")

    def look(self) -> Look:
        """What can be told of all records without reading them."""
        return files_of(str(self.folder))


def _private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)
