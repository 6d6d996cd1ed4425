"""Skills as one JSON document: what `export` writes and `import` reads.

    {"format": "skill-learner-skills", "version": 1, "skills": [
        {"name": ..., "state": ..., "scope": ...,
         "files": {"SKILL.md": <text>, "scripts/x": {"base64": ...}}}]}

A document comes from anywhere: every name and path in it is checked before anything is written, and
nothing is ever written outside the folder of the skill it belongs to.
"""

from __future__ import annotations

import base64
import binascii
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_learner.errors import SkillFormatError, SkillLearnerError
from skill_learner.files import atomic_write
from skill_learner.models import CreateSkill, Skill
from skill_learner.skills.frontmatter import parse
from skill_learner.skills.library import SkillLibrary

FORMAT = "skill-learner-skills"
VERSION = 1
SKILL_FILE = "SKILL.md"
MOST_FILES = 200
MOST_BYTES = 5 * 1024 * 1024

_PART = re.compile(r"[^\x00-\x1f\x7f<>:\"/\\|?*]{1,200}")
_DEVICES = re.compile(r"(?i)(con|prn|aux|nul|com\d|lpt\d)(\..*)?")


@dataclass(frozen=True)
class IncomingSkill:
    """One checked skill of a document. attachments: relative path to bytes, without SKILL.md."""

    name: str
    description: str
    body: str
    state: str
    attachments: Mapping[str, bytes]


@dataclass(frozen=True)
class Imported:
    """What became of one skill. outcome: written, unchanged or kept (ours differs, so it stays)."""

    name: str
    outcome: str
    detail: str = ""


