"""The steps of a change; the caller holds the library's lock.

Order of every write: copies of the bytes, the ledger, the SKILL.md, the record. A crash after any
of them leaves the old file or the new one, and the ledger tells which.
"""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterator
from dataclasses import replace

from skill_learner.errors import LibraryError
from skill_learner.files import atomic_write
from skill_learner.models import NAME_LIMIT, Skill, SkillState
from skill_learner.skills.folder import Place, SkillFolder
from skill_learner.skills.frontmatter import parse, render
from skill_learner.skills.history import Change, Entry, History, new_change
from skill_learner.skills.our_metadata import PREFIX, with_our_metadata
from skill_learner.skills.reader import SkillReader, StoredSkill
from skill_learner.skills.records import RecordStore, SkillRecord
from skill_learner.skills.validation import name_faults, shorten, slugify_name

MOVES = frozenset({"archive", "restore"})
"""Actions that move a folder and leave the bytes alone."""
UNDO = "undo"
_OUR_ORIGIN = PREFIX + "origin"


class SkillWriter:
    def __init__(
        self, folder: SkillFolder, records: RecordStore, history: History, reader: SkillReader
    ) -> None:
        self._folder = folder
        self._records = records
        self._history = history
        self._reader = reader

    def write(
        self,
        place: Place,
        data: bytes,
        record: SkillRecord,
        change: Change,
        *,
        theirs: bool = False,
    ) -> Skill:
        """The one way bytes reach a SKILL.md. theirs: they are bytes of the user's, brought back,
        and stay the user's."""
        digest = self._history.keep(data)
        record = replace(record, hash="" if theirs else digest)
        self._history.write(Entry(change._replace(after=digest), record))
        atomic_write(place.file, data)
        self._records.save(place.name, record)
        self._folder.sweep(place)
        return self._reader.read(place).skill

    def rewrite(
        self, stored: StoredSkill, body: str, action: str, actor: str, why: str, session: str
    ) -> Skill:
        """Write a skill of ours anew from its parts: a new body, or what `stored.record` says."""
        name, parsed = stored.place.name, stored.parsed
        version = max(stored.known.version, self._history.last_version(name)) + 1
        record = replace(stored.known, version=version)
        data = render(
            name,
            parsed.description,
            body,
            metadata=with_our_metadata(parsed.metadata, record),
            license=parsed.license,
            further=parsed.further,
        )
        before = self._history.keep(stored.data)
        change = new_change(name, record, action, actor, why, session)
        return self.write(stored.place, data, record, change._replace(before=before))

    def write_theirs(self, stored: StoredSkill, data: bytes, action: str, why: str) -> Skill:
        """Change a file of the user's at their command; it stays theirs."""
        name = stored.place.name
        version = max(stored.known.version, self._history.last_version(name)) + 1
        record = replace(stored.known, version=version)
        before = self._history.keep(stored.data)
        change = new_change(name, record, action, "user", why, "")._replace(before=before)
        return self.write(stored.place, data, record, change, theirs=True)

    def bring_back(self, stored: StoredSkill, target: Entry, actor: str) -> Skill:
        """Write the bytes of an earlier version; bytes of the user's are first set aside."""
        name = stored.place.name
        data = self._history.bytes_of(target.change.after)
        before = self._history.keep(stored.data)
        if not stored.skill.ours:
            self._set_aside(stored, before)
        if stored.place.archived:
            stored = self.restore(stored, actor, UNDO)
        record = replace(target.record, version=self._history.last_version(name) + 1)
        why = f"undo to version {target.change.version}"
        change = new_change(name, record, UNDO, actor, why, "")._replace(
            before=before, restored=target.change.restored or target.change.version
        )
        theirs = target.record.hash != target.change.after
        return self.write(stored.place, data, record, change, theirs=theirs)

    def _set_aside(self, stored: StoredSkill, digest: str) -> None:
        name = stored.place.name
        version = self._history.last_version(name) + 1
        edited = replace(stored.known, hash="", version=version)
        change = new_change(name, edited, "user-edit", "user", "kept before an undo", "")
        self._history.write(Entry(change._replace(before=digest, after=digest), edited))

    def archive(self, stored: StoredSkill, actor: str, why: str) -> Skill:
        if stored.place.archived:
            return stored.skill
        self._log_move(stored, "archive", actor, why)
        return self._reader.read(self._folder.to_archive(stored.place)).skill

    def restore(self, stored: StoredSkill, actor: str, why: str) -> StoredSkill:
        self._folder.refuse_occupied(stored.place)
        self._log_move(stored, "restore", actor, why)
        return self._reader.read(self._folder.from_archive(stored.place))

    def _log_move(self, stored: StoredSkill, action: str, actor: str, why: str) -> None:
        name = stored.place.name
        digest = self._history.keep(stored.data)
        version = max(stored.known.version, self._history.last_version(name))
        record = replace(stored.known, version=version)
        change = new_change(name, record, action, actor, why, "")
        self._history.write(Entry(change._replace(before=digest, after=digest), record))
        if stored.skill.ours:
            self._records.save(name, record)  # an earlier crash may have left it behind

    def note_state(self, stored: StoredSkill, state: SkillState, actor: str, why: str) -> Skill:
        """Remember the state that the user gave to a file of theirs, beside the file."""
        digest = stored.skill.content_hash
        record = replace(stored.known, noted_hash=digest, noted_state=state)
        return self._note(stored, record, "state", actor, why)

    def note_scope(self, stored: StoredSkill, scope: str, actor: str, why: str) -> Skill:
        """The same for its scope; it is no more approved than it was."""
        record = replace(stored.known, scope=scope, state=stored.state_in_use)
        return self._note(stored, record, "scope", actor, why)

    def _note(
        self, stored: StoredSkill, record: SkillRecord, action: str, actor: str, why: str
    ) -> Skill:
        name, digest = stored.place.name, self._history.keep(stored.data)
        version = max(stored.known.version, self._history.last_version(name)) + 1
        record = replace(record, version=version)
        change = new_change(name, record, action, actor, why, "")
        self._history.write(Entry(change._replace(before=digest, after=digest), record))
        self._records.save(name, record)
        return self._reader.read(stored.place).skill


