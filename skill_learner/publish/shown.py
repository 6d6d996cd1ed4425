"""What a project is shown, as bytes and places: to write it, and to see that it is there."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from skill_learner.errors import InstallError
from skill_learner.install.changes import Change
from skill_learner.install.index_text import index_changes, index_layout
from skill_learner.install.links import is_ours
from skill_learner.install.places import Places, places_for, read_if_there
from skill_learner.install.recognised import recognised_installs
from skill_learner.install.records import InstallRecord, load_all
from skill_learner.install.sharing import (
    skills_folders,
    targets_for_user,
    targets_in,
    unused_skills_folders,
)
from skill_learner.models import Skill
from skill_learner.paths import StatePaths
from skill_learner.project import load_project
from skill_learner.publish.index import build_index
from skill_learner.targets import get_target
from skill_learner.targets.protocol import Target


def is_published(
    key: str,
    skills: Sequence[Skill],
    paths: StatePaths,
    token_budget: int,
    listed: Collection[str],
) -> bool:
    """Whether a registered project is shown exactly this already: `publish` would change nothing.
    Of a project with several worktrees, which takes git to look at, that is never said."""
    record = load_project(paths, key)
    if record is None or {i.root for i in record.installs} != {record.path}:
        return False
    root, records = Path(record.path), load_all(paths)
    sources = {s.name: skill_folder(s) for s in skills if s.name in listed}
    index = build_index(skills, token_budget, listed)
    lines = remembered_lines(sources.items(), set(sources))
    try:
        if (
            read_if_there(paths.published_dir / key) != os.fsencode("".join(lines))
            or read_if_there(paths.published_dir / f"{key}.index.md") != index.encode("utf-8")
            or any(
                change.before != change.after
                for name in {i.target for i in record.installs}
                for change in index_changes_in(
                    records, index, get_target(name), places_for(get_target(name), "project", root)
                )
            )
        ):
            return False
    except InstallError:
        return False
    installed = {i.target for i in (*record.installs, *recognised_installs(root))}
    used = skills_folders(installed | targets_for_user(records))
    return all((root / folder / name).exists() for folder in used for name in sources) and not any(
        is_ours(root / folder / name, source.parent)
        for folder in unused_skills_folders(used)
        for name, source in sources.items()
    )


def skill_folder(skill: Skill) -> Path:
    path = Path(os.path.abspath(skill.path))
    return path.parent if path.name == "SKILL.md" else path


def index_changes_in(
    records: Sequence[InstallRecord], index: str, target: Target, places: Places
) -> list[Change]:
    root = str(places.root)
    own = [r for r in records if (r.target, r.root) == (target.NAME, root)]
    rules = next((r.rules for r in own if r.rules), "")
    layout = index_layout(target, places, targets_in(places.root, records), rules)
    return index_changes(target, places, index, layout)


def remembered_lines(sources: Iterable[tuple[str, Path]], linked: set[str]) -> list[str]:
    return [
        f"{name}\t{folder}\n"
        for name, folder in sources
        if name in linked and not {"\n", "\r", "\t"} & {*name, *str(folder)}
    ]
