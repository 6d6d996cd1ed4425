"""Puts a remote into the text of a settings file, and takes it out, leaving every other line.

Works on lines; whoever calls it reads the result back and compares before anything is written.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from skill_learner.errors import ConfigError

_HEAD = re.compile(r"remotes\s*:\s*(?P<rest>[^#]*?)\s*(?:#.*)?")
_ENTRY = re.compile(r"(?P<indent> +)(?:\"(?P<quoted>[^\"]*)\"|(?P<plain>[^\s:#\"]+))\s*:(?:\s.*)?")


def with_remote(text: str, name: str, settings: Mapping[str, Any]) -> str:
    """The text with a remote of that name, at the end of `remotes:` or in place of the former."""
    text = without_remote(text, name)
    lines = text.splitlines()
    head = _head(lines)
    entry = f"{name}: {json.dumps(dict(settings), ensure_ascii=False)}"
    if head is None:
        return "\n".join([*lines, "remotes:", f"  {entry}", ""])
    end = _end(lines, head)
    indent = next(
        (match["indent"] for line in lines[head + 1 : end] if (match := _ENTRY.fullmatch(line))),
        "  ",
    )
    if _rest(lines[head]):
        lines[head] = "remotes:"
    lines.insert(end, f"{indent}{entry}")
    return "\n".join([*lines, ""])


def without_remote(text: str, name: str) -> str:
    """The text without that remote; unchanged where there is none."""
    lines = text.splitlines()
    head = _head(lines)
    if head is None:
        return text
    end = _end(lines, head)
    for at in range(head + 1, end):
        match = _ENTRY.fullmatch(lines[at])
        if match and name in (match["quoted"], match["plain"]):
            deeper = " " * (len(match["indent"]) + 1)
            stop = at + 1
            while stop < end and (not lines[stop].strip() or lines[stop].startswith(deeper)):
                stop += 1
            del lines[at:stop]
            left = [line for line in lines[head + 1 : _end(lines, head)] if _ENTRY.fullmatch(line)]
            if not left:
                lines[head] = "remotes: {}"
            return "\n".join([*lines, ""])
    return text


def _head(lines: list[str]) -> int | None:
    for number, line in enumerate(lines):
        if _HEAD.fullmatch(line):
            if _rest(line) not in ("", "{}"):
                raise ConfigError(
                    f"line {number + 1}: `remotes:` is written in one line, which is not edited",
                    "Write one remote a line below `remotes:`, or edit it by hand.",
                )
            return number
    return None


def _rest(line: str) -> str:
    match = _HEAD.fullmatch(line)
    return match["rest"] if match else ""


def _end(lines: list[str], head: int) -> int:
    """Behind the last line that belongs to `remotes:`."""
    end = head + 1
    for number in range(head + 1, len(lines)):
        line = lines[number]
        if line.strip() and not line.startswith((" ", "#")):
            break
        if line.startswith(" ") and line.strip():
            end = number + 1
    return end
