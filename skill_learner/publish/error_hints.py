"""What errors the published skills were learned from, for the hook of a failed tool call."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence

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
    data = os.fsencode("".join(lines))
    try:
        before = target.read_bytes()
    except OSError:
        before = b""
    if not lines:
        target.unlink(missing_ok=True)
    elif data != before:
        files.ensure_private_dir(paths.published_dir)
        files.atomic_write(target, data)


def _plain(text: str) -> str:
    return " ".join(text.replace(FRAGMENTS, " ").split())[:300]
