"""A skill's body, line by line and sentence by sentence, held against what a session proves."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from skill_learner.learning import prose
from skill_learner.learning.commands import parts_of
from skill_learner.learning.languages import detect_language
from skill_learner.learning.never_saved import never_saved, without_counts
from skill_learner.learning.proof import ProofTexts
from skill_learner.learning.prose_words import (
    DENIED,
    EXISTENCE,
    FAILURE,
    NEGATED,
    NOT_VERIFIED,
    UNVERIFIED,
)
from skill_learner.learning.session_names import SessionNames

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_TAIL = re.compile(r"\s*\d?>&\d|\s*\|\s*(?:tail|head|cat|tee|Select-Object)\b[^|;&]*$")
_HEADING = re.compile(r"^#{1,6}\s")
_OF_FAILURE = re.compile(r"^##\s.*(?:pitfall|when|trap|wann|fail|error)", re.IGNORECASE)
_MARKER = re.compile(r"^(\s*(?:[-*+]|\d+[.)])\s+)(.*)$", re.DOTALL)


@dataclass(frozen=True)
class BodyCheck:
    """A body without what the session does not prove.

    dropped: (text, what of it, why) of each line or sentence taken out. marked: sentences that now
    say "not verified". proved, total: code spans counted; untested: those that were written and
    never run. prose_dropped: whether a sentence was taken out for what it says, not for a span.
    """

    body: str
    dropped: tuple[tuple[str, str, str], ...]
    marked: tuple[str, ...]
    proved: int
    total: int
    untested: int = 0


@dataclass(frozen=True)
class Ground:
    """What a body is held against: the session's texts and names, and the steps that are cited."""

    texts: ProofTexts
    names: SessionNames = field(default_factory=SessionNames)
    cited: frozenset[int] = frozenset()


@dataclass
class _State:
    kept: list[str] = field(default_factory=list)
    dropped: list[tuple[str, str, str]] = field(default_factory=list)
    marked: list[str] = field(default_factory=list)
    proved: int = 0
    total: int = 0
    untested: int = 0
    of_failure: bool = False


def check_body(body: str, ground: Ground, *, human: bool = False) -> BodyCheck:
    """Takes out every line with code that the session does not prove and every sentence that may
    not be saved or is the agent's word alone; marks causes that no result isolates. Sections marked
    as unverified keep what they say, except what is never saved. human: the human's own words are
    what is being saved, so sentences are not questioned."""
    state = _State()
    mark = NOT_VERIFIED[detect_language([body])]
    in_fence = unverified = False
    for line in body.splitlines():
        if _FENCE.match(line):
            in_fence = not in_fence
            state.kept.append(line)
        elif in_fence:
            _check_fenced(line, ground, state, unverified=unverified)
        elif _HEADING.match(line):
            unverified = bool(UNVERIFIED.search(line))
            state.of_failure = bool(_OF_FAILURE.match(line))
            state.kept.append(line)
        else:
            _check_line(line, ground, state, "" if unverified or human else mark, human)
    return BodyCheck(
        _tidy(state.kept), tuple(state.dropped), tuple(state.marked),
        state.proved, state.total, state.untested,
    )  # fmt: skip


def check_sentence(sentence: str, ground: Ground) -> str:
    """The reason to take a sentence out, "" when it may stay. Its code is not judged."""
    reason = never_saved(sentence, ground.names)
    if reason:
        return reason
    return _claim_fault(sentence, ground)


def _check_fenced(line: str, ground: Ground, state: _State, *, unverified: bool) -> None:
    span = line.strip()
    if not span:
        state.kept.append(line)
        return
    state.total += 1
    reason = never_saved(span, ground.names) or ("" if unverified else judge(span, ground.texts))
    if reason in {"untested", ""}:
        state.untested += reason == "untested"
        state.proved += not reason
        state.kept.append(line)
    else:
        state.dropped.append((span, span, reason))


def _check_line(line: str, ground: Ground, state: _State, mark: str, human: bool) -> None:
    """mark: what an unproved cause gets; "" in sections that are marked as a whole."""
    found = _MARKER.match(line)
    lead, text = (found.group(1), found.group(2)) if found else ("", line)
    if not text.strip():
        state.kept.append(line)
        return
    kept = [
        _checked(_without_replaced(whole, ground.texts), ground, state, mark, human)
        for whole in prose.split_sentences(text)
    ]
    if any(part.strip() for part in kept):
        state.kept.append(lead + "".join(kept).strip() if lead else "".join(kept).rstrip())


def _checked(sentence: str, ground: Ground, state: _State, mark: str, human: bool) -> str:
    """What may stay of a sentence: all of it, an order without its reason, or nothing."""
    fault = _span_fault(sentence, ground, state, strict=bool(mark) or human)
    if human and not fault:
        return sentence
    left = ""
    if not fault:
        reason = never_saved(sentence, ground.names)
        claim = _claim_fault(sentence, ground) if mark and not reason else ""
        if not reason and not claim:
            return _rewritten(sentence, ground, state, mark)
        order = prose.order_without_reason(sentence) if claim else ""
        left = order if order and not check_sentence(order, ground) else ""
        fault = (sentence.strip(), reason or claim)
    state.dropped.append((sentence.strip(), *fault))
    return left


