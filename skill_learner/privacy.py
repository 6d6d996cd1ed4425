"""What the user never wants learned from: the hooks' rules, applied to a session as it was read.

An editor's own transcript holds what the hooks left out, so a review must leave it out once more.
"""

from __future__ import annotations

import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from skill_learner.hook_runtime import privacy as hot
from skill_learner.hook_runtime.project_key import resolve
from skill_learner.models import Session, Step, ToolCall

OFF_FILE = ".skill-learner-off"
BLANK = hot.BLANK.decode("ascii")
_SPAN = re.compile(r"<private>.*?(?:</private>|\Z)", re.DOTALL)
_DEEPEST = 40


@dataclass(frozen=True)
class PrivacyRules:
    """projects: folders, with what lies below. paths: names or paths as a tool call may tell them,
    with `*` at the end for "and what goes on". tools: names, with `*` likewise."""

    projects: tuple[str, ...] = ()
    paths: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()

    def hook_lines(self) -> list[str]:
        """As hook.conf holds them; a path in the home folder in both ways to write it."""
        lines = [f"ignore_project={_resolved(top)}" for top in self.projects]
        for path in self.paths:
            lines += [f"ignore_path={form}" for form in _forms(path)]
        return lines + [f"ignore_tool={tool}" for tool in self.tools]

    def ignores_project(self, project: str) -> bool:
        folder = os.fsencode(project)
        return bool(project) and any(
            hot.lies_in(folder, os.fsencode(form))
            for top in self.projects
            for form in (_resolved(top), _expanded(top))
        )

    @staticmethod
    def is_switched_off(project: str) -> bool:
        """Whether the user put a `.skill-learner-off` file into the project."""
        return bool(project) and os.path.lexists(os.path.join(project, OFF_FILE))

    def ignores_call(self, call: ToolCall) -> bool:
        name = os.fsencode(call.name)
        if any(hot.is_named(name, os.fsencode(tool)) for tool in self.tools):
            return True
        forms = [os.fsencode(form) for path in self.paths for form in _forms(path)]
        if not forms:
            return False
        told = [os.fsencode(text) for text in (*_strings(call.input, 0), *call.changed_files)]
        return hot.names_any(told, forms)


def without_private(session: Session, rules: PrivacyRules) -> Session:
    """The session with `<private>` spans blanked and ignored calls emptied; steps keep their
    numbers."""
    return replace(session, steps=tuple(_cleared(step, rules) for step in session.steps))


def _cleared(step: Step, rules: PrivacyRules) -> Step:
    call = step.call
    if call is not None and rules.ignores_call(call):
        empty = ToolCall(call.call_id, call.name, {}, None, "pending", call.background)
        return replace(step, text="", call=empty)
    if call is not None and "<private>" in f"{call.result}{''.join(_strings(call.input, 0))}":
        result = _blanked(call.result) if call.result is not None else None
        step = replace(step, call=replace(call, input=_blanked_in(call.input, 0), result=result))
    return replace(step, text=_blanked(step.text)) if "<private>" in step.text else step


def _blanked(text: str) -> str:
    return _SPAN.sub(BLANK, text)


def _blanked_in(value: Any, depth: int) -> Any:
    if isinstance(value, str):
        return _blanked(value)
    if depth < _DEEPEST and isinstance(value, Mapping):
        return {key: _blanked_in(item, depth + 1) for key, item in value.items()}
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        return [_blanked_in(item, depth + 1) for item in value]
    return value


def _strings(value: Any, depth: int) -> Sequence[str]:
    if isinstance(value, str):
        return (value.encode("utf-8", "replace").decode("utf-8"),)
    if depth < _DEEPEST and isinstance(value, Mapping):
        value = list(value.values())
    if depth < _DEEPEST and isinstance(value, (list, tuple)):
        return [text for item in value for text in _strings(item, depth + 1)]
    return ()


def _resolved(folder: str) -> str:
    """As hooks have a project's folder."""
    return os.fsdecode(resolve(os.fsencode(_expanded(folder))))


def _forms(path: str) -> list[str]:
    whole, home = _expanded(path), os.path.expanduser("~")
    return [*map(os.fsdecode, hot.forms(*map(os.fsencode, (path, whole, home))))]


def _expanded(path: str) -> str:
    return os.path.expanduser(path) if path.startswith("~") else path
