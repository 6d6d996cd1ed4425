"""Sentences of a skill's prose: what they state beyond their code, and whether a session shows it.

Code spans are judged letter by letter elsewhere; here go causes, guesses, figures and settings that
were never made. A cause counts as shown when one single result, or the human, holds all its terms.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from skill_learner.learning.proof import ProofTexts
from skill_learner.learning.prose_words import CAUSE, EFFECT, GUESS, NEGATED, ROOT_CAUSE, UNVERIFIED
from skill_learner.learning.spans import normalise

_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_END = re.compile(r"(?<=[.!?;。！？；])(?=\s|$)|(?<=[。！？；])")
_ABBREVIATION = re.compile(r"(?:\b(?:e\.g|i\.e|etc|vs|cf|approx|z\.B|d\.h|p\.ex)|^\s*\d{1,2})\.$")
_WORD = re.compile(r"[^\W\d_]{3,}")
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
_FIGURE = re.compile(
    r"(?<![\w.$-])(?P<about>~|about |around |circa |etwa |env\. )?(?P<value>\d+(?:[.,]\d+)?)"
    r"(?P<unit>\s?(?:ms|µs|us|ns|s|sec|seconds?|minutes?|min|m|h|hours?|KB|kB|MB|GB|KiB|MiB|GiB"
    r"|bytes?|%|x))?(?![\w.-]*\w)"
)
_MEASURED = frozenset("ms µs us ns s sec second seconds minute minutes min KB kB MB GB % x".split())
_SETTING = re.compile(
    r"^\s*(?:[-*+]|\d+[.)])?\s*(?:\*\*)?(?:set|raise|increase|lower|reduce|decrease|bump|configure"
    r"|setze?|erhöhe|definir|définir|mettre|poner|ajustar|aumentar|impostare)\b",
    re.IGNORECASE,
)
_EVERYDAY = frozenset(
    "the and that this with from for when then than into onto over under after before while "
    "where which what who why how there here have has had been being was were are is will "
    "would can could should may might must does did done not only also just very more most less "
    "least some any all each every other another such same first last next new old one two three "
    "use used using run runs running set sets setting make makes made take takes took get gets got "
    "see seen say says because due cause causes caused likely probably issue problem reason "
    "result results your you its their they them these those still already about through during "
    "many".split()
)
_ORDER = re.compile(
    r"^\s*(?:then |first |always |never |don't |do not )?(?:run|use|check|write|set|look|add|pass"
    r"|call|verify|keep|avoid|read|build|test|count|compare|restore|replace|install|start|stop)\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\s(?:because|due to|since|as|weil|wegen|parce que|car|porque|perché|omdat|ponieważ)\s"
    r"|потому что|因为",
    re.IGNORECASE,
)
_BARE_NAME = re.compile(
    r"(?<![\w/.-])(?:--[a-z][\w-]+|[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+|[a-z]\w*(?:\.[a-z]\w*){1,4}"
    r"|[a-z]\w*(?:-\w+)+|[a-z]+[A-Z]\w*)(?![\w/-])"
)
_ENOUGH = 0.75
_MOSTLY = 0.5
_FEWEST_TERMS = 2
_PASSAGE = 800


def split_sentences(text: str) -> list[str]:
    """The sentences of one line, code spans kept whole. Joined they give the line again."""
    hidden = _CODE.sub(lambda match: "\x00" * len(match.group()), text)
    cuts = [0]
    for match in _END.finditer(hidden):
        if not _ABBREVIATION.search(hidden[cuts[-1] : match.start()]):
            cuts.append(match.start())
    cuts.append(len(text))
    return [text[a:b] for a, b in itertools.pairwise(cuts) if text[a:b].strip()]


def bare_names(sentence: str) -> list[str]:
    """Options, variables, keys and compound names that stand in prose without backticks."""
    return _BARE_NAME.findall(_CODE.sub(" ", sentence))


def states_cause(sentence: str) -> bool:
    """True for a sentence that says why. (That something is not the cause is no cause.)"""
    plain = _CODE.sub(" X ", sentence)
    found = CAUSE.search(plain)
    if not found:
        return False
    return not (ROOT_CAUSE.search(found.group()) and NEGATED.search(plain[: found.start()]))


def order_without_reason(sentence: str) -> str:
    """The order in "run X because Y" without its reason; "" when the sentence is no such order."""
    found = _REASON.search(sentence)
    if not found or not _ORDER.match(sentence):
        return ""
    head = sentence[: found.start()].rstrip(" ,;:-—")
    return f"{head}." if "`" in head and head.count("`") % 2 == 0 else ""


def is_guess(sentence: str) -> bool:
    return bool(GUESS.search(_CODE.sub(" X ", sentence)))


def says_unverified(sentence: str) -> bool:
    return bool(UNVERIFIED.search(sentence))


def states_effect(sentence: str) -> bool:
    return bool(EFFECT.search(_CODE.sub(" X ", sentence)))


def terms(sentence: str) -> frozenset[str]:
    """The telling words of a sentence, cut to their stems, and the words of its code."""
    return _terms(normalise(sentence.replace("`", " ")).lower())


@lru_cache(maxsize=2048)
def _terms(text: str) -> frozenset[str]:
    words = {word for word in _WORD.findall(text) if word not in _EVERYDAY}
    return frozenset({_stem(word) for word in words} | set(_WIDE.findall(text)))


def _stem(word: str) -> str:
    for tail in ("ations", "ation", "ings", "ing", "ions", "ion", "ies", "ied", "ed", "es", "s"):
        if word.endswith(tail) and len(word) - len(tail) >= 4:
            return word[: -len(tail)]
    return word


def coverage(sentence: str, text: str) -> float:
    """Share of a sentence's terms that a normalised text holds."""
    wanted = terms(sentence)
    if not wanted:
        return 0.0
    words = _words_of(text)
    return sum(term in words for term in wanted) / len(wanted)


