"""Where things stand in a strict JSON text: spans of members and elements, faults by line.

The standard parser checks the whole text first, so the span readers below may trust it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from skill_learner.errors import InstallError

_WHITESPACE = re.compile(r"[ \t\r\n]*")
_UTF8_BOM = b"\xef\xbb\xbf"


@dataclass(frozen=True)
class Span:
    """One value in the text: `text[start:end]`. For members of an object, `key_start` is where the
    key's quote stands; for elements of an array it equals `start`."""

    key: str
    key_start: int
    start: int
    end: int
    value: Any


@dataclass(frozen=True)
class JsonText:
    """A checked JSON document as text, without its BOM. `value` is what was read, not what a later
    splice made of it; in values that come from here, numbers are text."""

    path: Path
    text: str
    bom: bytes
    value: Any

    def encode(self, text: str) -> bytes:
        return self.bom + text.encode("utf-8")


def read_json_text(data: bytes, path: Path) -> JsonText:
    """Check `data` as strict JSON. Raises InstallError with file, line and column."""
    bom = _UTF8_BOM if data.startswith(_UTF8_BOM) else b""
    body = data[len(bom) :]
    try:
        text = body.decode("utf-8")
    except UnicodeDecodeError as error:
        _refuse_encoding(path, body, error)
    return JsonText(path, text, bom, _strict_value(text, path))


def members(document: JsonText, start: int) -> Iterator[Span]:
    """The members of the object whose `{` stands at `start`, in order of the text."""
    text, at = document.text, _skip(document.text, start + 1)
    while text[at] != "}":
        key, key_end = _VALUES.raw_decode(text, at)
        value_start = _skip(text, _skip(text, key_end) + 1)
        value, end = _VALUES.raw_decode(text, value_start)
        yield Span(key, at, value_start, end, value)
        at = _after_comma(text, end)


def elements(document: JsonText, start: int) -> Iterator[Span]:
    """The elements of the array whose `[` stands at `start`."""
    text, at = document.text, _skip(document.text, start + 1)
    while text[at] != "]":
        value, end = _VALUES.raw_decode(text, at)
        yield Span("", at, at, end, value)
        at = _after_comma(text, end)


def root_start(document: JsonText) -> int:
    return _skip(document.text, 0)


def container_end(text: str, start: int, last: Span | None) -> int:
    """Index of the bracket that closes the container opened at `start`."""
    return _skip(text, last.end if last else start + 1)


def position(text: str, index: int) -> tuple[int, int]:
    """Line and column, both from 1."""
    return text.count("\n", 0, index) + 1, index - text.rfind("\n", 0, index)


def refuse(document: JsonText, index: int, reason: str) -> NoReturn:
    line, column = position(document.text, index)
    raise InstallError(f"{document.path}:{line}:{column}: {reason}", _SHAPE_HINT)


_SHAPE_HINT = "The file is untouched. Correct that place by hand, then run the command again."
_DROPPED_HINT = (
    "The file is untouched. Editors read it as strict JSON too: Claude Code drops such a file "
    "whole, so nothing in it is in effect now. Correct that place, then run the command again."
)


def _skip(text: str, at: int) -> int:
    match = _WHITESPACE.match(text, at)
    return match.end() if match else at


def _after_comma(text: str, end: int) -> int:
    at = _skip(text, end)
    return _skip(text, at + 1) if text[at] == "," else at


def _forbid_constant(name: str) -> NoReturn:
    raise ValueError(name)


# Numbers stay text: they are only ever skipped, and Python refuses integers of 4,300 digits.
_VALUES = json.JSONDecoder(parse_int=str, parse_float=str, parse_constant=_forbid_constant)


def _strict_value(text: str, path: Path) -> Any:
    try:
        return _VALUES.decode(text)
    except json.JSONDecodeError as error:
        index, reason = _fault(text, error)
    except ValueError as error:
        index = max(text.find(str(error)), 0)
        reason = f"{error} is no JSON value"
    except RecursionError:
        raise InstallError(f"{path}: nested too deeply to read", _SHAPE_HINT) from None
    line, column = position(text, index)
    raise InstallError(f"{path}:{line}:{column}: {reason}", _DROPPED_HINT)


def _fault(text: str, error: json.JSONDecodeError) -> tuple[int, str]:
    """Say what people really do to such files, at the place where they did it."""
    index = min(error.pos, len(text))
    if text.startswith(("//", "/*", "#"), index):
        return index, "comments are not allowed in JSON"
    before = text[:index].rstrip(" \t\r\n")
    if text[index : index + 1] in ("}", "]") and before.endswith(","):
        return len(before) - 1, "trailing comma"
    if text.startswith(",", index) and text[_skip(text, index + 1) :][:1] in ("}", "]"):
        return index, "trailing comma"
    if not text[index:].strip():
        return index, "the text ends in the middle (truncated?)"
    return index, error.msg[0].lower() + error.msg[1:]


def _refuse_encoding(path: Path, body: bytes, error: UnicodeDecodeError) -> NoReturn:
    line = body.count(b"\n", 0, error.start) + 1
    column = error.start - body.rfind(b"\n", 0, error.start)
    raise InstallError(f"{path}:{line}:{column}: not UTF-8 text", _DROPPED_HINT) from None
