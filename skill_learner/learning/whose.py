"""Whose a new skill is: the project's whose files or tools it names, else the user's.

What serves one project only is a nuisance in the others, so whatever may be meant for this one
stays with it: also the person's own word in it, unless they speak of all projects.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from skill_learner.learning.commands import command_of, parts_of, unquote
from skill_learner.learning.evidence import human_word, proves_fix
from skill_learner.learning.step_files import repository_path
from skill_learner.learning.whose_words import (
    ALL_PROJECTS,
    COMMON_DIRS,
    COMMON_FILES,
    COMMON_TASKS,
    TASK_RUNNERS,
    THIS_PROJECT,
)
from skill_learner.models import CreateSkill, Session

USER = "user"

_FILE_KEYS = ("file_path", "path", "notebook_path")
_PATHLIKE = re.compile(r"(?<![\w:/@.-])(?:\.{1,2}/)?[\w.-]+(?:/[\w.\[\]-]+)*\.?[\w-]+")
_FILE_NAME = re.compile(r"[\w-]+(?:\.[\w-]+)+")
_TASK = re.compile(rf"\b(?:{TASK_RUNNERS})\s+([A-Za-z][\w:.-]*[\w-])")
_COMPOUND = re.compile(r"[a-z0-9]+(?:[-_][a-z0-9]+)+", re.IGNORECASE)


def whose(draft: CreateSkill, session: Session, project_key: str) -> tuple[str, str]:
    """The scope of a new skill and the reason for it, in words."""
    if not session.project or project_key == USER:
        return USER, ""
    text = f"{draft.name}\n{draft.description}\n{draft.body}"
    named = _named(text, session)
    if named:
        return project_key, f"this project's: it names {named}"
    if ALL_PROJECTS.search(_said(draft, session)):
        return USER, "for all projects: the person speaks of all of them"
    if THIS_PROJECT.search(text):
        return project_key, "this project's: it says so itself"
    if human_word(draft.evidence, session) and not proves_fix(draft.evidence, session):
        return project_key, "this project's: it rests on what the person said in it"
    return USER, "for all projects: it names no file and no tool of this one"


def _named(text: str, session: Session) -> str:
    """What of the project a text names, "" for nothing."""
    paths, tasks = _paths_of(session), _tasks_of(session)
    names = {path.rpartition("/")[2] for path in paths} - COMMON_FILES
    names = {name for name in names if _FILE_NAME.fullmatch(name)}
    for found in _PATHLIKE.findall(text):
        path = found.removeprefix("./")
        if path in names or ("/" in path and _is_own(path) and _is_among(path, paths)):
            return str(found)
    for task in _TASK.findall(text):
        if task in tasks:
            return str(task)
    name = re.split(r"[\\/]", session.project.rstrip("\\/"))[-1]
    if _COMPOUND.fullmatch(name) and re.search(rf"(?<![\w-]){re.escape(name)}(?![\w-])", text):
        return name
    return ""


def _is_own(path: str) -> bool:
    """Whether a relative path is one that not just any project has."""
    *folders, name = path.split("/")
    return name not in COMMON_FILES or not COMMON_DIRS.issuperset(folders)


def _is_among(path: str, paths: frozenset[str]) -> bool:
    return any(one == path or one.endswith("/" + path) for one in paths)


def _paths_of(session: Session) -> frozenset[str]:
    """The files of the project that a session touched or ran, relative to it."""
    found = set()
    for step in session.steps:
        if step.call is None:
            continue
        told = [step.call.input.get(key) for key in _FILE_KEYS]
        for path in (*step.call.changed_files, *told, *_run(command_of(step.call))):
            if isinstance(path, str):
                relative = repository_path(path, session.project).removeprefix("./")
                if _FILE_NAME.search(relative) or "/" in relative:
                    found.add(relative)
    return frozenset(found)


def _run(line: str) -> Iterator[str]:
    """The words of a command line that are files of the project by the look of them: with an
    ending, or run by a path. (`origin/main` and `github.com/a/b` look otherwise.)"""
    for part in parts_of(line):
        for place, word in enumerate(map(unquote, part.words)):
            plain = word.removeprefix("./")
            first, _, rest = plain.partition("/")
            if "://" in word or (rest and "." in first.lstrip(".")):
                continue
            if _FILE_NAME.fullmatch(plain.rpartition("/")[2]) or (place == 0 and rest):
                yield plain


def _tasks_of(session: Session) -> frozenset[str]:
    """The tasks that the project's own files define, as far as the session ran them."""
    lines = (command_of(step.call) for step in session.steps)
    return frozenset(task for line in lines for task in _TASK.findall(line)) - COMMON_TASKS


def _said(draft: CreateSkill, session: Session) -> str:
    cited = {number for claim in draft.evidence for number in claim.steps}
    words = [step.text for step in session.steps if step.kind == "human" and step.number in cited]
    return "\n".join([draft.description, draft.body, *words])
