"""What a SKILL.md of ours tells of itself in the `metadata` map of its front matter."""

from __future__ import annotations

import re
from collections.abc import Mapping

from skill_learner.skills.records import SkillRecord

PREFIX = "skill-learner-"
UNDECIDED = "undecided"
"""Metadata of a candidate that shows two versions of the skill it names: no agent is given it, and
it never leaves."""
_SHOWN_SESSIONS = 10
_TRIGGER_LIMIT = 200
_TELLS_NOTHING = SkillRecord(hash="", origin="user")
_NUMBER = re.compile(r"[0-9]{1,9}")


def from_metadata(metadata: Mapping[str, str]) -> SkillRecord:
    """What a file without record tells of itself: it came from elsewhere, or records were lost."""
    if not metadata:
        return _TELLS_NOTHING
    version = metadata.get(PREFIX + "version", "1")
    return SkillRecord(
        hash="",
        version=int(version) if _NUMBER.fullmatch(version) else 1,
        sessions=tuple(metadata.get(PREFIX + "sessions", "").split()),
        trigger_key=metadata.get(PREFIX + "trigger", ""),
        origin=metadata.get(PREFIX + "origin", "user"),
        scope=metadata.get(PREFIX + "scope", "user"),
        unverified=metadata.get(PREFIX + "unverified", ""),
        expires=metadata.get(PREFIX + "expires", ""),
    )


def with_our_metadata(foreign: Mapping[str, str], record: SkillRecord) -> dict[str, str]:
    """The `metadata` map of a skill of ours: other keys as they were, then ours."""
    kept = {key: value for key, value in foreign.items() if not key.startswith(PREFIX)}
    ours = {
        "origin": record.origin,
        "scope": record.scope,
        "state": record.state,
        "version": str(record.version),
        "sessions": " ".join(record.sessions[-_SHOWN_SESSIONS:]),
        "trigger": record.trigger_key[:_TRIGGER_LIMIT],
        "unverified": record.unverified,
        "expires": record.expires,
    }
    return {**kept, **{PREFIX + key: value for key, value in ours.items() if value}}
