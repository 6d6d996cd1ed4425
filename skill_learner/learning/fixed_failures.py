"""Commands that failed and later passed, with something changed in between."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from skill_learner.learning.command_effects import changes_something
from skill_learner.learning.commands import (
    command_of,
    goal,
    is_work,
    normal_form,
    normalise_line,
    shell_steps,
    work_parts,
)
from skill_learner.learning.results import clean_result, failed, is_environment, passed
from skill_learner.learning.same_check import differs_in_substance, likeness, matching_part
from skill_learner.learning.signatures import (
    error_lines,
    error_signature,
    make_key,
    message_of,
    score_line,
)
from skill_learner.learning.step_files import changed_in
from skill_learner.models import Episode, Session, Step

_MOST_FAILURES = 6
_MOST_CHANGES = 12


@dataclass(frozen=True)
class Attempt:
    """One failed run of a check."""

    step: int
    line: str
    errors: tuple[str, ...]
    signature: str


def find_fixed_failures(session: Session) -> tuple[Episode, ...]:
    """One episode for each check that failed (once or several times) and then passed after a
    change. Failures of the machine, passes that nothing shows, and flakes give none."""
    open_attempts: list[Attempt] = []
    episodes: list[Episode] = []
    for step, call, line in shell_steps(session):
        if failed(call):
            attempt = _attempt(step, line)
            if attempt is not None:
                open_attempts.append(attempt)
        elif open_attempts and is_work(line):
            closed = [one for one in open_attempts if likeness(one.line, line, session.project)]
            if not closed or not passed(call, line):
                continue
            open_attempts = [one for one in open_attempts if one not in closed]
            episode = _episode(session, closed, step, line)
            if episode is not None:
                episodes.append(episode)
    return tuple(episodes)


def _attempt(step: Step, line: str) -> Attempt | None:
    assert step.call is not None
    if not is_work(line):
        return None
    result = step.call.result or ""
    errors = error_lines(result)
    if not errors or is_environment("\n".join((result.split("\n", 1)[0], *errors))):
        return None
    return Attempt(step.number, line, errors, error_signature(errors))


def _episode(
    session: Session, failures: Sequence[Attempt], passing: Step, line: str
) -> Episode | None:
    assert passing.call is not None
    still_standing = {
        error_signature([one])
        for one in clean_result(passing.call.result).splitlines()
        if score_line(one)
    }
    failures = [one for one in failures if one.signature not in still_standing]
    if not failures:
        return None
    first, last = failures[0], failures[-1]
    changes = _changes(session, first.step, passing.number, last.line)
    other_form = differs_in_substance(last.line, line, session.project)
    after_last = [step for step in changes if step.number > last.step]
    if not after_last and not other_form:
        return None
    files = tuple(dict.fromkeys(name for step in changes for name in changed_in(session, step)))
    check = matching_part(last.line, line, session.project)
    purpose = goal(check) if check else goal(work_parts(line)[-1])
    commands = [normalise_line(command_of(step.call), session.project) for step in changes]
    return Episode(
        kind="fixed_failure",
        steps=_cited(failures, changes, passing),
        trigger=message_of(first.errors[0]),
        trigger_key=make_key(purpose, purpose, first.signature),
        remedy_key=make_key(
            purpose,
            normal_form(check, session.project) if check else "",
            *sorted(set(files)),
            *sorted({one for one in commands if one}),
        ),
        command=last.line,
        error="\n".join(first.errors),
        remedy=line,
        changed_files=files,
    )


def _changes(session: Session, first: int, end: int, check: str) -> list[Step]:
    """Steps between the first failure and the pass that may have changed something: edits, and
    successful commands that alter files or dependencies (not the check itself)."""
    found: list[Step] = []
    for step in session.steps:
        if not first < step.number < end or step.call is None or step.call.status != "ok":
            continue
        line = command_of(step.call)
        if line:
            altering = any(changes_something(part.text) for part in work_parts(line))
            if altering and not likeness(check, line, session.project):
                found.append(step)
        elif step.call.changed_files:
            found.append(step)
    return found


def _cited(failures: Sequence[Attempt], changes: Sequence[Step], passing: Step) -> tuple[int, ...]:
    numbers = {one.step for one in failures[:1]} | {
        one.step for one in failures[-_MOST_FAILURES + 1 :]
    }
    numbers |= {step.number for step in changes[-_MOST_CHANGES:]}
    return (*sorted(numbers), passing.number)
