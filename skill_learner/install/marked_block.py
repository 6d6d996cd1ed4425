"""A block of lines between two marker lines, at the end of a text that is somebody else's.

Works on bytes, because nothing says which encoding the rest of the file has.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from skill_learner.errors import InstallError

_FENCE = re.compile(rb" {0,3}(`{3,}|~{3,})(.*)")
_COMMENT = re.compile(rb"\s*<!--.*-->\s*")
_UTF8_BOM = b"\xef\xbb\xbf"
_UTF16_BOMS = (b"\xff\xfe", b"\xfe\xff")


@dataclass(frozen=True)
class BlockStyle:
    """begin, end: the marker lines. fences: whether Markdown code fences hide markers.
    blank_line: whether the block is set apart from the text before it by a blank line."""

    begin: bytes
    end: bytes
    fences: bool
    blank_line: bool


@dataclass(frozen=True)
class _Place:
    start: int
    end: int


def read_block(data: bytes, style: BlockStyle, path: Path) -> bytes | None:
    """The lines between the markers with `\\n` line ends, or None where there is no block.

    Raises InstallError, with line numbers, for a missing, doubled or reversed marker.
    """
    place = _find(data, style, path)
    if place is None:
        return None
    lines = data[place.start : place.end].replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n")
    return b"\n".join(lines[1:-1])


def put_block(data: bytes, body: bytes, style: BlockStyle, path: Path) -> bytes:
    """Return the text with the block holding `body`: replaced where it stands, else at the end.
    Everything outside stays byte for byte. Raises InstallError as `read_block` does, and where
    another tool's marker stands within the block, which would go with it."""
    place = _find(data, style, path, appending=True)
    _refuse_foreign_lines(data, place, style, path)
    newline = _newline_of(data[place.start : place.end] if place else data)
    lines = [style.begin, *body.rstrip(b"\n").split(b"\n"), style.end]
    block = newline.join(lines)
    if place is None:
        return data + _gap(data, style, newline) + block + newline
    last = newline if data[place.end - 1 : place.end] == b"\n" else b""
    return data[: place.start] + block + last + data[place.end :]


def take_block(data: bytes, style: BlockStyle, path: Path, before: bytes | None = None) -> bytes:
    """Return the text without the block.

    before: the text as it was before the block came. When nobody else changed the file since, the
    answer is `before`; else only the block goes, and the blank line in front of it that is ours.
    """
    place = _find(data, style, path)
    if place is None:
        return data
    _refuse_foreign_lines(data, place, style, path)
    head, tail = data[: place.start], data[place.end :]
    newline = _newline_of(data[place.start : place.end])
    if before is not None and head + tail == before + _gap(before, style, newline):
        return before
    ours_in_front = style.blank_line and head.endswith(newline * 2)
    if ours_in_front and (before is None or not before.endswith(newline * 2)):
        head = head[: -len(newline)]
    return head + tail


def _refuse_foreign_lines(data: bytes, place: _Place | None, style: BlockStyle, path: Path) -> None:
    """Another tool's block in ours, or the half of one: what we write holds no comment."""
    if place is None or not style.fences:
        return
    number = data.count(b"\n", 0, place.start) + 1
    for line in data[place.start : place.end].split(b"\n"):
        if _COMMENT.fullmatch(line) and line.strip() not in (style.begin, style.end):
            _refuse(path, number, "within skill-learner's block stands what is not its own")
        number += 1


def _gap(data: bytes, style: BlockStyle, newline: bytes) -> bytes:
    body = data.removeprefix(_UTF8_BOM)
    if not body:
        return b""
    if not body.endswith(b"\n"):
        return newline * 2 if style.blank_line else newline
    if style.blank_line and not body.endswith((b"\n\n", b"\n\r\n")):
        return newline
    return b""


def _newline_of(data: bytes) -> bytes:
    first = data.find(b"\n")
    return b"\r\n" if first > 0 and data[first - 1 : first] == b"\r" else b"\n"


def _find(data: bytes, style: BlockStyle, path: Path, appending: bool = False) -> _Place | None:
    if data.startswith(_UTF16_BOMS) or b"\0" in data:
        raise InstallError(
            f"{path}: not a text in UTF-8 or a similar encoding",
            "The file is untouched. Save it as UTF-8, then run the command again.",
        )
    begins, ends = [], []
    at = len(_UTF8_BOM) if data.startswith(_UTF8_BOM) else 0
    fence, fence_line = b"", 0
    for number, raw in enumerate(re.findall(rb"[^\n]*\n|[^\n]+", data[at:]), 1):
        line = raw.rstrip(b"\r\n")
        fence, fence_line = _fence_after(fence, fence_line, line, number, style)
        if not fence and _is_marker(line, style.begin):
            begins.append((number, at))
        elif not fence and _is_marker(line, style.end):
            ends.append((number, at + len(raw)))
        at += len(raw)
    hidden = appending or style.begin in data
    if fence and hidden and not begins and not ends:
        _refuse(path, fence_line, "a code fence is opened here and never closed")
    return _checked_place(begins, ends, path)


def _fence_after(
    fence: bytes, opened: int, line: bytes, number: int, style: BlockStyle
) -> tuple[bytes, int]:
    """The fence that is open after this line (b"" for none), and the line that opened it."""
    found = _FENCE.fullmatch(line) if style.fences else None
    if found is None:
        return fence, opened
    mark, rest = found.group(1), found.group(2)
    if not fence:
        is_inline_code = mark.startswith(b"`") and b"`" in rest
        return (b"", 0) if is_inline_code else (mark, number)
    closes = mark.startswith(fence) and not rest.strip()
    return (b"", 0) if closes else (fence, opened)


def _is_marker(line: bytes, marker: bytes) -> bool:
    return line.strip() == marker and not line.startswith((b"    ", b"\t"))


def _checked_place(
    begins: list[tuple[int, int]], ends: list[tuple[int, int]], path: Path
) -> _Place | None:
    if not begins and not ends:
        return None
    if len(begins) > 1:
        _refuse(path, begins[1][0], f"a second begin marker (the first is in line {begins[0][0]})")
    if len(ends) > 1:
        _refuse(path, ends[1][0], f"a second end marker (the first is in line {ends[0][0]})")
    if not ends:
        _refuse(path, begins[0][0], "a begin marker without its end marker")
    if not begins:
        _refuse(path, ends[0][0], "an end marker without its begin marker")
    if begins[0][0] > ends[0][0]:
        _refuse(path, ends[0][0], f"the end marker stands before the begin ({begins[0][0]})")
    return _Place(begins[0][1], ends[0][1])


def _refuse(path: Path, line: int, reason: str) -> NoReturn:
    raise InstallError(
        f"{path}:{line}: {reason}",
        "The file is untouched. Correct that line by hand (the markers of skill-learner stand alone"
        " on their lines, begin before end), then run the command again.",
    )
