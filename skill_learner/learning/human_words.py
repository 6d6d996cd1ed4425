"""Episodes that rest on the human's own words: corrections, refusals, orders to remember, and
how-to questions that a command answered."""

from __future__ import annotations

import re
from collections.abc import Sequence

from skill_learner.learning.commands import command_of, is_work, main_parts
from skill_learner.learning.languages import (
    asks_how,
    asks_to_remember,
    corrects,
    is_question,
    own_words,
    sentences,
)
from skill_learner.learning.results import clean_result, passed, shows_failure
from skill_learner.learning.signatures import make_key, words_signature
from skill_learner.models import Episode, Session, Step

_PASTE = re.compile(
    r"^(?:\S+@\S+[ :].*[%$#>] ?\S|\(?[\w.-]*\)? ?[$%❯➜] \S|PS [A-Z]:\\|> \S+@\d|Traceback"
    r"|\s+at \S+ \("
    r"|\S+\.\w+:\d+:\d+|npm ERR!|\s{4,}\S|\$ \S)",
    re.MULTILINE,
)
_PROMPT_LINE = re.compile(
    r"^(?:\S+@\S+[ :].*?[%$#] |[$%❯➜] |PS [A-Z]:\\[^>\n]*> )(?P<command>\S.*)$", re.M
)
_MACHINE_TEXT = re.compile(
    r"^\s*(?:The user wants to clarify|<|\[Request interrupted|/[\w:-]+\s*$)"
)
_FEWEST_WORDS = 3
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]")
_LONGEST_RULE = 600
_MOST_CALLS_TO_ANSWER = 3


def spoken(text: str) -> str:
    """The words of a message in front of what was pasted from a terminal or log."""
    words = own_words(text)
    pasted = _PASTE.search(words)
    return (words[: pasted.start()] if pasted else words).strip()


def pasted_command(text: str) -> str:
    """The first command line of a terminal excerpt inside a message, "" when there is none."""
    found = _PROMPT_LINE.search(text)
    return found.group("command").strip() if found else ""


def find_human_episodes(session: Session) -> tuple[Episode, ...]:
    """Corrections, refusals with words, orders to remember, and answered how-to questions."""
    found: list[Episode] = []
    for index, step in enumerate(session.steps):
        before = session.steps[:index]
        for episode in (
            _remember(step, before),
            _refusal(step),
            _correction(step, before),
            _shown_wrong(step, before),
            _answered(session, index),
        ):
            if episode is not None:
                found.append(episode)
    return tuple(found)


def _word_count(text: str) -> int:
    return len(re.findall(r"\w+", text)) + len(_WIDE.findall(text)) // 2


def _is_speech(text: str) -> bool:
    return not _MACHINE_TEXT.match(text) and _word_count(text) >= _FEWEST_WORDS


def _last(steps: Sequence[Step], kinds: frozenset[str]) -> Step | None:
    return next((step for step in reversed(steps) if step.kind in kinds), None)


_MODEL = frozenset({"assistant", "tool"})
_HUMAN = frozenset({"human", "human_shell", "plan"})


def _follows_work(before: Sequence[Step]) -> bool:
    """True when the agent acted since the human last spoke."""
    last_human = _last(before, _HUMAN)
    start = last_human.number if last_human else 0
    return any(step.kind == "tool" and step.number > start for step in before)


def rule_sentences(text: str) -> tuple[str, ...]:
    """The sentences of a message that order to remember something or set a rule."""
    return tuple(
        one for one in sentences(spoken(text)) if asks_to_remember(one) and not is_question(one)
    )


def _remember(step: Step, before: Sequence[Step]) -> Episode | None:
    if step.kind != "human" and not (step.call and step.call.status == "rejected"):
        return None
    text = spoken(step.text)
    if not _is_speech(text) or not rule_sentences(step.text) or _word_count(text) > _LONGEST_RULE:
        return None
    rules = [one for one in rule_sentences(step.text) if not _stands_in_results(one, before)]
    if not rules:
        return None
    quote = text if _word_count(text) <= 60 else _with_neighbours(text, rules)
    return _from_words("remember_request", step, quote, " ".join(rules))


