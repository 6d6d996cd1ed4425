"""What editors that are installed for one project share: skills folders, and notes that both read.

An editor that also reads another's skills folder or notes gets no second copy of its own, or the
agent would see everything twice.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import replace
from pathlib import Path

from skill_learner.install.changes import remove_empty_folders
from skill_learner.install.links import put_link, take_link
from skill_learner.install.places import Places, missing_folders, places_for
from skill_learner.install.recognised import has_block, recognised_installs
from skill_learner.install.records import InstallRecord, load_all
from skill_learner.paths import StatePaths
from skill_learner.project import (
    ProjectInstall,
    load_project,
    project_key,
    register,
    worktree_root,
)
from skill_learner.targets import TARGETS, get_target
from skill_learner.targets.protocol import Target

# -- skills folders -----------------------------------------------------------------------------


def skills_folder(name: str, others: Iterable[str]) -> str:
    """The project's skills folder for a target, where `others` are installed as well."""
    target = get_target(name)
    theirs = {get_target(other).SKILLS_DIR["project"] for other in others if other != name}
    shared = [folder for folder in target.READS_SKILLS if folder in theirs]
    return shared[0] if shared else target.SKILLS_DIR["project"]


def skills_folders(names: Iterable[str]) -> list[str]:
    """The project's skills folders that serve all these targets."""
    names = sorted(set(names))
    return sorted({skills_folder(name, names) for name in names})


def unused_skills_folders(used: Iterable[str]) -> list[str]:
    known = {get_target(name).SKILLS_DIR["project"] for name in TARGETS}
    return sorted(known - set(used))


def with_shared_skills(places: Places, name: str, others: Iterable[str]) -> Places:
    """The places with the skills folder that is used when `others` are installed as well."""
    target, folder = get_target(name), skills_folder(name, others)
    if folder == target.SKILLS_DIR["project"]:
        return places
    # The folders below home bear the same names as those of a project.
    return replace(places, skills_dir=places.root / folder)


def targets_for_user(records: Iterable[InstallRecord]) -> set[str]:
    """Targets that are installed for all projects."""
    return {record.target for record in records if record.scope == "user"}


# -- notes --------------------------------------------------------------------------------------


def notes_of_others(
    target: Target, root: Path, others: Iterable[str], coming: Collection[str]
) -> Target | None:
    """An editor installed in the same folder whose notes hold our block, or soon will, and which
    this one reads too. (A teammate may have committed that editor's hooks but not its notes.)"""
    for other in map(get_target, sorted(others)):
        if other.NAME == target.NAME or other.INDEX_FILE.get("project") not in target.READS_NOTES:
            continue
        if other.NAME in coming or has_block(places_for(other, "project", root)):
            return other
    return None


def targets_in(root: Path, records: Iterable[InstallRecord]) -> set[str]:
    """Targets whose files stand in the folder `root`, on record or not."""
    on_record = {r.target for r in records if r.scope != "user" and r.root == str(root)}
    return on_record | {install.target for install in recognised_installs(root)}


# -- moving links -------------------------------------------------------------------------------


def settle_links(
    paths: StatePaths, project: Path, links: Iterable[tuple[str, Path]]
) -> list[tuple[str, str]]:
    """Bring a project's links into the folders that its installs of now use; returns report rows.

    links: (name, library folder) of what was last published there.
    """
    record = load_project(paths, project_key(project))
    installs: list[ProjectInstall] = [*(record.installs if record else ())]
    every = load_all(paths)
    names = {i.target for i in (*installs, *recognised_installs(project))}
    used = skills_folders(names | targets_for_user(every))
    ours = {*(record.made_dirs if record else ()), *(d for r in every for d in r.made_dirs)}
    rows: list[tuple[str, str]] = []
    made: list[str] = []
    tops = [project, *(worktree_root(Path(i.root)) for i in installs)]
    for top in dict.fromkeys(top for top in tops if top.is_dir()):
        for name, source in links:
            for folder in (top / folder for folder in used):
                made += map(str, missing_folders(folder / name))
                if put_link(folder, name, source, source.parent) in ("linked", "copied"):
                    rows.append((str(folder / name), "linked"))
        for folder in (top / folder for folder in unused_skills_folders(used)):
            for name, source in links:
                if take_link(folder, name, source.parent):
                    rows.append((str(folder / name), "removed"))
            remove_empty_folders(f for f in (folder, folder.parent) if str(f) in ours)
    if made:
        register(paths, project, made_dirs=tuple(dict.fromkeys(made)))
    return rows
