"""From a SKILL.md and its record to a Skill: whose it is, and what state it is in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import cast

from skill_learner.errors import LibraryError, SkillLearnerError
from skill_learner.models import Skill, SkillState
from skill_learner.skills.encounters import EncounterStore, encounter_file
from skill_learner.skills.folder import Place, SkillFolder, place_key, read_capped
from skill_learner.skills.frontmatter import ParsedSkill, parse
from skill_learner.skills.history import History, carried_out, content_hash
from skill_learner.skills.looks import Look
from skill_learner.skills.our_metadata import PREFIX, from_metadata
from skill_learner.skills.records import RecordStore, SkillRecord, record_file
from skill_learner.skills.validation import validate


@dataclass(frozen=True)
class StoredSkill:
    """A skill with what stands behind it. record is None for a file that was never ours."""

    place: Place
    data: bytes
    parsed: ParsedSkill
    record: SkillRecord | None
    skill: Skill

    @property
    def known(self) -> SkillRecord:
        """The record, or what the file tells of itself."""
        return self.record or from_metadata(self.parsed.metadata)

    @property
    def state_in_use(self) -> SkillState:
        """The state that it has, or would have outside the archive."""
        return _state_in_use(self.parsed, self.skill.content_hash, self.record)


@dataclass(frozen=True)
class LibraryLook:
    skills: Look
    archived: Look
    records: Look
    encounters: Look

    def mark(self) -> str:
        """Equal for two looks between which nothing has changed; "" where that is not certain."""
        looks = (self.skills, self.archived, self.records, self.encounters)
        if not all(look.is_certain() for look in looks):
            return ""
        return content_hash(b"\0\0".join(look.told() for look in looks))

    def stamps(self) -> dict[str, str]:
        """For the key of each skill a text that changes whenever its file, its record or what was
        met along with it does; "" when that is not certain."""
        records, met = self.records.stamps(), self.encounters.stamps()
        found: dict[str, str] = {}
        for look, archived in ((self.skills, False), (self.archived, True)):
            for name, stamp in look.stamps().items():
                told = [stamp]
                if records and (record := records.get(record_file(name))):
                    told.append(record)
                if met and (encounter := met.get(encounter_file(name))):
                    told.append(encounter)
                found[place_key(name, archived)] = "|".join(told) if stamp else ""
        return found


class SkillReader:
    def __init__(
        self,
        folder: SkillFolder,
        records: RecordStore,
        history: History,
        encounters: EncounterStore | None = None,
    ) -> None:
        self._encounters = encounters
        self._folder = folder
        self._records = records
        self._history = history

    def read(self, place: Place) -> StoredSkill:
        """Read one skill. SkillFormatError when its file is unusable, LibraryError when it is gone
        or cannot be opened."""
        try:
            data = read_capped(place.file_path)
        except OSError as error:
            raise LibraryError(f"{place.file_path}: {error.strerror or error}") from error
        parsed = parse(data, place.file_path)
        digest = content_hash(data)
        record, ours = self.ownership(place.name, digest)
        asks = self._encounters.of(place.name).asks if self._encounters is not None else ()
        skill = _skill(place, parsed, digest, record, ours, asks)
        return StoredSkill(place, data, parsed, record, skill)

    def look(self) -> LibraryLook:
        """What can be told of all skills, archived ones too, without reading one."""
        return LibraryLook(
            self._folder.look(),
            self._folder.look(archived=True),
            self._records.look(),
            self._encounters.look() if self._encounters is not None else Look(),
        )

    def ownership(self, name: str, digest: str) -> tuple[SkillRecord | None, bool]:
        """The record that belongs to these bytes, and whether we wrote them last.

        A record that is gone, damaged or older than the ledger (a crash came before it was written)
        is made again from the ledger, where the bytes on disk are those that it tells of.
        """
        record = self._records.load(name)
        if record is not None and record.hash == digest:
            return record, True
        entries = self._history.entries(name)
        if not entries or (record is not None and record.version >= entries[-1].change.version):
            return record, False
        oldest = 0 if record is None else record.version
        for entry in reversed(carried_out(entries, digest)):
            if entry.change.after == digest and entry.change.version > oldest:
                return entry.record, entry.record.hash == digest
        return (entries[-1].record if record is None else record), False

    def same_body(self, stored: StoredSkill, base_hash: str) -> bool:
        """Whether `base_hash` is of this version, or of one that differs in our metadata only."""
        if base_hash == stored.skill.content_hash:
            return True
        known = {entry.change.after for entry in self._history.entries(stored.place.name)}
        if base_hash not in known:
            return False
        try:
            return parse(self._history.bytes_of(base_hash)).body == stored.parsed.body
        except SkillLearnerError:
            return False


def _skill(
    place: Place,
    parsed: ParsedSkill,
    digest: str,
    record: SkillRecord | None,
    ours: bool,
    asks: tuple[str, ...],
) -> Skill:
    metadata = parsed.metadata
    warnings = parsed.warnings if ours else (*parsed.warnings, *validate(parsed, place.name))
    known = record or from_metadata(metadata)
    return Skill(
        name=place.name,
        description=" ".join(parsed.description.split()),
        body=parsed.body.lstrip("\r\n"),
        state="archived" if place.archived else _state_in_use(parsed, digest, record),
        scope=known.scope,
        path=place.file_path,
        content_hash=digest,
        ours=ours,
        metadata=dict(metadata),
        sessions=known.sessions,
        trigger_key=known.trigger_key,
        remedy_key=known.remedy_key,
        origin=known.origin,
        version=known.version,
        warnings=warnings,
        asks=asks,
    )


def _state_in_use(parsed: ParsedSkill, digest: str, record: SkillRecord | None) -> SkillState:
    if not parsed.description:
        return "candidate"
    told = parsed.metadata.get(PREFIX + "state", "")
    if record is not None and record.noted_hash == digest:
        told = record.noted_state
    elif told not in {"active", "candidate"} and record is not None:
        told = record.state
    return cast(SkillState, told) if told in {"active", "candidate"} else "active"