def _stands_in_results(sentence: str, before: Sequence[Step]) -> bool:
    """True for words that a tool printed earlier: pasted, not the human's."""
    return any(step.call and sentence in (step.call.result or "") for step in before)


def _with_neighbours(text: str, rules: Sequence[str]) -> str:
    """The rules of a long message with the sentence before and after each."""
    parts = sentences(text)
    wanted: set[int] = set()
    for index, part in enumerate(parts):
        if part in rules:
            wanted |= {index - 1, index, index + 1}
    return " ".join(part for index, part in enumerate(parts) if index in wanted)


def _refusal(step: Step) -> Episode | None:
    if step.call is None or step.call.status != "rejected" or not _is_speech(step.text):
        return None
    text = spoken(step.text)
    if is_question(text) and not corrects(text):
        return None
    return _from_words("refusal", step, text, text, command_of(step.call))


def _correction(step: Step, before: Sequence[Step]) -> Episode | None:
    if step.kind != "human" or not _follows_work(before):
        return None
    text = spoken(step.text)
    if not _is_speech(text) or rule_sentences(step.text):
        return None
    denying = [one for one in sentences(text) if corrects(one)]
    if not denying or _answers_question(text, denying, before):
        return None
    if all(is_question(one) for one in denying) and not corrects(denying[0].rstrip("?")):
        return None
    return _from_words("correction", step, text, " ".join(denying), pasted_command(step.text))


def _answers_question(text: str, denying: Sequence[str], before: Sequence[Step]) -> bool:
    """True for "No, …" that merely answers what the agent asked."""
    last = _last(before, _MODEL)
    asked = last is not None and last.kind == "assistant" and last.text.rstrip().endswith("?")
    bare_no = re.match(r"(?i)(?:no|nope|nein|non|não|nee|nie|нет|hayır)[,.!;:]", text)
    return bool(asked and bare_no and len(denying) == 1 and not corrects(text[bare_no.end() :]))


def _shown_wrong(step: Step, before: Sequence[Step]) -> Episode | None:
    """A command the human ran after the agent had claimed to be done, and that failed."""
    if step.kind != "human_shell" or not _follows_work(before) or step.call is None:
        return None
    last = _last(before, _MODEL)
    if last is None or last.kind != "assistant" or not is_work(step.text):
        return None
    result = clean_result(step.call.result)
    if step.call.status != "failed" and not shows_failure(result):
        return None
    return _from_words("correction", step, step.text, step.text, step.text)


def _from_words(kind: str, step: Step, quote: str, essence: str, command: str = "") -> Episode:
    key = make_key(kind, words_signature(essence))
    return Episode(
        kind=kind,  # type: ignore[arg-type]  # one of the EpisodeKind literals above
        steps=(step.number,),
        trigger=essence,
        trigger_key=key,
        remedy_key=key,
        command=command,
        quote=quote,
    )


def _answered(session: Session, index: int) -> Episode | None:
    """A how-to question whose turn held few calls, the last of them a command that worked."""
    question = session.steps[index]
    if question.kind != "human" or not asks_how(question.text) or _word_count(question.text) < 6:
        return None
    calls = []
    for step in session.steps[index + 1 :]:
        if step.kind in _HUMAN:
            break
        if step.kind == "tool":
            calls.append(step)
    if not calls or len(calls) > _MOST_CALLS_TO_ANSWER or calls[-1].call is None:
        return None
    last = calls[-1]
    line = command_of(last.call)
    if not line or last.call is None or not passed(last.call, line) or not is_work(line):
        return None
    program = main_parts(line)[0].program
    return Episode(
        kind="answered",
        steps=(question.number, last.number),
        trigger=spoken(question.text),
        trigger_key=make_key("answered", words_signature(question.text)),
        remedy_key=make_key(program, words_signature(line)),
        remedy=line,
        quote=spoken(question.text),
    )