@lru_cache(maxsize=4096)
def _words_of(text: str) -> frozenset[str]:
    lower = text.lower()
    return frozenset({_stem(word) for word in _WORD.findall(lower)} | set(_WIDE.findall(lower)))


def best_coverage(sentence: str, texts: Iterable[str]) -> float:
    return max((coverage(sentence, text) for text in texts), default=0.0)


def is_isolated(sentence: str, texts: ProofTexts, cited: Iterable[int]) -> bool:
    """True when one result, or one message of the human, holds what the cause joins: all its code
    (two spans at least), or most of its words."""
    spans = [normalise(match.group(2)) for match in _CODE.finditer(sentence)]
    shown = {n: text for n, text in texts.steps.items() if n not in texts.looks}
    root = ROOT_CAUSE.search(_CODE.sub(" ", sentence))
    if (
        not root
        and len(spans) >= _FEWEST_TERMS
        and any(all(span in text for span in spans) for text in shown.values())
    ):
        return True
    if len(terms(sentence)) < _FEWEST_TERMS:
        return False
    prose_alone = _CODE.sub(" ", sentence)
    own = [shown[number] for number in cited if number in shown]
    likely = [text for text in own or shown.values() if coverage(sentence, text) >= _ENOUGH]
    return any(
        coverage(sentence, passage) >= _ENOUGH
        and (not terms(prose_alone) or coverage(prose_alone, passage) >= _ENOUGH)
        and (not root or ROOT_CAUSE.search(passage))
        for text in likely
        for passage in _passages(text)
    )


def _passages(text: str) -> Iterator[str]:
    """A long text in pieces that overlap: words that stand far apart say nothing together."""
    for start in range(0, max(1, len(text) - _PASSAGE // 2), _PASSAGE // 2):
        yield text[start : start + _PASSAGE]


def is_shown(sentence: str, texts: ProofTexts, cited: Iterable[int]) -> bool:
    """True when the cited steps together hold most terms of a sentence."""
    own = " ".join(texts.steps[number] for number in cited if number in texts.steps)
    return coverage(sentence, own) >= _MOSTLY


def is_only_claimed(sentence: str, texts: ProofTexts) -> bool:
    """True when the agent's prose holds a sentence far better than any single result does."""
    claimed = best_coverage(sentence, _claimed_sentences(texts))
    shown = [text for number, text in texts.steps.items() if number not in texts.looks]
    return claimed >= _MOSTLY and claimed > best_coverage(sentence, shown) + 0.1


def is_copied_claim(sentence: str, texts: ProofTexts) -> bool:
    """True when a sentence with a figure says what the agent said, nearly word by word, and no
    result does."""
    figure = any(match.group("unit") for match in _FIGURE.finditer(sentence))
    if not figure or len(terms(sentence)) < _FEWEST_TERMS + 1:
        return False
    claimed = best_coverage(sentence, _claimed_sentences(texts))
    return claimed >= _ENOUGH and best_coverage(sentence, texts.steps.values()) <= claimed - 0.3


def _claimed_sentences(texts: ProofTexts) -> Iterable[str]:
    for claim in texts.claims:
        parts = split_sentences(claim)
        for index, part in enumerate(parts):
            yield part
            yield " ".join(parts[index : index + 2])


def unknown_figure(sentence: str, texts: ProofTexts) -> str:
    """The first measured figure of a sentence (with a unit, or decimal) that no text of the session
    holds, "" when all are known. About means: some figure of the session rounds to it."""
    bare = _CODE.sub(lambda match: " " * len(match.group()), sentence)
    for match in _FIGURE.finditer(bare):
        value, unit = match.group("value").replace(",", "."), (match.group("unit") or "").strip()
        if unit not in _MEASURED and "." not in value:
            continue
        if not _is_known(value, unit, bool(match.group("about")), texts):
            return match.group().strip()
    return ""


def _is_known(value: str, unit: str, about: bool, texts: ProofTexts) -> bool:
    text = texts.strong + "\n" + "\n".join(edit.new for edit in texts.edits)
    if re.search(rf"(?<![\d.]){re.escape(value)}(?!\d)", text):
        return True
    number = float(value)
    scales = {"ms": (1.0, 1000.0), "s": (1.0, 0.001, 60.0)}.get(unit, (1.0,))
    digits = len(value.replace(".", "").strip("0") or "0")
    tolerance = 0.06 if about or digits <= 1 else 0.02
    for found in set(re.findall(r"(?<![\d.])\d+(?:\.\d+)?", text)):
        for scale in scales:
            if number and abs(float(found) * scale - number) <= tolerance * number:
                return True
    return False


def never_made(sentence: str, texts: ProofTexts) -> str:
    """For "set X …": the X that the session neither wrote, passed to a command, nor was told by the
    human; "" when it was made, or the sentence is no such step."""
    if not _SETTING.search(sentence):
        return ""
    spans = [match.group(2).strip() for match in _CODE.finditer(sentence)]
    if not spans:
        return ""
    name = re.split(r"[\s:=({]", spans[0])[0].strip("\"'.")
    if len(name) < 3:
        return ""
    plain = normalise(name)
    made = any(plain in edit.new for edit in texts.edits) or plain in texts.acts
    return "" if made else name
