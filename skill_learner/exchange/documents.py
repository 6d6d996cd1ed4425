"""Skills as one JSON document.

    {"format": "skill-learner-skills", "version": 1, "skills": [
        {"name": ..., "state": ..., "scope": ...,
         "files": {"SKILL.md": <text>, "scripts/x": {"base64": ..., "executable": true}}}]}

A document is our own kind of file: what is damaged, or leads out of the library, refuses it whole.
A skill that has a name or size which not every system can hold is refused alone.
"""

from __future__ import annotations

import base64
import binascii
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from skill_learner.errors import SkillFormatError
from skill_learner.exchange.exported import ExportedSkill
from skill_learner.exchange.incoming import Incoming, IncomingSkill, Refused, incoming_skill
from skill_learner.exchange.safe_files import SkillFileData, check_inside, check_path, leads_out

FORMAT = "skill-learner-skills"
VERSION = 1
STATES = frozenset({"active", "candidate", "archived"})


def export_document(skills: Iterable[ExportedSkill]) -> dict[str, Any]:
    """The document for these skills."""
    return {
        "format": FORMAT,
        "version": VERSION,
        "skills": [
            {
                "name": skill.name,
                "state": skill.state,
                "scope": skill.scope,
                "files": {path: _encoded(file) for path, file in skill.files.items()},
            }
            for skill in skills
        ],
    }


def read_document(document: Any) -> Incoming:
    """Check a whole document; SkillFormatError names the skill and the file that is not sound."""
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
    read = [_read(item, index) for index, item in enumerate(skills, start=1)]
    names = Counter(one.name.casefold() for one in read)
    doubled = sorted(name for name, times in names.items() if times > 1)
    if doubled:
        raise SkillFormatError(f"more than one skill is called {', '.join(doubled)}")
    found = [_incoming(one) for one in read]
    return Incoming(
        tuple(one for one in found if isinstance(one, IncomingSkill)),
        tuple(one for one in found if isinstance(one, Refused)),
    )


def _encoded(file: SkillFileData) -> str | dict[str, Any]:
    marks: dict[str, Any] = {"executable": True} if file.executable else {}
    try:
        text = file.data.decode("utf-8")
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(file.data).decode("ascii"), **marks}
    return {"text": text, **marks} if marks else text


def _read(item: Any, index: int) -> ExportedSkill:
    """One skill as it was written down; SkillFormatError when that is no skill or leads out."""
    where = f"skill {index}"
    if not isinstance(item, dict) or not isinstance(item.get("files"), dict):
        raise SkillFormatError(f"{where}: expected an object with `name` and `files`")
    name = item.get("name")
    if not isinstance(name, str) or leads_out(name) or name.startswith(".") or "/" in name:
        raise SkillFormatError(f"{where}: {name!r} is no name for a skill")
    where = f"skill {name!r}"
    files = {
        check_inside(path, where): _decoded(content, f"{where}, {path}")
        for path, content in item["files"].items()
    }
    state = item.get("state")
    known = state if isinstance(state, str) and state in STATES else "candidate"
    scope = item.get("scope")
    return ExportedSkill(name, known, scope if isinstance(scope, str) else "", files)


def _incoming(skill: ExportedSkill) -> IncomingSkill | Refused:
    where = f"skill {skill.name!r}"
    try:
        check_path(skill.name, where)
        found = incoming_skill(skill.name, skill.files, where)
        return replace(found, state=skill.state, scope=skill.scope)
    except SkillFormatError as problem:
        return Refused(skill.name, problem.message)


def _decoded(content: Any, where: str) -> SkillFileData:
    if isinstance(content, str):
        return SkillFileData(content.encode("utf-8", "surrogatepass"))
    if isinstance(content, Mapping):
        executable = content.get("executable") is True
        if isinstance(content.get("text"), str):
            return SkillFileData(content["text"].encode("utf-8", "surrogatepass"), executable)
        if isinstance(content.get("base64"), str):
            try:
                data = base64.b64decode(content["base64"], validate=True)
            except binascii.Error as problem:
                raise SkillFormatError(f"{where}: damaged base64: {problem}") from problem
            return SkillFileData(data, executable)
    raise SkillFormatError(f"{where}: expected text or an object with `base64`")
