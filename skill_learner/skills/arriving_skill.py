"""What a skill from another machine is to be here, and the form in which a new one is written.

Pure: nothing is read and nothing is touched, so that any process may do it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import NamedTuple

from skill_learner.skills.arrivals import ArrivedEntry
from skill_learner.skills.frontmatter import render
from skill_learner.skills.history import Change, arrived_entry, content_hash
from skill_learner.skills.our_metadata import with_our_metadata
from skill_learner.skills.records import SkillRecord, told_briefly

SYNC = "sync"
"""The action of a change that came from another machine."""
_NOTHING: Mapping[str, str] = {}
Attachments = Mapping[str, tuple[bytes, bool]]
"""Relative paths with `/`; the bytes there, and whether they may be executed."""


class ArrivingSkill(NamedTuple):
    """What a skill is to be from now on. attachments: all of its files; earlier ones in `dropped`
    go (their bytes stay in the history). further: lines of other front matter keys."""

    description: str
    body: str
    license: str
    metadata: Mapping[str, str]
    attachments: Attachments
    record: SkillRecord
    dropped: tuple[str, ...] = ()
    further: Mapping[str, str] = _NOTHING


class NewSkill(NamedTuple):
    """A skill that is not here yet, and why it comes."""

    arriving: ArrivingSkill
    why: str


class ReadySkill(NamedTuple):
    """A new skill as it is written: the bytes of its SKILL.md, what the history notes of it, and
    its further files. A tuple of plain values, for it may come from another process."""

    name: str
    data: bytes
    noted: ArrivedEntry
    attachments: Attachments


def rendered(name: str, arriving: ArrivingSkill, record: SkillRecord) -> bytes:
    """The bytes of its SKILL.md."""
    return render(
        name,
        arriving.description,
        "\n" + arriving.body.strip("\n") + "\n",
        metadata=with_our_metadata(arriving.metadata, record),
        license=arriving.license,
        further=arriving.further,
    )


def made_ready(name: str, new: NewSkill, actor: str, version: int, at: str) -> ReadySkill:
    """A new skill, ready to be written as that version of that name."""
    arriving = new.arriving
    record = arriving.record
    if record.version != version:
        record = replace(record, version=version)
    data = rendered(name, arriving, record)
    digest = content_hash(data)
    told = {**told_briefly(record), "hash": digest, "created": at}
    change = Change(name, version, SYNC, actor, new.why, "", "", digest, at)
    return ReadySkill(name, data, arrived_entry(change, told, data), arriving.attachments)
