"""Notes on a command that failed and later passed."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from skill_learner.learning.commands import command_of, goal, parts_of, work_parts
from skill_learner.learning.results import failed
from skill_learner.learning.same_check import likeness
from skill_learner.learning.signatures import error_lines, is_lint_finding, message_of
from skill_learner.models import CreateSkill, Episode, Session, Step
from skill_learner.reviewers.note_names import slug, telling_clause
from skill_learner.reviewers.note_texts import text
from skill_learner.reviewers.notes import Note
from skill_learner.reviewers.scrubbing import bare_command, in_code, shorten

_LONGEST_DESCRIPTION = 400
_LONGEST_COMMAND = 300
_MOST_FILES = 5
_MOST_LINES = 12
_LOOKED_UP = re.compile(r"^(?:go doc|man|cargo doc|pydoc|npm view|pip show|ri)\b|--help\b")
_ASSERTION = re.compile(
    r"^(?:E\s+)?(?:AssertionError\b|assert\b)|^(?:Expected|Received|expected .* (?:to|but)"
    r"|--- FAIL)"
    r"|\bassert(?:ion)? .*failed|expect\(",
    re.IGNORECASE,
)


def is_worth_a_note(session: Session, episode: Episode) -> bool:
    """False for the ordinary run of work: linter findings that explain themselves, and a red test
    that one edit made green."""
    failures = _failures(session, episode)
    lines = episode.error.splitlines()
    if not failures or is_lint_finding(lines):
        return False
    if len(work_parts(episode.remedy)) == 0 or len(bare_command(episode.remedy)) > _LONGEST_COMMAND:
        return False
    ordinary = all(_ASSERTION.search(message_of(line)) for line in lines)
    return not (ordinary and len(failures) == 1)


def failure_note(
    session: Session, episode: Episode, language: str, scrub: Callable[[str], str]
) -> CreateSkill:
    """The note: symptom with the exact error, what was changed, what passed."""
    failures = _failures(session, episode)
    passing = episode.steps[-1]
    command = in_code(scrub(bare_command(episode.command)))
    remedy = in_code(scrub(bare_command(episode.remedy)))
    note = Note()
    note.heading(text(language, "when"))
    _write_failures(note, failures, command, language, scrub)
    note.heading(text(language, "worked"))
    _write_changes(note, session, episode, language, scrub)
    note.sentence(text(language, "by_rule"), ())
    note.heading(text(language, "check"))
    note.sentence(text(language, "passed", command=remedy), (passing,))
    error = scrub(episode.trigger)
    purpose = goal(work_parts(episode.command)[-1])
    description = text(language, "use_failed", command=shorten(command, 120), error=in_code(error))
    return CreateSkill(
        name=slug(purpose, telling_clause(error)),
        description=shorten(_plain(description), _LONGEST_DESCRIPTION),
        body=note.body(),
        evidence=tuple(note.claims),
        confidence=0.7 if len(failures) > 1 else 0.6,
        trigger_key=episode.trigger_key,
        remedy_key=episode.remedy_key,
    )


def _plain(description: str) -> str:
    """Without angle brackets, which a description must not hold."""
    return description.replace("<", "[").replace(">", "]")


def _failures(session: Session, episode: Episode) -> list[Step]:
    return [
        step
        for step in _cited(session, episode.steps[:-1])
        if step.call is not None
        and failed(step.call)
        and likeness(command_of(step.call), episode.remedy, session.project)
    ]


def _cited(session: Session, numbers: Sequence[int]) -> list[Step]:
    wanted = set(numbers)
    return [step for step in session.steps if step.number in wanted]


def _write_failures(
    note: Note, failures: list[Step], command: str, language: str, scrub: Callable[[str], str]
) -> None:
    said: set[str] = set()
    for step in failures:
        assert step.call is not None
        errors = "\n".join(scrub(line) for line in error_lines(step.call.result))
        if not errors or message_of(errors.splitlines()[0]) in said:
            continue
        own = in_code(scrub(bare_command(command_of(step.call)))) or command
        key = "failed" if not said else "failed_again"
        said.add(message_of(errors.splitlines()[0]))
        note.sentence(text(language, key, command=own), (step.number,))
        note.block(errors, (step.number,))


def _write_changes(
    note: Note, session: Session, episode: Episode, language: str, scrub: Callable[[str], str]
) -> None:
    failures = {step.number for step in _failures(session, episode)}
    changes = [step for step in _cited(session, episode.steps[:-1]) if step.number not in failures]
    for step in _looked_up(session, episode):
        command = in_code(scrub(bare_command(command_of(step.call))))
        note.sentence(text(language, "looked", command=command), (step.number,))
    for step in changes:
        line = command_of(step.call)
        if line and len(line) <= _LONGEST_COMMAND:
            command = in_code(scrub(bare_command(line)))
            note.sentence(text(language, "ran", command=command), (step.number,))
    edits = [step for step in changes if not command_of(step.call)]
    if episode.changed_files and edits:
        names = [f"`{in_code(scrub(name))}`" for name in episode.changed_files[:_MOST_FILES]]
        more = ", …" if len(episode.changed_files) > _MOST_FILES else ""
        numbers = tuple(step.number for step in edits)
        note.sentence(text(language, "changed", files=", ".join(names) + more), numbers)
        _write_lines(note, edits, language, scrub)
    if not changes:
        remedy = in_code(scrub(bare_command(episode.remedy)))
        note.sentence(text(language, "passed", command=remedy), (episode.steps[-1],))


def _looked_up(session: Session, episode: Episode) -> list[Step]:
    """Documentation commands that were read between the first failure and the pass."""
    first, last = episode.steps[0], episode.steps[-1]
    return [
        step
        for step in session.steps
        if first < step.number < last
        and step.call is not None
        and step.call.status == "ok"
        and any(_LOOKED_UP.search(part.text) for part in parts_of(command_of(step.call)))
    ][:3]


def _write_lines(note: Note, edits: list[Step], language: str, scrub: Callable[[str], str]) -> None:
    """The lines that the edits added and that stood until the check passed, when they are few."""
    added: list[str] = []
    for step in edits:
        assert step.call is not None
        old, new = _edit_texts(step)
        gone = set(old.splitlines())
        added = [line for line in added if line not in gone or line in new.splitlines()]
        added.extend(line for line in new.splitlines() if line.strip() and line not in gone)
    added = list(dict.fromkeys(added))
    if 0 < len(added) <= _MOST_LINES and all(len(line) <= 200 for line in added):
        numbers = tuple(step.number for step in edits)
        note.sentence(text(language, "lines"), numbers)
        note.block("\n".join(scrub(line) for line in added), numbers)


def _edit_texts(step: Step) -> tuple[str, str]:
    assert step.call is not None
    data = step.call.input
    pairs = data.get("edits") if isinstance(data.get("edits"), list) else [data]
    old, new = [], []
    for pair in pairs or []:
        if isinstance(pair, dict) or hasattr(pair, "get"):
            old.append(str(pair.get("old_string") or ""))
            new.append(str(pair.get("new_string") or pair.get("content") or ""))
    return "\n".join(old), "\n".join(new)
