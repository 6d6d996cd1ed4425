"""Notes that hold the human's words, and notes of commands repeated over sessions."""

from __future__ import annotations

import re
from collections.abc import Callable

from skill_learner.learning.commands import command_of, goal, work_parts
from skill_learner.learning.languages import is_question, says_what_to_remember
from skill_learner.learning.signatures import error_lines
from skill_learner.learning.step_files import changed_in
from skill_learner.models import CreateSkill, Episode, Session, Step
from skill_learner.reviewers.note_names import slug
from skill_learner.reviewers.note_texts import text
from skill_learner.reviewers.notes import Note
from skill_learner.reviewers.scrubbing import bare_command, in_code, shorten

_LONGEST_DESCRIPTION = 400
_LONGEST_QUOTE = 1_200
_NEGOTIATION_TOOLS = frozenset({"ExitPlanMode", "AskUserQuestion"})
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_FEWEST_WORDS = 5


def is_worth_keeping(session: Session, episode: Episode) -> bool:
    """False for talk about a plan that is not carried out yet, bare values, questions and orders to
    remember that only point at something: what the person wants of this one piece of work is no
    rule."""
    if episode.kind == "remember_request":
        return says_what_to_remember(episode.quote)
    step = _step(session, episode.steps[0])
    if step is None or (step.call is not None and step.call.name in _NEGOTIATION_TOOLS):
        return False
    words = len(re.findall(r"\w+", episode.quote)) + len(_WIDE.findall(episode.quote)) // 2
    if step.kind != "human_shell" and (
        words < _FEWEST_WORDS or len(episode.quote) > _LONGEST_QUOTE
    ):
        return False
    return not is_question(episode.quote)


def words_note(
    session: Session, episode: Episode, language: str, scrub: Callable[[str], str]
) -> CreateSkill | None:
    """The human's words letter by letter, with the command or file they speak of."""
    steps = episode.steps
    quote = scrub(episode.quote).strip()
    explicit = episode.kind == "remember_request"
    context = in_code(scrub(_context(session, episode)))
    if not explicit and not context:
        return None
    step = _step(session, steps[0])
    note = Note()
    note.heading(text(language, "when"))
    if explicit:
        description = text(language, "use_rule", quote=_one_line(scrub(episode.trigger)))
    else:
        description = text(language, "use_said", context=f"`{context}`", quote=_one_line(quote))
    note.lines.append(_description(description))
    note.heading(text(language, "rule" if explicit else "said"))
    if step is not None and step.kind != "human_shell":
        note.quotation(quote, steps)
    if episode.command and step is not None and step.call is None:
        note.sentence(text(language, "human_ran", command=context), steps)
    elif step is not None and step.kind == "human_shell":
        _write_shown(note, step, context, language, scrub)
    note.lines.append(text(language, "by_words"))
    head = () if explicit else (goal_of(episode.command) or context,)
    return CreateSkill(
        name=slug(*head, scrub(episode.trigger)),
        description=_description(description),
        body=note.body(),
        evidence=tuple(note.claims),
        confidence=0.9 if explicit else 0.5,
        trigger_key=episode.trigger_key,
        remedy_key=episode.remedy_key,
        explicit=explicit,
    )


def repeated_note(episode: Episode, language: str, scrub: Callable[[str], str]) -> CreateSkill:
    """The commands, in order, that several sessions ran in the same order."""
    commands = [in_code(scrub(bare_command(line))) for line in episode.remedy.splitlines()]
    joined = " → ".join(f"`{command}`" for command in commands)
    description = text(language, "use_repeated", command=shorten(joined, 300))
    note = Note()
    note.heading(text(language, "when"))
    note.lines.append(_description(description))
    note.heading(text(language, "worked"))
    for number, command in enumerate(commands, 1):
        note.sentence(f"{number}. `{command}`", episode.steps)
    note.lines.append(text(language, "by_rule"))
    return CreateSkill(
        name=slug("repeat", *(goal_of(command) for command in commands)),
        description=_description(description),
        body=note.body(),
        evidence=tuple(note.claims),
        confidence=0.6,
        trigger_key=episode.trigger_key,
        remedy_key=episode.remedy_key,
    )


def goal_of(line: str) -> str:
    parts = work_parts(line)
    return goal(parts[-1]) if parts else ""


def _write_shown(
    note: Note, step: Step, command: str, language: str, scrub: Callable[[str], str]
) -> None:
    note.sentence(text(language, "human_ran", command=command), (step.number,))
    errors = "\n".join(scrub(line) for line in error_lines(step.call.result if step.call else ""))
    if errors:
        note.block(errors, (step.number,))


def _context(session: Session, episode: Episode) -> str:
    """What the words are about: a command they name, the refused command, else the last file
    changed or the last command run before them."""
    if episode.command:
        return shorten(bare_command(episode.command), 160)
    step = _step(session, episode.steps[0])
    if step is not None and step.call is not None:
        refused = str(step.call.input.get("file_path") or "") or step.call.name
        return shorten(refused, 160)
    for earlier in reversed(session.steps[: episode.steps[0] - 1]):
        files = changed_in(session, earlier)
        if files:
            return files[-1]
        line = command_of(earlier.call)
        if line and work_parts(line):
            return shorten(bare_command(line), 160)
    return ""


def _step(session: Session, number: int) -> Step | None:
    return next((step for step in session.steps if step.number == number), None)


def _one_line(quote: str) -> str:
    return shorten(quote, 260)


def _description(sentence: str) -> str:
    return shorten(sentence.replace("<", "[").replace(">", "]"), _LONGEST_DESCRIPTION)
