"""The same sequence of commands in several sessions."""

from __future__ import annotations

from collections.abc import Collection, Sequence

from skill_learner.learning.commands import normal_form, shell_steps, work_parts
from skill_learner.learning.signatures import make_key
from skill_learner.models import Episode, Session

_SHORTEST = 3


def _numbered_commands(session: Session) -> list[tuple[int, str, str]]:
    """Step number, normal form and line of each successful command; repeats in a row folded."""
    found: list[tuple[int, str, str]] = []
    for step, call, line in shell_steps(session):
        if call.status != "ok" or call.background:
            continue
        for part in work_parts(line):
            form = normal_form(part, session.project)
            if form and (not found or found[-1][1] != form):
                found.append((step.number, form, part.text))
    return found


def command_sequence(session: Session) -> tuple[str, ...]:
    """The session's successful commands in order, in normal form, for later comparison with
    other sessions. Looking around is left out."""
    return tuple(form for _, form, _ in _numbered_commands(session))


def find_repeated_commands(
    session: Session, earlier_sequences: Collection[Sequence[str]]
) -> tuple[Episode, ...]:
    """The longest run of at least three commands, two of them different, that an earlier session
    held in the same order without a gap."""
    if not earlier_sequences:
        return ()
    commands = _numbered_commands(session)
    forms = [form for _, form, _ in commands]
    start, length = 0, 0
    for earlier in earlier_sequences:
        begin, size = _longest_common_run(forms, list(earlier))
        if size > length:
            start, length = begin, size
    run = commands[start : start + length]
    if length < _SHORTEST or len({form for _, form, _ in run}) < _SHORTEST - 1:
        return ()
    lines = "\n".join(text for _, _, text in run)
    key = make_key("repeated", *(form for _, form, _ in run))
    return (
        Episode(
            kind="repeated_commands",
            steps=tuple(dict.fromkeys(number for number, _, _ in run)),
            trigger=run[-1][2],
            trigger_key=key,
            remedy_key=key,
            remedy=lines,
        ),
    )


def _longest_common_run(ours: list[str], theirs: list[str]) -> tuple[int, int]:
    """Start in `ours` and length of the longest common contiguous run."""
    best_end, best = 0, 0
    previous = [0] * (len(theirs) + 1)
    for i, form in enumerate(ours, 1):
        current = [0] * (len(theirs) + 1)
        for j, other in enumerate(theirs, 1):
            if form == other:
                current[j] = previous[j - 1] + 1
                if current[j] > best:
                    best_end, best = i, current[j]
        previous = current
    return best_end - best, best