def is_our_form(data: bytes, name: str) -> bool:
    """Whether a file is one that we wrote, so that writing it anew would lose nothing of it."""
    if _OUR_ORIGIN.encode() not in data:  # of many files, few need be parsed
        return False
    parsed = parse(data)
    if parsed.lost or _OUR_ORIGIN not in parsed.metadata or parsed.name != name:
        return False
    return set(parsed.fields) <= {"name", "description", "license", "metadata"}


def free_name(folder: SkillFolder, slug: str, project_slug: str) -> str:
    """A name that nothing holds: the slug, else with the project's slug, else with a number."""
    names = numbered_names(slug, project_slug)
    return next(name for name in names if not folder.taken(name) and not name_faults(name))


def planned_name(name: str, prefix: str, taken: Container[str]) -> str:
    """As `free_name`, where the names that are taken are known, in one case."""
    if name not in taken and not name_faults(name):
        return name
    names = numbered_names(slugify_name(name), prefix)
    return next(tried for tried in names if tried not in taken and not name_faults(tried))


def numbered_names(slug: str, project_slug: str) -> Iterator[str]:
    """The names that a new skill may get, best first."""
    prefixed = shorten(f"{project_slug}-{slug}", NAME_LIMIT)
    numbered = (f"{shorten(prefixed, NAME_LIMIT - 6)}-{n}" for n in itertools.count(2))
    return itertools.chain((slug, prefixed), numbered)


def undo_target(entries: list[Entry], to_version: int | None, name: str) -> Entry | None:
    """The entry whose bytes an undo brings back; None when there was nothing before."""
    written = {entry.change.version: entry for entry in entries if entry.change.action not in MOVES}
    if to_version is not None:
        if to_version not in written:
            known = ", ".join(map(str, sorted(written)))
            raise LibraryError(f"skill {name!r} has no version {to_version}", f"It has: {known}.")
        return written[to_version]
    last = entries[-1].change
    current = last.restored or last.version
    earlier = [version for version in written if version < current]
    return written[max(earlier)] if earlier else None
