"""What a command line says in the agent's own words: messages, echoes, and files it writes.

Such text ran, but it proves nothing: a commit message is prose, an echoed sentence comes back as a
result, and a here-document is an edit.
"""

from __future__ import annotations

import re

from skill_learner.learning.commands import parts_of, unquote

_HEREDOC = re.compile(r"<<-?\s*(['\"]?)(\w+)\1[^\n]*\n(?P<body>.*?)\n\s*\2\b", re.DOTALL)
_TO_FILE = re.compile(r"(?:>{1,2}|\btee\b(?:\s+-a)?)\s*(?P<file>[\w./~$\"'\\:-]+)")
_SPEAKING = re.compile(
    r"\b(?:git\s+(?:-C\s+\S+\s+)?(?:commit|tag|notes|stash|merge)|gh\s+(?:pr|issue|release)|glab)\b"
)
_MESSAGE = re.compile(
    r"(?:(?<=\s)(?:-m|--message|--body|--title|--notes|-b|-t)(?:\s+|=)|@)"
    r"(?:\"(?:\\.|\$\([^)]*\)|[^\"\\])*\"|'[^']*'|@'.*?'@|@\".*?\"@)",
    re.DOTALL,
)
_ECHO = frozenset({"echo", "printf", "write-host", "write-output"})
_SHORTEST_ECHO = 8


def without_messages(line: str) -> str:
    """A command line without the messages it hands to git or a forge, and without here-documents
    that go to them or to a file."""
    speaks = bool(_SPEAKING.search(line))

    def cut(match: re.Match[str]) -> str:
        head = line[: match.start()].rsplit("\n", 1)[-1]
        rest = match.group().split("\n", 1)[0]
        return rest if speaks or _TO_FILE.search(head + rest) else match.group()

    bare = _HEREDOC.sub(cut, line)
    return _MESSAGE.sub(" ", bare) if speaks else bare


def messages(line: str) -> str:
    """The messages that `without_messages` takes out of a line that speaks to git or a forge."""
    if not _SPEAKING.search(line):
        return ""
    texts = [match.group("body") for match in _HEREDOC.finditer(line)]
    texts += [match.group() for match in _MESSAGE.finditer(_HEREDOC.sub("", line))]
    return "\n".join(texts)


def written_files(line: str) -> tuple[tuple[str, str], ...]:
    """(file, text) of each here-document that a line writes to a file."""
    if _SPEAKING.search(line):
        return ()
    found = []
    for match in _HEREDOC.finditer(line):
        head = line[: match.start()].rsplit("\n", 1)[-1]
        target = _TO_FILE.search(head + match.group().split("\n", 1)[0])
        if target:
            found.append((unquote(target.group("file")), match.group("body")))
    return tuple(found)


def without_echoes(line: str, result: str) -> str:
    """A result without the lines that merely repeat what the command itself printed."""
    spoken = set()
    for part in parts_of(line):
        if part.program in _ECHO:
            words = unquote(" ".join(part.words[1:])).strip()
            if len(words) >= _SHORTEST_ECHO and "$" not in words:
                spoken.add(words)
    if not spoken:
        return result
    return "\n".join(one for one in result.splitlines() if one.strip() not in spoken)
