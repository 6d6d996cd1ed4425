"""Replacing one unique passage of a text, with errors that say what to send instead."""

from __future__ import annotations

from skill_learner.errors import LibraryError


def replace_once(text: str, old: str, new: str, name: str) -> str:
    """`text` with its only occurrence of `old` replaced. LibraryError when there is none, when
    there are several (it lists their lines), or when nothing would change."""
    if not old:
        raise LibraryError(f"the patch of {name!r} names no text to replace")
    if old == new:
        raise LibraryError(f"the patch of {name!r} changes nothing")
    lines = occurrence_lines(text, old)
    if not lines:
        raise LibraryError(
            f"the text that the patch of {name!r} replaces does not stand in its body",
            "Quote it exactly, line breaks and spaces included.",
        )
    if len(lines) > 1:
        numbers = ", ".join(map(str, lines))
        raise LibraryError(
            f"the text that the patch of {name!r} replaces stands there {len(lines)} times, "
            f"at lines {numbers}",
            "Quote more of the text around it, so that it is unique.",
        )
    return text.replace(old, new, 1)


def occurrence_lines(text: str, old: str) -> list[int]:
    """The line numbers at which `old` begins; occurrences that overlap count each."""
    lines = []
    start = text.find(old)
    while start >= 0:
        lines.append(text.count("\n", 0, start) + 1)
        start = text.find(old, start + 1)
    return lines
