"""Which language a text is in, and whether it corrects, asks to remember, or asks how."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping

from skill_learner.learning.phrases import (
    ASKING,
    CORRECTION,
    POINTING,
    POINTING_WIDE,
    REMEMBER,
    STOP_WORDS,
)


def _compile(lists: Mapping[str, tuple[str, ...]]) -> re.Pattern[str]:
    return re.compile("|".join(p for phrases in lists.values() for p in phrases), re.IGNORECASE)


_CORRECTION = _compile(CORRECTION)
_REMEMBER = _compile(REMEMBER)
_ASKING = _compile(ASKING)
_POINTING = frozenset[str]().union(*POINTING.values(), *STOP_WORDS.values())
_POINTING_WIDE = re.compile(POINTING_WIDE)
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]+")
_FEWEST_CONTENT = 2

_FENCE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
_QUOTE_LINE = re.compile(r"^\s*>.*$", re.MULTILINE)
_QUOTED = re.compile(r"\"[^\"\n]{15,}\"|“[^”\n]{15,}”|«[^»\n]{15,}»|「[^」\n]{8,}」")
# a dot inside a file name, a version or an address ends nothing
_SENTENCE = re.compile(r"(?:[^.!?。！？\n]|[.!?](?=[A-Za-z0-9/_.!?&=%-]))+(?:[.!?。！？]+|\n|$)?")
_SCRIPTS = (
    ("ko", re.compile(r"[\uac00-\ud7af]")),
    ("ja", re.compile(r"[\u3040-\u30ff]")),
    ("zh", re.compile(r"[\u4e00-\u9fff]")),
    ("ru", re.compile(r"[\u0400-\u04ff]")),
)


def own_words(text: str) -> str:
    """A message without fenced blocks, quoted lines and long quotations: what the person says."""
    return _QUOTED.sub(" ", _QUOTE_LINE.sub("", _FENCE.sub("\n", text)))


def sentences(text: str) -> tuple[str, ...]:
    return tuple(s.strip() for s in _SENTENCE.findall(text) if s.strip())


def corrects(text: str) -> bool:
    """True when a phrase says in so many words that something is wrong or not wanted."""
    return bool(_CORRECTION.search(text.strip()))


def asks_to_remember(text: str) -> bool:
    """True when a phrase orders to remember, or sets a rule for the future."""
    return bool(_REMEMBER.search(text.strip()))


def says_what_to_remember(text: str) -> bool:
    """False for a bare "remember this": an order without words of its own on what it is about."""
    left = _REMEMBER.sub(" ", text)
    wide = sum(len(run) for run in _WIDE.findall(_POINTING_WIDE.sub(" ", left)))
    words = re.findall(r"\w+", _WIDE.sub(" ", left).lower())
    return wide // 2 + sum(word not in _POINTING for word in words) >= _FEWEST_CONTENT


def asks_how(text: str) -> bool:
    return bool(_ASKING.search(text))


def is_question(text: str) -> bool:
    return text.rstrip().endswith(("?", "？", "か。")) or text.lstrip().startswith("¿")


def detect_language(texts: Iterable[str]) -> str:
    """ISO code of the language that most of the text is in; "en" when it cannot be told."""
    sample = "\n".join(own_words(text)[:2_000] for text in texts)
    letters = max(1, sum(1 for char in sample if char.isalpha()))
    for code, script in _SCRIPTS:
        if len(script.findall(sample)) >= 0.15 * letters:
            return code
    words = re.findall(r"[^\W\d_]+", sample.lower())
    counts = {code: sum(word in stops for word in words) for code, stops in STOP_WORDS.items()}
    best = max(counts, key=lambda code: counts[code])
    return best if counts[best] > counts["en"] else "en"
