"""Skills that were written elsewhere, taken in as they are, however many, with one wait for the
disk: see `bulk`."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from skill_learner.errors import LibraryError
from skill_learner.models import SkillState
from skill_learner.skills.arriving_skill import Attachments, ReadySkill
from skill_learner.skills.bulk import BulkIntake
from skill_learner.skills.folder import SkillFolder
from skill_learner.skills.history import (
    History,
    arrived_entry,
    content_hash,
    new_change,
    now,
)
from skill_learner.skills.records import RecordStore, SkillRecord, told_briefly
from skill_learner.skills.validation import slugify_name
from skill_learner.skills.writer import is_our_form, planned_name

_USER = "user"


class AdoptedSkill(NamedTuple):
    """attachments: checked relative paths, with bytes and whether they may be executed. state: what
    it gets. archived: why it lies in the archive from the start, "" where it does not."""

    name: str
    data: bytes
    attachments: Attachments
    state: SkillState
    scope: str
    archived: str = ""


class Adopting:
    """Within the library's lock."""

    def __init__(self, folder: SkillFolder, records: RecordStore, history: History) -> None:
        self._folder = folder
        self._records = records
        self._history = history

    def take(self, skills: Sequence[AdoptedSkill], project_slug: str) -> list[str | LibraryError]:
        """For each the name that it got, or why it could not be written. An error that is raised
        says that none was."""
        taken = self._folder.names_taken()
        known, at, prefix = self._history.may_know(), now(), slugify_name(project_slug)
        records: dict[str, SkillRecord] = {}
        told: list[str | LibraryError] = []
        with BulkIntake(Path(self._folder.root), self._history) as bulk:
            for skill in skills:
                name = planned_name(slugify_name(skill.name), prefix, taken)
                version = self._history.last_version(name) + 1 if known(name) else 1
                record = _record(name, skill, version, at)
                try:
                    _put(bulk, name, skill, record)
                except OSError as error:
                    told.append(LibraryError(f"{name!r} could not be written: {error}"))
                    continue
                except LibraryError as error:
                    told.append(error)
                    continue
                taken.add(name)
                records[name] = record
                told.append(name)
            bulk.commit()
        self._records.save_noted(records)
        return told


def _record(name: str, skill: AdoptedSkill, version: int, created: str) -> SkillRecord:
    """Only a skill that we wrote is ours again."""
    digest = content_hash(skill.data)
    return SkillRecord(
        hash=digest if is_our_form(skill.data, name) else "",
        version=version,
        created=created,
        state=skill.state,
        origin="import",
        scope=skill.scope,
        noted_hash=digest,
        noted_state=skill.state,
    )


def _put(bulk: BulkIntake, name: str, skill: AdoptedSkill, record: SkillRecord) -> None:
    change = new_change(name, record, "import", _USER, "imported", "")
    change = change._replace(after=record.noted_hash)
    told = told_briefly(record)
    ready = ReadySkill(name, skill.data, arrived_entry(change, told, skill.data), skill.attachments)
    if not skill.archived:
        bulk.put(ready)
        return
    moved = change._replace(action="archive", why=skill.archived, before=change.after)
    bulk.put_archived(ready, arrived_entry(moved, told, skill.data))
