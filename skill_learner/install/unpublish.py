"""Taking back what publishing put into skills folders and exclude files."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path

from skill_learner.git import git_worktrees, is_git_tracked
from skill_learner.install import git_exclude
from skill_learner.install.changes import Change, carry_out, remove_empty_folders
from skill_learner.install.exclusions import published_links
from skill_learner.install.links import link_target, take_link
from skill_learner.install.places import SEED_SKILL, read_if_there
from skill_learner.install.records import InstallRecord
from skill_learner.install.seed import is_our_seed
from skill_learner.paths import StatePaths
from skill_learner.project import (
    forget_made_dirs,
    git_exclude_file,
    list_projects,
    load_project,
    project_key,
    project_root,
)
from skill_learner.targets import TARGETS, get_target

Rows = list[tuple[str, str]]


def unpublish_project(paths: StatePaths, project: Path) -> Rows:
    """Remove our links from a project's skills folders, our lines from its exclude file, and the
    folders that only we needed."""
    key = project_key(project)
    record = load_project(paths, key)
    folders = [project, *(Path(i.root) for i in (record.installs if record else ()))]
    rows: Rows = []
    for folder in dict.fromkeys(folders):
        for skills_dir in _skills_dirs("project"):
            rows += _take_links(paths, key, folder / skills_dir)
    for folder in git_worktrees(project) if project.is_dir() else ():
        if folder not in folders:
            rows += _take_from_worktree(paths, key, folder)
    exclude = git_exclude_file(project) if project.is_dir() else None
    before = read_if_there(exclude) if exclude else None
    if exclude and before is not None:
        after = git_exclude.take_lines(before, exclude)
        change = Change(exclude, "exclude", before, after or None, "ours is out")
        if after != before:
            carry_out([change])
            rows.append(change.row)
    if record and record.made_dirs:
        rows += [(str(f), "removed: empty") for f in remove_empty_folders(record.made_dirs)]
        forget_made_dirs(paths, key)
    _forget_published(paths, key)
    return rows


def unpublish_user(paths: StatePaths, staying: Sequence[InstallRecord]) -> Rows:
    """Remove the user-wide links, and those in projects that no install of their own keeps."""
    rows: Rows = []
    for skills_dir in _skills_dirs("user"):
        rows += _take_links(paths, "user", Path(os.path.expanduser(skills_dir)))
    _forget_published(paths, "user")
    kept = {project_root(Path(r.root)) for r in staying}
    for record in list_projects(paths):
        if Path(record.path) not in kept:
            rows += unpublish_project(paths, Path(record.path))
    return rows


def _take_links(paths: StatePaths, key: str, skills_dir: Path) -> Rows:
    return [
        (str(skills_dir / name), "removed")
        for name, folder in published_links(paths, key)
        if take_link(skills_dir, name, folder.parent)
    ]


def _take_from_worktree(paths: StatePaths, key: str, folder: Path) -> Rows:
    """What the hook gave a linked worktree: links, the seed skill where git does not carry it, and
    the index file when it is as published."""
    given = read_if_there(paths.published_dir / f"{key}.index.md") or b""
    rows: Rows = []
    emptied: list[Path] = []
    for target in map(get_target, TARGETS):
        skills_dir, index = folder / target.SKILLS_DIR["project"], folder / target.INDEX_IMPORT
        rows += _take_links(paths, key, skills_dir)
        seed = skills_dir / SEED_SKILL / "SKILL.md"
        ours = link_target(seed.parent) is None and is_our_seed(read_if_there(seed) or b"")
        if ours and not is_git_tracked(folder, str(seed.relative_to(folder))):
            seed.unlink()
            rows.append((str(seed), "removed"))
        plain = index.is_file() and not index.is_symlink()
        if plain and target.is_own_index(read_if_there(index) or b"", given):
            index.unlink()
            rows.append((str(index), "removed"))
        emptied += [seed.parent, skills_dir, index.parent, skills_dir.parent]
    if rows:
        remove_empty_folders(emptied)
    return rows


def _skills_dirs(scope: str) -> list[str]:
    """Those of all editors."""
    return sorted({get_target(name).SKILLS_DIR[scope] for name in TARGETS})


def _forget_published(paths: StatePaths, key: str) -> None:
    for name in (key, f"{key}.index.md"):
        (paths.published_dir / name).unlink(missing_ok=True)
