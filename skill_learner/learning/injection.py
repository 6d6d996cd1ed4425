"""Finds text that tries to steer a later reader: hidden characters, orders, traps, broken fences.

Pure rules over one text. A finding is a reason to hold a skill back, no proof of ill will: an
installer's documented `curl … | sh` is found too.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from skill_learner.learning.injection_rules import RULES
from skill_learner.learning.rule_ways import folded


@dataclass(frozen=True)
class InjectionFinding:
    """kind: short name ("hidden characters"). reason: what is wrong with text[start:end]."""

    kind: str
    start: int
    end: int
    reason: str


def findings(text: str, own_prompts: Sequence[str] = ()) -> list[InjectionFinding]:
    """Everything suspicious in `text`, by position.

    own_prompts: texts of our own prompts; a passage copied from one is found.
    """
    found = [*_hidden(text), *_patterns(text), *_open_fences(text)]
    for prompt in own_prompts:
        found += _copied(text, prompt)
    return sorted(found, key=lambda finding: (finding.start, finding.end, finding.kind))


# -- hidden characters ---------------------------------------------------------------------------

_HIDDEN = re.compile(
    r"(?P<zero>[\u200b\u200c\u200d\u2060-\u2064\ufeff\u180e]+)"
    r"|(?P<bidi>[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]+)"
    r"|(?P<tag>[\U000e0000-\U000e007f]+)"
    r"|(?P<selector>[\ufe00-\ufe0f\U000e0100-\U000e01ef]{2,})"
    r"|(?P<filler>[\u115f\u1160\u3164\uffa0]+)"
    r"|(?P<control>[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f]+)"
    r"|(?P<soft>\u00ad{2,})"
)
_MAYBE_HIDDEN = re.compile(
    r"[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f"
    r"\u202a-\u202e\u2060-\u2064\u2066-\u2069\u3164\ufe00-\ufe0f\ufeff\uffa0"
    r"\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
"""Each of their letters. Most texts have none, and a set is searched for in a tenth of the time."""
_PLAIN = b"\t\n\r" + bytes(range(0x20, 0x7F))
"""Nothing is hidden in plain ASCII lines; to drop these is quicker than to search for others."""
_HIDDEN_REASONS = {
    "zero": "zero-width characters",
    "bidi": "characters that turn the direction of text",
    "tag": "tag characters, which no screen shows",
    "selector": "a run of variation selectors",
    "filler": "blank filler letters",
    "control": "control characters",
    "soft": "soft hyphens in a row",
}
# Compiled by `re` when a text first needs them, for few do.
_RIGHT_TO_LEFT = r"[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefe]"
_JOINING_SCRIPTS = r"[\u0600-\u08ff\u0900-\u0dff\u0e80-\u0fff\u1780-\u17ff\u1800-\u18af]"
_EMOJI = r"[#*0-9\u00a9\u00ae\u203c-\u3299\ufe0f\u20e3\U0001f000-\U0001faff]"
_BLACK_FLAG = "\U0001f3f4"


def _hidden(text: str) -> Iterator[InjectionFinding]:
    if text.isascii() and not text.encode("ascii").translate(None, _PLAIN):
        return
    first = _MAYBE_HIDDEN.search(text)
    if first is None:
        return
    for match in _HIDDEN.finditer(text, first.start()):
        kind = match.lastgroup or ""
        if not _is_legitimate(kind, text, match):
            reason = f"holds {_HIDDEN_REASONS[kind]} that a reader does not see"
            yield InjectionFinding("hidden characters", *match.span(), reason)


def _is_legitimate(kind: str, text: str, match: re.Match[str]) -> bool:
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if kind == "zero":
        if match.group() == "\ufeff":
            return match.start() == 0
        if match.group() in ("\u200c", "\u200d"):
            pair = _EMOJI if match.group() == "\u200d" else _JOINING_SCRIPTS
            joined = bool(re.match(pair, before) and re.match(pair, after))
            return joined or bool(re.match(_JOINING_SCRIPTS, before))
        return False
    if kind == "bidi" and len(match.group()) == 1 and match.group() in "\u200e\u200f\u061c":
        near = text[max(0, match.start() - 20) : match.end() + 20]
        return re.search(_RIGHT_TO_LEFT, near) is not None
    if kind == "tag":  # the flags of England, Scotland, Wales are spelled with them
        spelled = match.group().endswith("\U000e007f") and len(match.group()) <= 7
        return before == _BLACK_FLAG and spelled
    return False


# -- orders, traps, markers ----------------------------------------------------------------------


def _patterns(text: str) -> Iterator[InjectionFinding]:
    flat = folded(text)
    for rule, pattern in RULES.to_search(flat):
        for match in pattern.finditer(text):
            yield InjectionFinding(rule.kind, *match.span(), rule.reason)


# -- fences --------------------------------------------------------------------------------------

_FENCE = re.compile(
    r"\n[ ]{0,3}(?:[-*+]|\d{1,3}[.)])?[ \t]{0,8}(?P<mark>`{3,}|~{3,})(?P<info>[^\n]*)"
)
"""Of a line with the end of the one before, for `re` looks for a first letter in no time."""


def _open_fences(text: str) -> Iterator[InjectionFinding]:
    """A code fence or an HTML comment that is opened and never closed swallows what follows."""
    opened: re.Match[str] | None = None
    for fence in _FENCE.finditer("\n" + text):
        if opened is None:
            if "`" not in fence["info"]:
                opened = fence
        elif (
            fence["mark"][0] == opened["mark"][0]
            and len(fence["mark"]) >= len(opened["mark"])
            and not fence["info"].strip()
        ):
            opened = None
    if opened is not None:
        yield InjectionFinding(
            "open fence", opened.start(), opened.end() - 1, "opens a code block and never closes it"
        )
    comment = text.rfind("<!--")
    if comment < 0 or "-->" in text[comment:] or opened is not None:
        return
    if text.count("`", 0, comment) % 2 == 0:  # not within a code span
        yield InjectionFinding(
            "open fence", comment, comment + 4, "opens a comment and never closes it"
        )


# -- our own prompts -----------------------------------------------------------------------------

_WORD = re.compile(r"\w+")
_COPIED_WORDS = 12


def _copied(text: str, prompt: str) -> Iterator[InjectionFinding]:
    words = [word.lower() for word in _WORD.findall(prompt)]
    passages = {tuple(words[i : i + _COPIED_WORDS]) for i in range(len(words) - _COPIED_WORDS + 1)}
    mine = list(_WORD.finditer(text))
    plain = [match.group().lower() for match in mine]
    position = 0
    while position <= len(plain) - _COPIED_WORDS:
        if tuple(plain[position : position + _COPIED_WORDS]) in passages:
            last = position + _COPIED_WORDS - 1
            yield InjectionFinding(
                "our own prompt",
                mine[position].start(),
                mine[last].end(),
                "is copied from skill-learner's own prompt",
            )
            position += _COPIED_WORDS
        else:
            position += 1
