"""Texts made plain, and spans of code as patterns to look for in them."""

from __future__ import annotations

import re

_LINE_NUMBER = re.compile(r"^\s*\d+(?:→|\t)", re.MULTILINE)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "`": "'", "–": "-",
                         "—": "-", "\\": "/", "\u00a0": " "})  # fmt: skip
_SPACE = re.compile(r"\s+")
_ELSEWHERE = re.compile(r"\bgit -C \S+ ")
WILD = re.compile(
    r"<[^<>\n]{1,60}>|\[[a-z][a-z -]{1,20}\]|…|\.\.\."
    r"|\b(?:NAME|VAR|FILE|KEY|VALUE|COMMAND|cmd|XXX?|YOUR[-_A-Z]+)\b"
)
"""Placeholders: they stand for anything short."""


_ESCAPES = re.compile(r"(?:\\(?:[rnt0]|u[0-9a-fA-FX]{4}|uXXXX))+")


def normalise(text: str) -> str:
    """White space folded, line numbers of file views dropped, quotes, dashes and separators made
    plain."""
    plain = _LINE_NUMBER.sub("", text).translate(_QUOTES)
    folded = _SPACE.sub(" ", re.sub(r"/+", "/", plain)).strip()
    return _ELSEWHERE.sub("git ", folded)


def span_pattern(span: str) -> re.Pattern[str] | None:
    """A search for a span, placeholders and ellipses standing for anything short; None when
    nothing is left to be proved."""
    pieces = [
        normalise(piece) for piece in WILD.split(_ELSEWHERE.sub("git ", span).replace("()", "("))
    ]
    if _ESCAPES.fullmatch(span) or not any(re.search(r"\w", piece) for piece in pieces):
        return None
    return re.compile(r".{0,400}?".join(re.escape(piece) for piece in pieces if piece))
