"""What hooks are told beside the links: the errors that skills were learned from, and which skills
are offered no more."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path

from skill_learner import files
from skill_learner.paths import StatePaths

FRAGMENTS = "\x1f"


def write_error_hints(
    paths: StatePaths, key: str, errors: Mapping[str, tuple[str, Sequence[Sequence[str]]]]
) -> None:
    """Write `published/<key>.errors`: `name TAB summary TAB fragments` lines; no file where no
    skill knows an error, so that the hook has nothing to read. errors: by skill name, a summary and
    the fragments of each error."""
    target = paths.published_dir / f"{key}.errors"
    lines = [
        f"{name}\t{_plain(summary)}\t{FRAGMENTS.join(map(_plain, fragments))}\n"
        for name, (summary, known) in errors.items()
        for fragments in known
        if fragments and not {"\t", "\n"} & set(name)
    ]
    _write(target, lines)


def write_declined(paths: StatePaths, names: Iterable[str]) -> None:
    """Write `published/declined`: names, a line each, of skills that no prompt hook offers."""
    _write(paths.published_dir / "declined", [f"{name}\n" for name in sorted(names)])


def _write(target: Path, lines: Sequence[str]) -> None:
    """The lines as a file; none where there are none, so that a hook has nothing to read."""
    data = os.fsencode("".join(lines))
    try:
        before = target.read_bytes()
    except OSError:
        before = b""
    if not lines:
        target.unlink(missing_ok=True)
    elif data != before:
        files.ensure_private_dir(target.parent)
        files.atomic_write(target, data)


def _plain(text: str) -> str:
    return " ".join(text.replace(FRAGMENTS, " ").split())[:300]
