"""Front matter as text, before any YAML: where it begins and ends, its top-level keys, its repair.

Real files carry byte order marks, CRLF, dashes inside values, colons without quotes and merge
conflicts. Everything here works on lines, so that each part of it keeps its line number.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import NamedTuple

from skill_learner.errors import SkillFormatError

_OPENING = re.compile(r"\ufeff?(?:[ \t]*\r?\n)*---[ \t]*(?:\r?\n|\Z)")
_CLOSING = re.compile(r"^---[ \t]*\r?$\n?", re.MULTILINE)
_YAML_END = re.compile(r"^\.\.\.[ \t]*\r?$\n?", re.MULTILINE)
_LATE_OPENING = re.compile(r"^---[ \t]*\r?\n(?:name|description)[ \t]*:", re.MULTILINE)
_CONFLICT = re.compile(r"^(?:<{7} |={7}\r?$|>{7} )", re.MULTILINE)
_CONFLICT_MARKS = ("<" * 7, "=" * 7, ">" * 7)
_TOP_LEVEL_KEY = re.compile(r"""^(["']?)(\w[\w.-]*)\1[ \t]*:(?=[ \t\r]|$)""")


class SplitText(NamedTuple):
    """front is None where a file has no front matter; first_line is the line that it begins at."""

    front: str | None
    body: str
    first_line: int = 1
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class KeyBlock:
    """One top-level key with the lines that belong to it."""

    key: str
    value: str
    line: int
    source: str


def split_text(text: str, path: str) -> SplitText:
    """Cut a decoded file into front matter and body; raises SkillFormatError when the front matter
    is never closed or holds merge conflict markers."""
    plain = _split_plainly(text)
    if plain is not None:
        return plain
    opening = _OPENING.match(text)
    if opening is None:
        return SplitText(None, text.removeprefix("\ufeff"), 1, _why_none(text))
    warnings: tuple[str, ...] = ()
    closing = _CLOSING.search(text, opening.end())
    if closing is None:
        closing = _YAML_END.search(text, opening.end())
        warnings = ("front matter is closed by `...` instead of `---`",)
    first_line = text.count("\n", 0, opening.end()) + 1
    if closing is None:
        raise SkillFormatError(
            f"{path}:{first_line - 1}: the front matter opened by `---` is never closed",
            "Add a line `---` after the last front matter key.",
        )
    front = text[opening.end() : closing.start()]
    conflict = _CONFLICT.search(front)
    if conflict is not None:
        line = first_line + front.count("\n", 0, conflict.start())
        raise SkillFormatError(
            f"{path}:{line}: merge conflict markers in the front matter",
            "Resolve the conflict by hand; the file is left as it is.",
        )
    body = text[closing.end() :]
    if _LATE_OPENING.match(body.lstrip()):
        warnings += ("a second front matter block stands in the body and is kept as text",)
    return SplitText(front, body, first_line, warnings)


def _split_plainly(text: str) -> SplitText | None:
    """As `split_text`, several times as fast, for text between two lines of three dashes and
    nothing more; None for any other."""
    end = text.find("\n---", 3) if text.startswith("---\n") else -1
    if end < 0 or text[end + 4 : end + 5] != "\n":
        return None
    front, body = text[4 : end + 1], text[end + 5 :]
    if any(mark in front for mark in _CONFLICT_MARKS) or body.lstrip()[:3] == "---":
        return None
    return SplitText(front, body, 2)


def _why_none(text: str) -> tuple[str, ...]:
    late = _LATE_OPENING.search(text)
    if late is None:
        return ("no front matter",)
    line = text.count("\n", 0, late.start()) + 1
    return (f"no front matter: the block at line {line} is not at the top of the file",)


def key_blocks(front: str, first_line: int) -> tuple[list[KeyBlock], list[int]]:
    """The top-level keys, each with its continuation lines; a line at column 0 that is no key
    continues the key before it. Second: numbers of lines that stand before any key."""
    blocks: list[KeyBlock] = []
    stray: list[int] = []
    lines = front.splitlines(keepends=True)
    current: tuple[str, str, int] | None = None
    source: list[str] = []
    for number, line in enumerate(lines, first_line):
        match = _TOP_LEVEL_KEY.match(line)
        if match is not None:
            if current is not None:
                blocks.append(_block(current, source))
            current, source = (match.group(2), line[match.end() :], number), [line]
        elif current is not None:
            source.append(line)
        elif line.strip() and not line.lstrip().startswith("#"):
            stray.append(number)
    if current is not None:
        blocks.append(_block(current, source))
    return blocks, stray


def _block(head: tuple[str, str, int], source: list[str]) -> KeyBlock:
    key, first, line = head
    return KeyBlock(key, "".join([first, *source[1:]]), line, "".join(source))


def plain_text(value: str) -> str:
    """A value that is not YAML, read as the text that its author meant: lines joined, quotes that
    surround the whole taken off, a block scalar's sign dropped."""
    joined = " ".join(part.strip() for part in value.splitlines() if part.strip())
    joined = re.sub(r"^[|>][+-]?\d?[ ]+", "", joined)
    quote = joined[:1]
    if quote in {'"', "'"} and quote not in joined[1:-1]:
        joined = joined[1:].removesuffix(quote)
    return joined.strip()


def first_paragraph(body: str) -> str:
    """The first lines of running text of a body, for a skill that has no description."""
    for paragraph in re.split(r"\n\s*\n", body.replace("\r\n", "\n")):
        lines = [line.strip() for line in paragraph.splitlines()]
        kept = [line for line in lines if line and not re.match(r"(#|```|---|<!--|\*\*\*$)", line)]
        if kept:
            return " ".join(" ".join(kept).split())[:1024]
    return ""
