"""Makes text of a session fit for a digest: one kind of line end, nothing hidden, nothing posing as
one of the digest's own lines."""

from __future__ import annotations

import re
from collections.abc import Callable
from itertools import groupby

_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")
_TERMINAL = re.compile(
    r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]{0,400}(?:\x07|\x1b\\)?|[@-Z\\-_])"
)
_HIDDEN = re.compile(
    r"[\x00-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064"
    r"\u2066-\u2069\ufeff\U000e0000-\U000e007f\U000e0100-\U000e01ef]"
)
_BLANK_LINES = re.compile(r"\n[ \t]*(?:\n[ \t]*){2,}")
_STEP_HEADER = re.compile(
    r"^(?P<before>[^\w\n]*?)[\[\uff3b\u3010]\s*(?P<number>\d{1,7})\s*[\]\uff3d\u3011]"
    r"(?=[^\w\n]*(?:HUMAN|PLAN|NOTICE|NOTE|ASSISTANT|SUMMARY|T\s*:))",
    re.MULTILINE | re.IGNORECASE,
)
_RESULT_HEADER = re.compile(
    r"^(?P<before>[^\S\n]*)(?:->|\u2192)"
    r"(?=[^\S\n]*(?:ok|error|rejected|interrupted|started in|no result))",
    re.MULTILINE | re.IGNORECASE,
)


def plain_text(text: str, *, verbatim: bool = False) -> str:
    """`text` with `\\n` alone as line end, without terminal codes and hidden characters; runs of
    equal or blank lines are shortened unless it is to stay verbatim."""
    if not text.isprintable():
        text = _LINE_ENDS.sub("\n", _TERMINAL.sub("", text))
        text = _HIDDEN.sub("", text)
    if verbatim:
        return text.strip("\n").rstrip()
    text = _BLANK_LINES.sub("\n\n", text.strip("\n").rstrip())
    return _without_equal_lines(text) if text.count("\n") > 8 else text


def _without_equal_lines(text: str) -> str:
    lines = text.split("\n")
    if len(set(lines)) == len(lines):
        return text
    told: list[str] = []
    for line, group in groupby(lines):
        count = sum(1 for _ in group)
        told += [line, f"…[this line {count - 1} more times]…"] if count > 3 else [line] * count
    return "\n".join(told)


def as_data(text: str) -> str:
    """`text` in which no line can be taken for a step or a result of the digest itself: such lines
    lose their brackets or arrow, and every line but the first is indented."""
    if "[" in text or "\uff3b" in text or "\u3010" in text:
        text = _STEP_HEADER.sub(r"\g<before>(\g<number>)", text)
    if "->" in text or "\u2192" in text:
        text = _RESULT_HEADER.sub(r"\g<before>=>", text)
    return text.replace("\n", "\n  ")


def relative_to(project: str) -> Callable[[str], str]:
    """A function that makes paths below `project` relative to it, and `project` itself a dot.

    Behind `\\\\?\\`, where Windows takes no relative path, `<project>` stands instead.
    """
    components = [part for part in re.split(r"[\\/]+", project) if part]
    if len(components) < 2:
        return lambda text: text
    start = "" if re.match(r"[A-Za-z]:", components[0]) else r"[\\/]"
    pattern = re.compile(
        rf"(?P<verbatim>[?.]\\{{1,2}})?(?<![\w.]){start}"
        + r"[\\/]{1,4}".join(re.escape(part) for part in components)
        + r"(?P<below>[\\/]{1,4}(?=[\w.@*{\[(]))?(?(below)|(?![\w.-]))"
    )
    tail = components[-1]

    def shorter(match: re.Match[str]) -> str:
        if match["verbatim"]:
            return f"{match['verbatim']}<project>{match['below'] or ''}"
        return "" if match["below"] else "."

    def shorten(text: str) -> str:
        if tail not in text:
            return text
        return pattern.sub(shorter, text)

    return shorten


def cut(text: str, ceiling: int) -> str:
    """`text`, or its head and tail around a note of how much is missing."""
    if len(text) <= ceiling + CUT_NOTE:
        return text
    head = ceiling * 11 // 20
    tail = ceiling - head
    missing = len(text) - ceiling
    return f"{text[:head]} …[{missing} chars cut]… {text[len(text) - tail :]}"


CUT_NOTE = 32
"""Most characters that the note itself takes."""
