"""Warnings that a command printed although it passed, and that were gone after a change."""

from __future__ import annotations

import re

from skill_learner.learning.command_effects import changes_something
from skill_learner.learning.commands import goal, main_parts, shell_steps
from skill_learner.learning.results import clean_result
from skill_learner.learning.signatures import error_signature, make_key
from skill_learner.learning.step_files import changed_in
from skill_learner.models import Episode, Session, Step

_WARNING = re.compile(
    r"^\s*(?:warning\b|warn\b|npm warn|\[warn|deprecat|\w*DeprecationWarning|\w*Warning:"
    r"|(?:\S+:)?\d+(?::\d+)?:? warning\b|⚠)",
    re.IGNORECASE,
)


def find_vanished_warnings(session: Session) -> tuple[Episode, ...]:
    """One episode for each warning that a later run of the same command no longer printed, with a
    change made in between or by the later line itself."""
    found: list[Episode] = []
    pending: dict[tuple[str, str], tuple[Step, str, str]] = {}
    for step, call, line in shell_steps(session):
        goals = {goal(part) for part in main_parts(line)}
        printed = _warnings(call.result)
        for (purpose, signature), (first, before, warning) in list(pending.items()):
            if purpose not in goals or call.status == "failed":
                continue
            if signature in printed:
                continue
            del pending[(purpose, signature)]
            if _changed(session, first, step, line):
                found.append(_episode(first, step, before, line, warning, purpose))
        for signature, warning in printed.items():
            for purpose in goals:
                pending[(purpose, signature)] = (step, line, warning)
    return tuple({one.trigger_key: one for one in found}.values())


def _warnings(result: str | None) -> dict[str, str]:
    lines = clean_result(result).splitlines()[:400]
    warnings = [line.strip() for line in lines if _WARNING.match(line)]
    return {error_signature([line]): line[:300] for line in warnings}


def _changed(session: Session, first: Step, last: Step, line: str) -> bool:
    if changes_something(line):
        return True
    between = session.steps[first.number : last.number - 1]
    return any(changed_in(session, step) for step in between)


def _episode(
    first: Step, last: Step, before: str, line: str, warning: str, purpose: str
) -> Episode:
    return Episode(
        kind="fixed_failure",
        steps=(first.number, last.number),
        trigger=warning,
        trigger_key=make_key(purpose, "warning", error_signature([warning])),
        remedy_key=make_key(purpose, line),
        command=before,
        error=warning,
        remedy=line,
    )
