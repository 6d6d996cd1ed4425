"""Signatures that stay equal when the same thing happens in another session.

An error is known by its most telling line, freed of paths, numbers, quoted values, hashes and
times. Keys are short hashes behind a readable head, safe to store in front matter.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable

from skill_learner.learning.results import clean_result

_LOCATION = re.compile(
    r"^\s*(?:-->\s*)?(?P<file>(?:[A-Za-z]:)?[^\s:()]+\.\w{1,6})(?::\d+(?::\d+)?|\(\d+,\d+\))"
    r"(?:\s*[:-])?\s*(?P<message>.*)$"
)
_EXCEPTION = re.compile(r"^(?:E\s+)?[\w.]*(?:Error|Exception|Panic|Warning|Failure)\b\s*:\s*\S")
_STRONG = re.compile(
    r"error(?:\[\w+\]|\s+[A-Z]{1,4}\d+)?: |^panic: |^fatal: |does not (?:implement|exist"
    r"|match|satisfy)"
    r"|undefined|cannot |can't |could not|missing|expected|not found|is not|unresolved|mismatch"
    r"|invalid|unexpected|unknown|duplicate|no such|failed to|must be|not allowed|unsupported",
    re.IGNORECASE,
)
_WEAK = re.compile(r"error|fail|exception|abort|denied|refused|warn", re.IGNORECASE)
_NOISE = re.compile(
    r"^\s*(?:Exit code \d+|npm ERR! (?:code|errno|A complete log)|make(?:\[\d+\])?: \*\*\*"
    r"|\[\w+\] \$ "
    r"|\[\w+\] ERROR task failed|\d+ (?:issues?|errors?|problems?)|error: (?:Recipe|script|Process|"
    r"could not compile|aborting due|command failed)|ELIFECYCLE|Traceback|During handling"
    r"|at \S+ \(|"
    r"File \"|FAILED\s*$|FAIL\s*$|=+|-+|#|>|\s*\^|npm verbose|note: |help: |Usage:"
    r"|error Command failed)"
    r"|exited with (?:code|exit)|exit status \d+\s*$",
    re.IGNORECASE,
)

_QUOTED = re.compile(
    r"\"[^\"\n]{0,200}\"|(?<!\w)'[^'\n]{0,200}'|`[^`\n]{0,200}`|[“”‘’«»][^“”‘’«»\n]{0,200}[“”‘’«»]"
)
_PATH = re.compile(r"(?:[A-Za-z]:)?(?:[\w.@~-]*[\\/])+[\w.@-]*(?::\d+)*")
_FILE_AT = re.compile(r"\b[\w.-]+\.\w{1,5}:\d+(?::\d+)?")
_HEX = re.compile(
    r"\b(?:0x[0-9a-f]+|(?=[0-9a-f-]*\d)[0-9a-f]{7,}(?:-[0-9a-f]{4,}){0,4})\b", re.IGNORECASE
)
_NUMBER = re.compile(r"\d+(?:[.,:]\d+)*")
_WINDOW = 300
_SHORTEST_FRAGMENT, _FEWEST_CHARACTERS = 4, 14
_SPACE = re.compile(r"\s+")

_LINT_CODE = re.compile(
    r"\b(?!TS\d|CS\d|FS\d|BC\d|E0\d{3}\b|C[1-9]\d{3}\b|LNK\d)[A-Z]{1,5}\d{2,5}\b"
    r"|@?[\w-]+/[\w-]+\s*$|\((?:gosec|errcheck|revive|staticcheck|govet|unused|gofmt|goimports|"
    r"golint|lll|gocritic|gocyclo|[a-z]+-[a-z-]+)\)\s*$"
)

_LINT_PLACE = re.compile(r":\d+(?::\d+)?\b|^\s*\d+:\d+\b|\(\d+,\d+\)|\[\S+:\d+|<\w*>:")


def score_line(line: str) -> int:
    """How much a line of output tells about an error; 0 for none."""
    if not line.strip() or _NOISE.search(line):
        return 0
    if _EXCEPTION.match(line.strip()):
        return 5
    located = _LOCATION.match(line)
    if located:
        message = located.group("message").lstrip(": ")
        if not message or message.startswith("#"):
            return 0
        return 4 if _STRONG.search(message) else 3
    if _STRONG.search(line):
        return 2
    return 1 if _WEAK.search(line) else 0


def error_lines(result: str | None, limit: int = 3) -> tuple[str, ...]:
    """The most telling lines of a failed result, best first, each at most 300 characters. When no
    line looks like an error, the first line that is not noise."""
    lines = _window([line.strip() for line in clean_result(result).splitlines()])
    scores = [score_line(line) for line in lines]
    best = max(scores, default=0)
    if best == 0:
        return tuple(line[:300] for line in lines if line and not _NOISE.search(line))[:1]
    wanted = [line for line, score in zip(lines, scores, strict=True) if score == best]
    if best == 5:
        wanted.reverse()  # of chained exceptions the last is the one that reached the top
    return tuple(dict.fromkeys(line[:300] for line in wanted))[:limit]


def _window(lines: list[str]) -> list[str]:
    """The head and the tail of a long output: what tells of an error stands there."""
    return lines if len(lines) <= 2 * _WINDOW else [*lines[:_WINDOW], *lines[-_WINDOW:]]


def message_of(line: str) -> str:
    """An error line without the file, line and column in front."""
    located = _LOCATION.match(line)
    text = located.group("message").lstrip(": ") if located else line
    return text.strip() or line.strip()


def error_signature(lines: Iterable[str]) -> str:
    """Normal form of the first error line: equal for the same error at another place and time."""
    first = next(iter(lines), "")
    text = _QUOTED.sub("Q", message_of(first))
    text = _FILE_AT.sub("P", text)
    text = _PATH.sub("P", text)
    text = _HEX.sub("H", text)
    text = _NUMBER.sub("N", text)
    return _SPACE.sub(" ", text).strip().lower()


def error_fragments(lines: Iterable[str]) -> tuple[str, ...]:
    """What stays of the first error line when the same error comes at another place and time: its
    words in order, lower-case, without what `error_signature` replaces. () when too little does."""
    first = next(iter(lines), "")
    text = message_of(first)
    for varying in (_QUOTED, _FILE_AT, _PATH, _HEX, _NUMBER):
        text = varying.sub("\x00", text)
    fragments = (" ".join(part.lower().split()) for part in text.split("\x00"))
    telling = tuple(part for part in fragments if len(part) >= _SHORTEST_FRAGMENT)
    return telling if sum(map(len, telling)) >= _FEWEST_CHARACTERS else ()


def is_lint_finding(lines: Iterable[str]) -> bool:
    """True when every line is a linter's finding that names its own rule (`G304`, `MD013`, `E501`,
    `@scope/no-unused-vars`) and its place: its documentation is the lesson already. A code without
    a place (`BuildError: E417 ...`) is a program's own error number."""
    known = list(lines)
    return bool(known) and all(
        _LINT_CODE.search(line) and _LINT_PLACE.search(line) for line in known
    )


def make_key(head: str, *parts: str) -> str:
    """A readable head and 64 bits of a hash over the parts."""
    digest = hashlib.sha256("\x1f".join(parts).encode("utf-8", "replace")).hexdigest()[:16]
    readable = re.sub(r"[^a-z0-9]+", "-", head.lower()).strip("-")[:40].strip("-")
    return f"{readable or 'episode'}:{digest}"


def words_signature(text: str) -> str:
    """Normal form of human words: lower case letters and digits only."""
    return " ".join(re.findall(r"\w+", text.lower()))
