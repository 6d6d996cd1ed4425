"""Every change of every skill: an append-only ledger per skill, and the bytes of each version.
What was imported, or came new from a remote, has its first lines and bytes in `arrivals` instead.

A change is written down, with its record, before it is made. So after a crash at any step the bytes
on disk tell whether it landed: they are its `before` or its `after`.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import date, datetime, time, timezone
from pathlib import Path
from typing import Any, NamedTuple

from skill_learner.errors import LibraryError
from skill_learner.files import atomic_write, ensure_private_dir, read_at_once
from skill_learner.json_text import made_once
from skill_learner.paths import safe_file_name
from skill_learner.skills.arrivals import Arrivals, ArrivedEntry, packed
from skill_learner.skills.records import SkillRecord, record_from_dict, record_to_dict

_json = made_once(json.JSONEncoder(check_circular=False))


class Change(NamedTuple):
    """One change of one skill.

    version: the skill's, after it. action: create, import, patch, evidence, state, scope, archive,
    restore, undo or user-edit (bytes of the user's that an undo set aside). actor: a reviewer's
    name, "gate" or "user". before, after: sha256 of the SKILL.md ("" for no file). restored: the
    version that an undo brought back, else 0. at: UTC, ISO 8601.
    """

    name: str
    version: int
    action: str
    actor: str
    why: str
    session: str
    before: str
    after: str
    at: str
    restored: int = 0


@dataclass(frozen=True)
class Entry:
    """A ledger line: the change and the record that goes with its `after`."""

    change: Change
    record: SkillRecord


def content_hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def now() -> str:
    return datetime.now(timezone.utc).isoformat(timespec="seconds")


def new_change(
    name: str, record: SkillRecord, action: str, actor: str, why: str, session: str
) -> Change:
    """A change to the version of `record`, its hashes still to be filled in."""
    return Change(name, record.version, action, actor, why, session, "", "", now())


class History:
    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.blobs = folder / "blobs"
        self._arrivals = Arrivals(folder / "arrived.sqlite")

    def path(self, name: str) -> Path:
        return self.folder / f"{safe_file_name(name)}.jsonl"

    def keep(self, data: bytes) -> str:
        """Store the bytes under their hash, once; returns the hash."""
        digest = content_hash(data)
        target = self.blobs / digest
        if not target.exists():
            ensure_private_dir(self.folder)
            ensure_private_dir(self.blobs)
            atomic_write(target, data)
        return digest

    def bytes_of(self, digest: str) -> bytes:
        """The stored bytes; LibraryError when they are gone or no longer what they were."""
        try:
            data = (self.blobs / digest).read_bytes()
        except OSError as error:
            arrived = self._arrivals.bytes_of(digest)
            if arrived is None:
                raise LibraryError(
                    f"the copy {digest[:12]} of an earlier version is gone"
                ) from error
            data = arrived
        if content_hash(data) != digest:
            raise LibraryError(f"the copy {digest[:12]} of an earlier version is damaged")
        return data

    def write(self, entry: Entry) -> None:
        """Append the entry durably. The caller holds the library's lock."""
        line = entry_line(entry.change, record_to_dict(entry.record))
        ensure_private_dir(self.folder)
        descriptor = os.open(
            self.path(entry.change.name), os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600
        )
        with os.fdopen(descriptor, "r+b", buffering=0) as handle:
            size = handle.seek(0, os.SEEK_END)
            torn = False
            if size:
                handle.seek(size - 1)
                torn = handle.read(1) != b"\n"
            handle.write((b"\n" if torn else b"") + line)
            os.fsync(handle.fileno())

    def write_many(self, noted: Iterable[ArrivedEntry]) -> None:
        """Note new skills durably, each with the bytes that it begins with; all or none."""
        self._arrivals.add(noted)

    def entries(self, name: str) -> list[Entry]:
        """All readable ledger lines of a skill, oldest first, whether they landed or not."""
        lines: list[bytes] = []
        with contextlib.suppress(OSError):
            path = f"{self.folder}{os.sep}{safe_file_name(name)}.jsonl"
            lines = read_at_once(path).split(b"\n")
        arrived = self._arrivals.lines(name)
        found = [entry for entry in map(_entry, (*arrived, *lines)) if entry is not None]
        if arrived and lines:  # it was here before: the versions tell what came when
            found.sort(key=lambda entry: entry.change.version)
        return found

    def landed(self, name: str, disk: str, *, archived: bool = False) -> list[Entry]:
        """As `carried_out`, of a skill's `entries`."""
        return carried_out(self.entries(name), disk, archived=archived)

    def last_version(self, name: str) -> int:
        """The highest version that was ever written down; 0 when there is none."""
        return max((entry.change.version for entry in self.entries(name)), default=0)

    def count_today(self, action: str) -> int:
        """How many changes of one kind anybody but the user made since midnight of this machine's
        time zone: the day that `daily_reviews` counts by, too."""
        midnight = datetime.combine(date.today(), time.min).timestamp()
        word = json.dumps(action).encode()  # few lines hold it; reading the others costs the most
        count = 0
        with contextlib.suppress(OSError):
            for path in self.folder.glob("*.jsonl"):
                if path.stat().st_mtime < midnight:
                    continue
                lines = (line for line in path.read_bytes().split(b"\n") if word in line)
                entries = filter(None, map(_entry, lines))
                changes = [entry.change for entry in entries]
                count += sum(
                    one.action == action and one.actor != "user" and _moment(one.at) >= midnight
                    for one in changes
                )
        return count

    def names(self) -> list[str]:
        """Names of all skills with a ledger, last changed first."""
        changed = self._arrivals.names()
        for path in self._files():
            entry = next(filter(None, map(_entry, path.read_bytes().split(b"\n"))), None)
            if entry is not None:
                name = entry.change.name
                changed[name] = max(changed.get(name, 0), path.stat().st_mtime_ns)
        return sorted(changed, key=lambda name: -changed[name])

    def may_know(self) -> Callable[[str], bool]:
        """Whether there is a ledger for a name: one look for many questions."""
        files = {path.name for path in self._files()}
        arrived = self._arrivals.names()
        return lambda name: (
            name in arrived or (bool(files) and f"{safe_file_name(name)}.jsonl" in files)
        )

    def _files(self) -> list[Path]:
        try:
            return [path for path in self.folder.iterdir() if path.suffix == ".jsonl"]
        except OSError:
            return []


def entry_line(change: Change, record: Mapping[str, Any]) -> bytes:
    """record: as `record_to_dict` or `told_briefly` gives it."""
    return _json({"change": change._asdict(), "record": record}).encode() + b"\n"


def arrived_entry(change: Change, record: Mapping[str, Any], data: bytes) -> ArrivedEntry:
    """A ledger line for `History.write_many`, with the bytes that the skill begins with. record: as
    in `entry_line`."""
    return ArrivedEntry(change.name, entry_line(change, record), change.after, packed(data))


def carried_out(entries: Sequence[Entry], disk: str, *, archived: bool = False) -> list[Entry]:
    """Those of a skill's entries that were carried out, when its SKILL.md on disk has the hash
    `disk` ("" for none) and lies in the archive or not. An entry whose `before` is on disk and
    whose `after` is not was cut off by a crash; a hash that no entry ends in is somebody's edit."""
    entries = [*entries]
    kept: list[Entry] = []
    expected = disk
    while entries:
        ends = [entry.change.after for entry in entries]
        if expected in ends:
            del entries[len(ends) - ends[::-1].index(expected) :]
        elif expected == entries[-1].change.before:
            entries.pop()
            continue
        entry = entries.pop()
        expected = entry.change.before
        # a change of scope moves no folder, so it says nothing of a move before it
        later = next((e.change for e in reversed(kept) if e.change.action != "scope"), None)
        if not _contradicted(entry.change, later, archived):
            kept.append(entry)
    return kept[::-1]


def _contradicted(change: Change, following: Change | None, archived: bool) -> bool:
    """Whether a move between library and archive was written down but not made."""
    if change.action == "archive":
        if following is None:
            return not archived
        return following.action not in {"restore", "undo"}
    return change.action == "restore" and following is None and archived


def _moment(at: str) -> float:
    """Unix seconds; 0 for what is no time, as of a foreign line."""
    try:
        return datetime.fromisoformat(at).timestamp()
    except (ValueError, TypeError, OverflowError, OSError):
        return 0.0


def _entry(line: bytes) -> Entry | None:
    if not line.strip():
        return None
    try:
        data = json.loads(line)
        change = Change(**data["change"])
        record = record_from_dict(data["record"])
    except (ValueError, KeyError, TypeError, RecursionError):
        return None
    return None if record is None else Entry(change, record)
