"""What a registered line of Windows says: run the launch where there still is one. Cold.

A launch names paths of the machine. When the interpreter is gone nothing can be started, and when
only the package is gone Python ends with 2, which editors take for "block this". So Windows' own
shell looks for both first, and ends with 0 where one is missing.
"""

import os

_PROGRAM = "C:\\Windows\\System32\\cmd.exe"
_SEPARATORS = frozenset("&|<>^()@,;=")


def guarded(launch: "list[str]") -> "list[str] | None":
    """Program and arguments that start `launch` as long as its interpreter and entry script are
    there; None where a path holds what that shell would read as its own.

    The shell is named by its path: by its name alone it would be looked for in the project first.
    Whoever starts it puts quotes around words with spaces, which is how it reads them as well.
    """
    if not all(map(_stays_a_word, launch)):
        return None
    entry = next(word for word in launch if word.endswith(".py"))
    shell = os.environ.get("COMSPEC") or _PROGRAM
    return [shell, "/d", "/c", "if", "exist", launch[0], "if", "exist", entry, *launch]


def _stays_a_word(word: str) -> bool:
    if not word or (" " not in word and not _SEPARATORS.isdisjoint(word)):
        return False
    return not any(character in word for character in '%!"\r\n\t')


def needs_no_quotes(word: str) -> bool:
    """Whether neither cmd nor PowerShell finds anything in it that is not part of the word."""
    return bool(word) and all(c.isalnum() or c in "_.:\\/-+" for c in word)
