"""Skills as they come in, whatever brought them: their bytes, and what our own exports add."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from skill_learner.errors import SkillFormatError, SkillLearnerError
from skill_learner.exchange.safe_files import (
    SKILL_FILE,
    Files,
    SkillFileData,
    check_path,
    check_portable,
    is_safe_part,
    is_skill_file,
)
from skill_learner.skills.frontmatter import ParsedSkill, parse
from skill_learner.skills.validation import slugify_name


@dataclass(frozen=True)
class IncomingSkill:
    """One skill that passed every check of its files.

    name: the folder it gets. data: its SKILL.md as it came. state, scope: as its export says, ""
    where nothing says. attachments: its other files.
    """

    name: str
    data: bytes
    parsed: ParsedSkill
    state: str
    attachments: Files
    scope: str = ""


@dataclass(frozen=True)
class Unfit:
    """A file that was not read, and why: the skill that it belongs to cannot be taken in."""

    reason: str


@dataclass(frozen=True)
class Refused:
    """A skill that cannot be taken in, and why."""

    name: str
    reason: str


@dataclass(frozen=True)
class Incoming:
    """What one source held."""

    skills: tuple[IncomingSkill, ...]
    refused: tuple[Refused, ...] = ()


def incoming_skill(name: str, files: Files, where: str) -> IncomingSkill:
    """A skill from its files; SkillFormatError when they are not sound.

    name: its folder where it comes from; made valid, since a folder's name is its identity.
    """
    check_portable(files, where)
    found = [path for path in files if is_skill_file(path) and "/" not in path]
    if not found:
        raise SkillFormatError(f"{where}: it has no {SKILL_FILE}")
    skill_file = SKILL_FILE if SKILL_FILE in found else found[0]
    data = files[skill_file].data
    try:
        parsed = parse(data, f"{name}/{SKILL_FILE}")
    except SkillLearnerError as problem:
        raise SkillFormatError(f"{where}: {problem.message}", problem.hint) from problem
    attachments = {path: file for path, file in files.items() if path != skill_file}
    return IncomingSkill(slugify_name(name), data, parsed, "", attachments)


def grouped(
    found: Iterable[tuple[str, SkillFileData | Unfit]],
    root_name: str,
    whole: Collection[str] = (),
) -> Incoming:
    """Skills from files below one root: each folder with a SKILL.md is one, with all below it that
    belongs to no skill further down. A faulty one is refused, and the others stay.

    root_name: the skill's name where the root itself is one and its file names none.
    whole: folders known to be one skill each, whatever lies below them.
    """
    files = dict(found)
    roots = {path.rpartition("/")[0] for path in files if is_skill_file(path)}
    kept = roots.intersection(whole)
    roots -= {root for root in roots if "/" in root and nearest_root(root, kept) is not None}
    belonging: dict[str, dict[str, SkillFileData | Unfit]] = {root: {} for root in sorted(roots)}
    for path, file in files.items():
        root = nearest_root(path, roots)
        if root is not None:
            belonging[root][path[len(root) + 1 :] if root else path] = file
    skills: list[IncomingSkill] = []
    refused: list[Refused] = []
    for root, own in belonging.items():
        fit = {path: file for path, file in own.items() if isinstance(file, SkillFileData)}
        name = root.rpartition("/")[2] or _root_name(fit, root_name)
        where = f"skill {root or name!r}"
        try:
            if root:
                check_path(root, where)
            for file in own.values():
                if isinstance(file, Unfit):
                    raise SkillFormatError(f"{where}: {file.reason}")
            skills.append(incoming_skill(name, fit, where))
        except SkillFormatError as problem:
            refused.append(Refused(root or name, problem.message))
    return Incoming(tuple(skills), tuple(refused))


def nearest_root(path: str, roots: set[str]) -> str | None:
    """The skill's folder that a file lies in, itself or below; None when it lies in none."""
    folder = path.rpartition("/")[0]
    while folder not in roots:
        if not folder:
            return None
        folder = folder.rpartition("/")[0]
    return folder


def _root_name(files: Files, fallback: str) -> str:
    """A skill at the root of a repository bears the name it gives itself: its folder is whatever
    the clone was called."""
    for path, file in files.items():
        if is_skill_file(path) and "/" not in path:
            try:
                name = parse(file.data).name
            except SkillLearnerError:
                return fallback
            return name if is_safe_part(name) else fallback
    return fallback
