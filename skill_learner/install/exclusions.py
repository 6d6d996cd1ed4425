"""Which lines of a repository's exclude file are ours: it follows from installs and links."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path

from skill_learner.install.git_exclude import pattern_for
from skill_learner.install.places import SEED_SKILL
from skill_learner.install.records import load_all
from skill_learner.install.sharing import skills_folder, skills_folders, targets_for_user
from skill_learner.paths import StatePaths
from skill_learner.project import ProjectInstall, load_project, project_key, worktree_root
from skill_learner.targets import get_target


def exclude_lines(
    paths: StatePaths,
    project: Path,
    names: Iterable[str],
    installs: Iterable[ProjectInstall] | None = None,
) -> list[str]:
    """The lines for the repository whose main worktree is `project`.

    names: of the skills that are published there. installs: default those on record.
    """
    if installs is None:
        record = load_project(paths, project_key(project))
        installs = record.installs if record else ()
    installs = tuple(installs)
    targets = {install.target for install in installs} | targets_for_user(load_all(paths))
    lines = []
    for install in installs:
        target = get_target(install.target)
        top = worktree_root(Path(install.root))
        below = os.path.relpath(install.root, top).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        folder = skills_folder(install.target, targets)
        lines.append(pattern_for(f"{prefix}{folder}/{SEED_SKILL}"))
        lines.append(pattern_for(f"{prefix}{target.INDEX_IMPORT}"))
    for name in names:
        lines += [pattern_for(f"{folder}/{name}") for folder in skills_folders(targets)]
    return list(dict.fromkeys(lines))


def published_names(paths: StatePaths, key: str) -> list[str]:
    """Names of the skills that were last published for a project (or for `user`)."""
    return [name for name, _ in published_links(paths, key)]


def published_links(paths: StatePaths, key: str) -> list[tuple[str, Path]]:
    """(name, library folder) of each skill last published under `key`."""
    try:
        text = (paths.published_dir / key).read_bytes()
    except OSError:
        return []
    pairs = (line.partition(b"\t") for line in text.splitlines())
    return [(os.fsdecode(n), Path(os.fsdecode(folder))) for n, tab, folder in pairs if tab]