def export_document(skills: Sequence[Skill]) -> dict[str, Any]:
    """The document for these skills, attachments included, links left out."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "skills": [
            {
                "name": skill.name,
                "state": skill.state,
                "scope": skill.scope,
                "files": {name: _encoded(data) for name, data in _files_of(skill)},
            }
            for skill in skills
        ],
    }


def read_document(document: Any) -> list[IncomingSkill]:
    """Check a whole document; SkillFormatError, naming the skill and the file, when any part of it
    is not sound."""
    if not isinstance(document, dict) or document.get("format") != FORMAT:
        raise SkillFormatError(
            "this is no skill-learner export", "make one with `skill-learner export --format json`"
        )
    if document.get("version") != VERSION:
        raise SkillFormatError(
            f"export version {document.get('version')!r} is not known",
            "upgrade skill-learner on this machine",
        )
    skills = document.get("skills")
    if not isinstance(skills, list):
        raise SkillFormatError("`skills` must be a list")
    found = [_incoming(item, index) for index, item in enumerate(skills, start=1)]
    names = [skill.name.casefold() for skill in found]
    doubled = sorted({name for name in names if names.count(name) > 1})
    if doubled:
        raise SkillFormatError(f"more than one skill is called {', '.join(doubled)}")
    return found


def import_skills(
    incoming: Sequence[IncomingSkill],
    library: SkillLibrary,
    *,
    scope: str,
    project_slug: str,
    dry_run: bool,
) -> list[Imported]:
    """Write skills that are not there yet; a skill of the same name is never changed."""
    present = {s.name: s for s in library.list(states=("active", "candidate", "archived"))}
    return [
        _kept(skill, present[skill.name])
        if skill.name in present
        else _import_one(skill, library, scope, project_slug, dry_run)
        for skill in incoming
    ]


def _kept(incoming: IncomingSkill, present: Skill) -> Imported:
    same = (present.description, present.body.strip()) == (
        incoming.description,
        incoming.body.strip(),
    )
    if same:
        return Imported(incoming.name, "unchanged", f"already there, {present.state}")
    return Imported(incoming.name, "kept", "a different skill of this name is there and stays")


def _import_one(
    incoming: IncomingSkill, library: SkillLibrary, scope: str, project_slug: str, dry_run: bool
) -> Imported:
    files = len(incoming.attachments)
    detail = f"{incoming.state}, {files} further files" if files else incoming.state
    if dry_run:
        return Imported(incoming.name, "would be written", detail)
    draft = CreateSkill(
        name=incoming.name, description=incoming.description, body=incoming.body, evidence=()
    )
    skill = library.create(
        draft,
        state="active" if incoming.state == "active" else "candidate",
        scope=scope,
        project_slug=project_slug,
        origin="import",
        session="",
    )
    folder = Path(skill.path).parent
    for relative, data in incoming.attachments.items():
        target = folder.joinpath(*relative.split("/"))
        target.parent.mkdir(parents=True, exist_ok=True)
        atomic_write(target, data)
    return Imported(skill.name, "written", detail)


def _files_of(skill: Skill) -> Iterator[tuple[str, bytes]]:
    file = Path(skill.path)
    yield SKILL_FILE, file.read_bytes()
    for path in sorted(file.parent.rglob("*")):
        relative = path.relative_to(file.parent)
        hidden = any(part.startswith(".") for part in relative.parts)
        if path.is_file() and not path.is_symlink() and path != file and not hidden:
            yield relative.as_posix(), path.read_bytes()


def _encoded(data: bytes) -> str | dict[str, str]:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(data).decode("ascii")}


def _incoming(item: Any, index: int) -> IncomingSkill:
    where = f"skill {index}"
    if not isinstance(item, dict) or not isinstance(item.get("files"), dict):
        raise SkillFormatError(f"{where}: expected an object with `name` and `files`")
    name = item.get("name")
    if not isinstance(name, str) or not _is_safe_part(name) or name.startswith("."):
        raise SkillFormatError(f"{where}: {name!r} is no name for a skill")
    where = f"skill {name!r}"
    files = _checked_files(item["files"], where)
    if SKILL_FILE not in files:
        raise SkillFormatError(f"{where}: it has no {SKILL_FILE}")
    try:
        parsed = parse(files.pop(SKILL_FILE), f"{name}/{SKILL_FILE}")
    except SkillLearnerError as problem:
        raise SkillFormatError(f"{where}: {problem.message}", problem.hint) from problem
    state = item.get("state", "candidate")
    return IncomingSkill(
        name=name,
        description=parsed.description,
        body=parsed.body,
        state="active" if state == "active" else "candidate",
        attachments=files,
    )


def _checked_files(files: Mapping[Any, Any], where: str) -> dict[str, bytes]:
    if len(files) > MOST_FILES:
        raise SkillFormatError(f"{where}: {len(files)} files, more than the {MOST_FILES} allowed")
    checked: dict[str, bytes] = {}
    total = 0
    for path, content in files.items():
        if not isinstance(path, str) or not all(_is_safe_part(p) for p in path.split("/")):
            raise SkillFormatError(f"{where}: the path {path!r} is not allowed in a skill")
        checked[path] = _decoded(content, f"{where}, {path}")
        total += len(checked[path])
        if total > MOST_BYTES:
            raise SkillFormatError(f"{where}: more than {MOST_BYTES} bytes")
    _refuse_collisions(checked, where)
    return checked


def _refuse_collisions(files: Mapping[str, bytes], where: str) -> None:
    """Two paths that are one on some file system, or a file where another path needs a folder."""
    seen: dict[str, str] = {}
    for path in files:
        folded = path.casefold()
        if folded in seen:
            raise SkillFormatError(f"{where}: {path!r} and {seen[folded]!r} are one file somewhere")
        seen[folded] = path
    for folded, path in seen.items():
        parents = folded.split("/")[:-1]
        if any("/".join(parents[:depth]) in seen for depth in range(1, len(parents) + 1)):
            raise SkillFormatError(f"{where}: {path!r} lies below a file")


def _is_safe_part(part: str) -> bool:
    return bool(
        _PART.fullmatch(part)
        and part not in (".", "..")
        and not part.endswith((".", " "))
        and not _DEVICES.fullmatch(part)
    )


def _decoded(content: Any, where: str) -> bytes:
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if isinstance(content, dict) and isinstance(content.get("base64"), str):
        try:
            return base64.b64decode(content["base64"], validate=True)
        except binascii.Error as problem:
            raise SkillFormatError(f"{where}: damaged base64: {problem}") from problem
    raise SkillFormatError(f"{where}: expected text or an object with `base64`")
