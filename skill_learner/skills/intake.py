"""Skills from other machines: written as ours, over ours only, and never over an edit.

Works beside `SkillLibrary` on the same folder, under the same lock and with the same ledger, so
that what arrives can be looked at and undone like any other change.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Container, Iterator, Mapping
from dataclasses import replace
from pathlib import Path

from skill_learner.errors import LibraryError, SkillLearnerError
from skill_learner.files import atomic_write, ensure_private_dir
from skill_learner.models import Skill
from skill_learner.skills.arrivals import ArrivedEntry
from skill_learner.skills.arriving_skill import (
    SYNC,
    ArrivingSkill,
    rendered,
)
from skill_learner.skills.bulk import BulkIntake
from skill_learner.skills.folder import SKILL_FILE, Place, SkillFolder, with_further_files
from skill_learner.skills.frontmatter import ParsedSkill, parse
from skill_learner.skills.history import (
    Change,
    History,
    arrived_entry,
    content_hash,
    new_change,
    now,
)
from skill_learner.skills.library_lock import library_lock
from skill_learner.skills.pins import Pins
from skill_learner.skills.reader import SkillReader, StoredSkill
from skill_learner.skills.records import RecordStore, told_briefly
from skill_learner.skills.validation import slugify_name
from skill_learner.skills.writer import SkillWriter, free_name, planned_name


class SkillIntake:
    def __init__(self, skills_dir: Path, *, lock_timeout: float = 30.0) -> None:
        self._folder = SkillFolder(skills_dir)
        self.skills_dir = self._folder.root
        self._records = RecordStore(self.skills_dir / ".records")
        self._history = History(self.skills_dir / ".history")
        self._reader = SkillReader(self._folder, self._records, self._history)
        self._writer = SkillWriter(self._folder, self._records, self._history, self._reader)
        self._lock_timeout = lock_timeout
        self.pins = Pins(self.skills_dir / ".pins.json")

    # -- reading -------------------------------------------------------------------------------

    def stamps(self, alone: Container[str] = ()) -> dict[str, str]:
        """As `SkillLibrary.stamps`; here a skill's further files count, too. alone: keys of skills
        that were just written without any."""
        return with_further_files(str(self.skills_dir), self._reader.look().stamps(), alone)

    def at(self, key: str) -> StoredSkill:
        return self._reader.read(self._folder.at(key))

    def find(self, name: str) -> StoredSkill | None:
        """The skill of that name, archived or not; None when there is none that can be read."""
        with contextlib.suppress(SkillLearnerError):
            place = self._folder.find(name)
            return None if place is None else self._reader.read(place)
        return None

    def changes(self, name: str) -> list[Change]:
        """Everything that the ledger tells of a skill, oldest first."""
        return [entry.change for entry in self._history.entries(name)]

    def versions(self, name: str) -> Iterator[ParsedSkill]:
        """The texts that a skill had, as far as their bytes are kept."""
        for digest in dict.fromkeys(change.after for change in self.changes(name)):
            with contextlib.suppress(SkillLearnerError):
                yield parse(self._history.bytes_of(digest))

    def approved(self, name: str) -> bool:
        """Whether a person made the skill active, and it was not taken back since."""
        said = [
            entry.record.state == "active"
            for entry in self._history.entries(name)
            if entry.change.action == "state" and entry.change.actor == "user"
        ]
        return bool(said and said[-1])

    def size(self, name: str) -> int:
        """Bytes of a skill's SKILL.md, -1 when it is not there."""
        try:
            return os.stat(f"{self.skills_dir}{os.sep}{name}{os.sep}{SKILL_FILE}").st_size
        except OSError:
            return -1

    # -- writing -------------------------------------------------------------------------------

    @contextlib.contextmanager
    def locked(self) -> Iterator[None]:
        """Hold the library's lock; every method below is called within."""
        with library_lock(self.skills_dir, self._lock_timeout):
            yield

    def create(
        self, name: str, arriving: ArrivingSkill, *, prefix: str, actor: str, why: str
    ) -> Skill:
        """A new skill; where its name is taken it gets `prefix` in front, then a number."""
        name = free_name(self._folder, slugify_name(name), slugify_name(prefix))
        version = self._history.last_version(name) + 1
        record = replace(arriving.record, hash="", version=version, created=now())
        place = self._folder.new_place(name)
        self._write_files(place, arriving)
        data = rendered(name, arriving, record)
        return self._writer.write(
            place, data, record, new_change(name, record, SYNC, actor, why, "")
        )

    def taken_names(self) -> set[str]:
        """Names in library and archive, in one case; for `plan_name`."""
        return self._folder.names_taken()

    def plan_name(self, name: str, prefix: str, taken: set[str]) -> str:
        """The name that a new skill gets; it is then taken."""
        free = planned_name(name, slugify_name(prefix), taken)
        taken.add(free)
        return free

    def bulk(self) -> BulkIntake:
        """For new skills under names of `plan_name`, many at once."""
        return BulkIntake(self.skills_dir, self._history)

    def next_version(self, name: str) -> int:
        """The version of a skill that comes, or comes back, under that name."""
        return self._history.last_version(name) + 1

    def may_know(self) -> Callable[[str], bool]:
        """Whether a ledger tells of a name: one look for many questions."""
        return self._history.may_know()

    def note_again(self, arrived: Mapping[str, tuple[ArrivingSkill, str]]) -> int:
        """Note skills, each with its remote, whose SKILL.md is just what is written; how many."""
        noted: list[ArrivedEntry] = []
        for name, (arriving, remote) in arrived.items():
            data = rendered(name, arriving, arriving.record)
            if _read(self.skills_dir / name / SKILL_FILE) != data:
                continue
            record = replace(arriving.record, hash=content_hash(data))
            why = f"from {remote}; noted again, for the store was lost"
            change = new_change(name, record, SYNC, f"remote:{remote}", why, "")
            told = change._replace(after=record.hash)
            noted.append(arrived_entry(told, told_briefly(record), data))
        if noted:
            self._history.write_many(noted)
        return len(noted)

    def update(
        self, name: str, arriving: ArrivingSkill, *, expected: str, actor: str, why: str
    ) -> Skill:
        """Write a skill of ours anew; with actor "user" one of theirs, too. LibraryError when its
        bytes no longer have the hash `expected`. Archives or restores it as its state says."""
        place = self._folder.find(name)
        stored = None if place is None else self._reader.read(place)
        if stored is None:
            raise LibraryError(f"there is no skill {name!r}")
        if not (stored.skill.ours or actor == "user") or stored.skill.content_hash != expected:
            raise LibraryError(f"skill {name!r} was changed at home meanwhile", "Sync again.")
        if arriving.record.state == "archived":
            return self._writer.archive(stored, actor, why)
        if stored.place.archived:
            stored = self._writer.restore(stored, actor, why)
        version = max(stored.known.version, self._history.last_version(name)) + 1
        record = replace(arriving.record, version=version, created=stored.known.created)
        before = self._history.keep(stored.data)
        self._write_files(stored.place, arriving)
        data = rendered(name, arriving, record)
        change = new_change(name, record, SYNC, actor, why, "")
        return self._writer.write(stored.place, data, record, change._replace(before=before))

    def archive(self, name: str, *, actor: str, why: str) -> None:
        place = self._folder.find(name)
        if place is not None:
            self._writer.archive(self._reader.read(place), actor, why)

    def _write_files(self, place: Place, arriving: ArrivingSkill) -> None:
        """The attachments; those that are overwritten or dropped are kept in the history."""
        for relative, (data, executable) in arriving.attachments.items():
            target = self._inside(place, relative)
            if _read(target) == data and os.access(target, os.X_OK) == executable:
                continue
            self._keep(target)
            ensure_private_dir(target.parent)
            atomic_write(target, data, 0o700 if executable else 0o600)
        for relative in arriving.dropped:
            target = self._inside(place, relative)
            self._keep(target)
            target.unlink(missing_ok=True)

    def _inside(self, place: Place, relative: str) -> Path:
        """Where an attachment lies; LibraryError when a link leads out of the skill's folder."""
        target = place.folder.joinpath(*relative.split("/"))
        real, root = os.path.realpath(target), os.path.realpath(place.folder)
        if target.is_symlink() or not real.startswith(root + os.sep):
            raise LibraryError(f"{target} is a link; nothing is written through it")
        return target

    def _keep(self, target: Path) -> None:
        data = _read(target)
        if data is not None:
            self._history.keep(data)


def _read(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except OSError:
        return None
