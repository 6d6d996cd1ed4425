"""Removing the state folder with the library: only what is ours, and only when it surely is."""

from __future__ import annotations

import fnmatch
import os
import shutil
from collections.abc import Sequence

from skill_learner.errors import InstallError
from skill_learner.files import DRAFT_SUFFIX
from skill_learner.install.records import InstallRecord
from skill_learner.paths import StatePaths

_SIGNS = ("journal", "projects", "installs", "jobs", "published", "skills/.records", "hook.conf")
_OURS = (
    *("hook.sh", "hook.conf", "journal", "tally", "marks", "requests", "jobs", "ledger.jsonl"),
    *("usage.sqlite*", "projects", "published", "news", "installs", "consent.json", "skills"),
    *("index*.sqlite*", "*.log", "*.log.?", "*.lock", "sequences", "code", "pause", "format"),
    *("conversations", "offered", "remotes", "machine", "trusted.json", ".request-*"),
    f".*{DRAFT_SUFFIX}",
)


def is_ours(name: str) -> bool:
    """Whether we write something of that name into a state folder."""
    return any(fnmatch.fnmatchcase(name, pattern) for pattern in _OURS)


def check_purge(paths: StatePaths, staying: Sequence[InstallRecord]) -> None:
    """Raise InstallError unless the state folder may be removed once the uninstall is done."""
    if staying:
        others = ", ".join(sorted({f"{r.root} ({r.target}, {r.scope})" for r in staying}))
        raise InstallError(
            f"other installs still use {paths.root}: {others}",
            "Nothing was removed. Uninstall there first, then purge with the last one.",
        )
    root = paths.root
    if not root.is_dir():
        return
    real = os.path.realpath(root)
    protected = {os.path.realpath(os.path.expanduser("~")), os.path.realpath(os.curdir), "/"}
    has_sign = any((root / sign).exists() for sign in _SIGNS)
    if real in protected or (root / ".git").exists() or not (has_sign or not os.listdir(root)):
        raise InstallError(
            f"{root}: this does not look like a state folder of skill-learner",
            "Nothing was removed. Check `state_dir` in your settings.",
        )


def purge_state(paths: StatePaths) -> tuple[list[tuple[str, str]], list[str]]:
    """Remove our entries of the state folder, and the folder when nothing else is in it.

    Returns the report's rows and notes. A link in it is removed, not followed. A library that the
    user put elsewhere (`skills_dir`) is not looked for.
    """
    root = paths.root
    if not root.is_dir():
        return [], []
    kept = []
    for entry in sorted(root.iterdir()):
        if not is_ours(entry.name):
            kept.append(entry.name)
        elif entry.is_dir() and not entry.is_symlink():
            shutil.rmtree(entry)
        else:
            entry.unlink()
    if kept:
        note = f"{root} holds things that are not ours, so these stay: {', '.join(kept)}."
        return [(str(root), "emptied of ours")], [note]
    root.rmdir()
    return [(str(root), "removed")], []
