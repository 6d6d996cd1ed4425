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
    lines: list[str] = []
    tops = {project: None}
    for install in installs:
        target = get_target(install.target)
        top = worktree_root(Path(install.root))
        tops[top] = None
        below = os.path.relpath(install.root, top).replace(os.sep, "/")
        prefix = "" if below == "." else f"{below}/"
        folder = skills_folder(install.target, targets)
        lines += _patterns(top, prefix + folder, [SEED_SKILL])
        index_folder, _, index_name = target.INDEX_IMPORT.rpartition("/")
        lines += _patterns(top, prefix + index_folder, [index_name])
    names = tuple(names)
    for top in tops:
        for folder in skills_folders(targets):
            lines += _patterns(top, folder, names)
    return list(dict.fromkeys(lines))


def _patterns(top: Path, folder: str, names: Iterable[str]) -> list[str]:
    """For entries of a folder below `top`; where it is a link, for where it leads to as well, since
    git sees the entries there."""
    real, real_top = Path(os.path.realpath(top / folder)), Path(os.path.realpath(top))
    folders = [folder]
    if real.is_relative_to(real_top):
        folders.append(real.relative_to(real_top).as_posix())
    folders = ["" if place in ("", ".") else f"{place}/" for place in dict.fromkeys(folders)]
    return [pattern_for(place + name) for place in folders for name in names]


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