def _span_fault(
    sentence: str, ground: Ground, state: _State, *, strict: bool
) -> tuple[str, str] | None:
    """The first span of a sentence that is not proved, with its standing. What was written and
    never run is left for the mark; a refused command may stand where failure is the subject."""
    worst: tuple[str, str] | None = None
    plain = _CODE.sub(" ", sentence)
    for span in code_spans(sentence):
        state.total += 1
        standing = judge(span, ground.texts)
        state.untested += standing == "untested"
        if standing == "only failed" and (state.of_failure or FAILURE.search(plain)):
            standing = ""
        if standing in {"absent", "superseded"} and DENIED.search(plain):
            standing = ""
        if standing == "superseded" and NEGATED.search(plain):
            standing = ""
        state.proved += not standing
        if standing and standing != "untested" and worst is None:
            worst = (span, standing)
    if strict and worst is None:
        worst = _bare_fault(sentence, ground.texts)
    return worst if strict else None


def _bare_fault(sentence: str, texts: ProofTexts) -> tuple[str, str] | None:
    """A name without backticks that was taken back, or an option or variable that nothing shows.
    (Compound words of every language look like names: that nothing shows them says nothing.)"""
    for name in prose.bare_names(sentence):
        standing = judge(name, texts)
        certain = name.startswith("--") or name.isupper()
        taken_back = standing == "superseded" and not NEGATED.search(sentence)
        if taken_back or (certain and standing == "absent"):
            return name, standing
    return None


def _without_replaced(sentence: str, texts: ProofTexts) -> str:
    """The sentence without asides that only name what the human took back."""
    for name in texts.replaced:
        sentence = re.sub(rf"\s*\([^()]*{re.escape(name)}[^()]*\)", "", sentence)
    return sentence


def _claim_fault(sentence: str, ground: Ground) -> str:
    """Why a sentence is no more than a claim: an unknown figure, a step never made, a guess, or a
    cause that the agent's prose alone knows."""
    if prose.says_unverified(sentence):
        return ""
    figure = prose.unknown_figure(sentence, ground.texts)
    if figure:
        return f"no result shows {figure}"
    if EXISTENCE.search(sentence) and "untested" in _standings(sentence, ground.texts):
        return "it was written and never run"
    setting = prose.never_made(sentence, ground.texts)
    return f"{setting} was never set" if setting else _cause_fault(sentence, ground)


def _cause_fault(sentence: str, ground: Ground) -> str:
    if "`" not in sentence and prose.is_copied_claim(sentence, ground.texts):
        return "the agent's words alone support it"
    if not prose.states_cause(sentence):
        return ""
    if prose.is_guess(sentence):
        return "a guess at a cause"
    if prose.is_isolated(sentence, ground.texts, ground.cited):
        return ""
    only_claimed = prose.is_only_claimed(sentence, ground.texts)
    return "a cause that the agent's words alone support" if only_claimed else ""


def _standings(sentence: str, texts: ProofTexts) -> set[str]:
    names = [name for name in prose.bare_names(sentence) if name.isupper()]
    return {judge(span, texts) for span in (*code_spans(sentence), *names)}


def _rewritten(sentence: str, ground: Ground, state: _State, mark: str) -> str:
    """The sentence without counts of the day, and with the mark where it says more than shown."""
    plain = without_counts(sentence)
    if not mark or prose.says_unverified(plain):
        return plain
    untested = "untested" in _standings(plain, ground.texts)
    cause = prose.states_cause(plain) and not prose.is_isolated(plain, ground.texts, ground.cited)
    effect = prose.states_effect(plain) and not prose.is_shown(plain, ground.texts, ground.cited)
    if not untested and not cause and not effect:
        return plain
    state.marked.append(plain.strip())
    bare = plain.rstrip()
    stop = bare[-1:] if bare[-1:] in ".;:!?。；" else ""
    return f"{bare[: len(bare) - len(stop)]} {mark}{stop}"


def code_spans(text: str) -> list[str]:
    """The inline code of a line or description."""
    return [match.group(2).strip() for match in _CODE.finditer(text) if match.group(2).strip()]


def unproved_spans(text: str, texts: ProofTexts) -> tuple[str, ...]:
    return tuple(span for span in code_spans(text) if judge(span, texts) not in {"", "only failed"})


def judge(span: str, texts: ProofTexts) -> str:
    """ "" when a span is proved, else its standing. A line of several commands is proved when each
    of them is."""
    standing = texts.standing(span)
    if standing == "proved":
        return ""
    bare = _TAIL.sub("", span)
    pieces = [part.text for part in parts_of(bare)]
    if bare and all(texts.standing(piece) == "proved" for piece in pieces or [bare]):
        return ""
    return standing


def _tidy(lines: Iterable[str]) -> str:
    """Without empty fences, headings that lost their text, and doubled blank lines."""
    text = re.sub(r"^(`{3,}|~{3,})[^\n`]*\n\s*\1\s*$\n?", "", "\n".join(lines), flags=re.MULTILINE)
    text = re.sub(r"^##[^\n]*\n(?:\s*\n)*(?=##|\Z)", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"
