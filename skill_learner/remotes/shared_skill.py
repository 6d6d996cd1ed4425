"""A skill as it travels: its files in a form that is the same on every machine.

SKILL.md            front matter and text, without anything of one machine
.provenance.json    state, scope, evidence (hashed), who changed what and why (redacted)
scripts/x           attachments, as they are
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any

from skill_learner.errors import SkillFormatError
from skill_learner.exchange.safe_files import (
    SKILL_FILE,
    Files,
    SkillFileData,
    check_files,
    check_path,
    is_ignored,
    is_skill_file,
)
from skill_learner.json_text import made_once
from skill_learner.skills.frontmatter import check_writable, parse, render
from skill_learner.skills.our_metadata import PREFIX
from skill_learner.skills.validation import name_faults

PROVENANCE_FILE = ".provenance.json"
MOST_CHANGES = 30
MOST_LINEAGE = 60
MOST_SESSIONS = 200
_LONGEST = 500
_LONGEST_SCOPE = 120
_PROJECT = "project:"
_STATES = ("active", "candidate", "archived")
_VIA = " via "
_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]+")
"""And halves of letters, which JSON can hold and neither a file nor a database."""
_compact = made_once(json.JSONEncoder(check_circular=False, separators=(",", ":")))
_HASH = re.compile(r"[0-9a-f]{16,64}")


@dataclass(frozen=True)
class SharedChange:
    """One change of the skill's life. by: the label of the machine, never a person's name."""

    version: int
    action: str
    why: str
    by: str
    at: str

    def is_same(self, other: SharedChange) -> bool:
        """Whether it is that one, however its reason was shortened on the way."""
        mine = (self.by, self.at, self.version, self.action)
        return mine == (other.by, other.at, other.version, other.action)


@dataclass(frozen=True)
class SharedSkill:
    """metadata: foreign keys of the front matter's map only. further: lines of its other keys, as
    they stand. scope: "user" or "project:<folder name>".
    sessions: hashes of session ids. approved: a person made it active. by: who changed it last.
    lineage: hashes of the texts it had, newest last, by which unrelated copies find their common
    version."""

    name: str
    description: str
    body: str
    license: str = ""
    metadata: Mapping[str, str] = field(default_factory=dict)
    attachments: Files = field(default_factory=dict)
    state: str = "active"
    scope: str = "user"
    sessions: tuple[str, ...] = ()
    trigger_key: str = ""
    remedy_key: str = ""
    origin: str = ""
    unverified: str = ""
    approved: bool = False
    by: str = ""
    version: int = 1
    history: tuple[SharedChange, ...] = ()
    lineage: tuple[str, ...] = ()
    further: Mapping[str, str] = field(default_factory=dict)

    @cached_property
    def text_digest(self) -> str:
        """Equal for equal words and attachments."""
        parts: list[Any] = [self.description, self.body, self.license]
        parts.append(sorted(self.metadata.items()))
        if self.further:
            parts.append(sorted(self.further.items()))
        files = [
            (path, hashlib.sha256(file.data).hexdigest(), file.executable)
            for path, file in sorted(self.attachments.items())
        ]
        return _sha256([parts, files])

    @cached_property
    def digest(self) -> str:
        """Equal when two copies need nothing of each other; who and when do not count."""
        kept = [self.state, self.scope, sorted(self.sessions), self.trigger_key, self.remedy_key]
        return _sha256([self.text_digest, kept, self.unverified, self.approved])

    def files(self) -> dict[str, SkillFileData]:
        """The files that travel; the same skill gives the same bytes."""
        told = {name: getattr(self, name) for name in _PROVENANCE}
        told["history"] = [vars(change) for change in self.history]
        provenance = json.dumps(told, indent=1, sort_keys=True, ensure_ascii=True) + "\n"
        return {
            SKILL_FILE: SkillFileData(self.skill_file()),
            PROVENANCE_FILE: SkillFileData(provenance.encode("ascii")),
            **dict(sorted(self.attachments.items())),
        }

    def skill_file(self) -> bytes:
        """The SKILL.md as it travels; SkillFormatError for a part that it cannot hold."""
        shown = {**self.metadata, PREFIX + "state": self.state, PREFIX + "scope": self.scope}
        if self.unverified:
            shown[PREFIX + "unverified"] = self.unverified
        return render(
            self.name,
            self.description,
            "\n" + self.body.strip("\n") + "\n",
            metadata=shown,
            license=self.license,
            further=self.further,
        )


_PROVENANCE = (
    *("state", "scope", "sessions", "trigger_key", "remedy_key", "origin", "unverified"),
    *("approved", "by", "version", "lineage"),
)


_CHANGE_TEXTS = tuple(item.name for item in fields(SharedChange) if item.name != "version")


def read_shared(name: str, files: Files) -> SharedSkill:
    """Check and read what came from a remote, by the rules of an import; SkillFormatError says what
    is wrong. A folder that a person wrote, without provenance, is an active skill for everyone."""
    faults = name_faults(name)
    if faults:
        raise SkillFormatError(f"skill {name[:80]!r}: {faults[0]}")
    where = f"skill {name!r}"
    files = {check_path(path, where): file for path, file in files.items() if not is_ignored(path)}
    told = _provenance(files.pop(PROVENANCE_FILE, SkillFileData(b"{}")).data)
    check_files(files, where)
    if SKILL_FILE not in files:
        raise SkillFormatError(f"{where}: it has no {SKILL_FILE}")
    parsed = parse(files.pop(SKILL_FILE).data, f"{name}/{SKILL_FILE}")
    if any(map(is_skill_file, files)):
        raise SkillFormatError(f"{where}: it holds another skill")
    if parsed.uncarried:
        keys = ", ".join(parsed.uncarried)[:200]
        raise SkillFormatError(f"{where}: keys of its front matter cannot be told apart: {keys}")
    if parsed.warnings and parsed.lost:
        lost = "; ".join(parsed.lost)[:300]
        raise SkillFormatError(f"{where}: mend its {SKILL_FILE}, or text would be lost: {lost}")
    if not parsed.description or not parsed.body.strip():
        raise SkillFormatError(f"{where}: a description and a text are needed")
    shown = parsed.metadata  # what a person sees and edits in the repository counts
    told |= _standing(shown.get(PREFIX + "state"), shown.get(PREFIX + "scope"))
    shared = SharedSkill(
        name=name,
        description=" ".join(parsed.description.split()),
        body=normal_body(parsed.body),
        license=parsed.license,
        metadata={k: v for k, v in parsed.metadata.items() if not k.startswith(PREFIX)},
        attachments=files,
        further=normal_lines(parsed.further),
        **told,
    )
    check_writable(name, shared.description, shared.metadata)
    return shared


def _standing(state: Any, scope: Any) -> dict[str, str]:
    """State and scope, as far as these are such."""
    told = {}
    if state in _STATES:
        told["state"] = state
    if isinstance(scope, str) and (scope == "user" or scope.startswith(_PROJECT)):
        told["scope"] = _clean(scope)[:_LONGEST_SCOPE]
    return told


def normal_body(body: str) -> str:
    return body.replace("\r\n", "\n").strip("\n")


def normal_lines(further: Mapping[str, str]) -> dict[str, str]:
    """The lines of front matter keys with the line ends of every machine."""
    return {key: lines.replace("\r\n", "\n").rstrip("\n") for key, lines in further.items()}


def origin_of(shared: SharedSkill, remote: str) -> str:
    """Whose a skill is that came from a remote: who made it, on which machine, by which remote."""
    return f"{shared.origin or 'a person'}{_VIA}{remote} ({shared.by or 'unknown machine'})"


def made_by(origin: str) -> str:
    """The part of an origin that does not tell by which way the skill came."""
    return origin.split(_VIA, maxsplit=1)[0]


def hashed_sessions(sessions: tuple[str, ...]) -> tuple[str, ...]:
    """Ids of sessions as they travel: enough to count a session once, nothing to find it by. Ids
    that came from elsewhere are hashed already."""
    if not sessions:
        return ()
    found = (
        s
        if s.startswith("h:")
        else "h:" + hashlib.sha256(s.encode("utf-8", "replace")).hexdigest()[:16]
        for s in sessions
    )
    return tuple(sorted(set(found)))[-MOST_SESSIONS:]


def with_lineage(shared: SharedSkill, *more: tuple[str, ...]) -> SharedSkill:
    """With the hashes of earlier texts, its own last."""
    earlier = [text for texts in more for text in texts]
    chain = [t for t in dict.fromkeys((*earlier, *shared.lineage)) if t != shared.text_digest]
    return replace(shared, lineage=(*chain, shared.text_digest)[-MOST_LINEAGE:])


def _provenance(data: bytes) -> dict[str, Any]:
    """The provenance's fields that have their type; a damaged file tells nothing."""
    try:
        raw = json.loads(data[:1_000_000])
    except (ValueError, RecursionError):
        raw = {}
    if not isinstance(raw, dict):
        raw = {}
    told: dict[str, Any] = {}
    for key in ("trigger_key", "remedy_key", "origin", "unverified", "by"):
        text = raw.get(key)
        if text and isinstance(text, str):
            told[key] = _clean(text)
    told |= _standing(raw.get("state"), raw.get("scope"))
    told["approved"] = raw.get("approved") is True
    version = raw.get("version")
    told["version"] = version if isinstance(version, int) and 0 < version < 10**9 else 1
    if raw.get("sessions"):
        ids = _texts(raw["sessions"], MOST_SESSIONS)
        told["sessions"] = tuple(one for one in ids if one[:2] == "h:")
    if raw.get("lineage"):
        hashes = _texts(raw["lineage"], MOST_LINEAGE)
        told["lineage"] = tuple(one for one in hashes if _HASH.fullmatch(one))
    if raw.get("history"):
        told["history"] = _changes(raw["history"])
    return told


def _texts(value: Any, most: int) -> list[str]:
    items = value if isinstance(value, list) else []
    return [_clean(item)[:80] for item in items[-most:] if isinstance(item, str)]


def _changes(value: Any) -> tuple[SharedChange, ...]:
    found = []
    for item in (value if isinstance(value, list) else [])[-MOST_CHANGES:]:
        if isinstance(item, dict) and isinstance(item.get("version"), int):
            texts = {name: _clean(str(item.get(name, ""))) for name in _CHANGE_TEXTS}
            found.append(SharedChange(version=item["version"], **texts))
    return tuple(found)


def _clean(text: str) -> str:
    return (text if text.isprintable() else _CONTROL.sub(" ", text))[:_LONGEST]


def _sha256(value: Any) -> str:
    return hashlib.sha256(_compact(value).encode("ascii")).hexdigest()
