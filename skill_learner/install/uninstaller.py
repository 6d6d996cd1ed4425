"""Taking an install out again: from what was recorded, or from what is recognised as ours."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from pathlib import Path

from skill_learner.git import is_git_tracked
from skill_learner.install import git_exclude, records
from skill_learner.install.changes import Change, carry_out, remove_empty_folders
from skill_learner.install.exclusions import exclude_lines, published_names
from skill_learner.install.launcher_file import launcher_path, read_launcher
from skill_learner.install.places import (
    Places,
    Scope,
    check_place,
    places_for,
    read_if_there,
    scopes_of,
)
from skill_learner.install.purge import check_purge, purge_state
from skill_learner.install.records import InstallRecord
from skill_learner.install.report import InstallReport
from skill_learner.install.undo import without_ours
from skill_learner.install.unpublish import unpublish_project, unpublish_user
from skill_learner.paths import StatePaths
from skill_learner.project import (
    ProjectInstall,
    git_exclude_file,
    load_project,
    project_key,
    project_root,
    register,
)
from skill_learner.targets import get_target
from skill_learner.targets.protocol import Target


def uninstall(
    target: str,
    scope: Scope | None,
    project_dir: Path,
    paths: StatePaths,
    *,
    purge: bool = False,
) -> InstallReport:
    """Make the editor's files what they were before init, or, where others changed them since,
    take only ours out. Works without records too, by recognising our entries and markers.

    scope: None takes out what is in the project's folder (project and local). purge: the state
    folder with the library goes too; without it both stay. Raises InstallError, with nothing
    written, when a file can no longer be understood.
    """
    module = get_target(target)
    scopes = (scope,) if scope else tuple(s for s in scopes_of(module) if s != "user")
    every = records.load_all(paths)
    root = Path(os.path.expanduser("~") if scope == "user" else os.path.realpath(project_dir))
    going = [r for r in every if (r.target, r.root) == (target, str(root)) and r.scope in scopes]
    staying = [r for r in every if r not in going]
    if purge:
        check_purge(paths, staying)
    if going and scope != "user" and not root.is_dir():
        return _forgotten(paths, going)
    places = [places_for(module, s, project_dir) for s in scopes]
    links_stay = _links_stay(places[0], staying)
    changes = _planned(module, places, going, staying)
    changes += _exclude(paths, module, places, going, links_stay)
    for change in (c for c in changes if c.before != c.after):
        check_place(change.path, ())
    carry_out(changes)
    rows = [change.row for change in changes]
    if not links_stay:
        rows += _unpublish(paths, places[0], staying)
    rows += _remove_folders(places, going)
    _forget(paths, module, places, going)
    rows += _remove_launcher(paths, staying)
    notes = _notes(module, scope, places[0].root, changes, staying)
    if purge:
        more_rows, more_notes = purge_state(paths)
        rows, notes = rows + more_rows, notes + more_notes
    elif paths.root.is_dir():
        notes.append(f"{paths.root} stays, with everything in it (--purge removes it).")
    return InstallReport(tuple(rows), tuple(notes))


def _unpublish(
    paths: StatePaths, place: Places, staying: Sequence[InstallRecord]
) -> list[tuple[str, str]]:
    if place.scope == "user":
        return unpublish_user(paths, staying)
    return unpublish_project(paths, project_root(place.root))


def _remove_folders(
    places: Iterable[Places], going: Iterable[InstallRecord]
) -> list[tuple[str, str]]:
    folders = [d for record in going for d in record.made_dirs]
    folders += [str(place.seed_skill.parent) for place in places]
    return [(str(folder), "removed: empty") for folder in remove_empty_folders(folders)]


def _planned(
    target: Target,
    places: Sequence[Places],
    going: Sequence[InstallRecord],
    staying: Iterable[InstallRecord],
) -> list[Change]:
    """Settings first, so that no hook fires on what is half gone."""
    kept = {f.path for r in staying for f in r.files}
    known = {f.path: f for r in going for f in r.files}
    candidates: dict[Path, str] = {}
    for place in places:
        candidates[place.settings] = "settings"
    for record in going:
        candidates.update((Path(f.path), f.kind) for f in record.files if f.kind == "seed_skill")
    for place in places:
        if place.index:
            candidates[place.index] = "index_block"
        candidates[place.seed_skill] = "seed_skill"
        if place.index_file:
            candidates[place.index_file] = "index_file"
    changes = []
    for path, kind in candidates.items():
        before = None if str(path) in kept else read_if_there(path)
        if before is not None:
            after = without_ours(kind, before, path, target, known.get(str(path)))
            what = "" if after is None else "ours is out"
            changes.append(Change(path, kind, before, after, what))
    return changes


def _exclude(
    paths: StatePaths,
    target: Target,
    places: Sequence[Places],
    going: Iterable[InstallRecord],
    links_stay: bool,
) -> list[Change]:
    """The exclude file holds what the installs and links that stay need, or nothing of ours."""
    path = git_exclude_file(places[0].root) if places[0].scope != "user" else None
    before = read_if_there(path) if path else None
    if path is None or before is None:
        return []
    project = project_root(places[0].root)
    gone = [ProjectInstall(target.NAME, p.scope, str(p.root)) for p in places]
    record = load_project(paths, project_key(project))
    installs = [i for i in (record.installs if record else ()) if i not in gone]
    names = published_names(paths, project_key(project)) if links_stay else ()
    lines = exclude_lines(paths, project, names, installs)
    if lines:
        after: bytes | None = git_exclude.put_lines(before, lines, path)
    else:
        known = next((f for r in going for f in r.files if f.path == str(path)), None)
        after = without_ours("exclude", before, path, target, known)
    return [Change(path, "exclude", before, after, "" if after is None else "ours is out")]


def _links_stay(place: Places, staying: Iterable[InstallRecord]) -> bool:
    """Whether an install, of any editor, is left that keeps this project's (or the user's) links up
    to date."""
    others = tuple(staying)
    if any(r.scope == "user" for r in others):
        return True
    if place.scope == "user":
        return False
    project = project_root(place.root)
    return any(project_root(Path(r.root)) == project for r in others)


def _forget(
    paths: StatePaths,
    target: Target,
    places: Sequence[Places],
    going: Sequence[InstallRecord],
) -> None:
    """The records last: until then a crash can be made good by running it again. Folders that we
    made and that links of another install still need are left for its end."""
    left = tuple(d for record in going for d in record.made_dirs if os.path.isdir(d))
    for place in places:
        root = project_root(place.root)
        if place.scope != "user" and load_project(paths, project_key(root)):
            gone = ProjectInstall(target.NAME, place.scope, str(place.root))
            register(paths, root, drop=gone, made_dirs=left)
    for record in going:
        records.remove(paths, record)


def _forgotten(paths: StatePaths, going: Sequence[InstallRecord]) -> InstallReport:
    for record in going:
        records.remove(paths, record)
    rows = tuple((record.root, "the folder is gone; forgotten") for record in going)
    return InstallReport(rows, ("If it was moved, run `skill-learner project relink OLD NEW`.",))


def _remove_launcher(paths: StatePaths, staying: Sequence[InstallRecord]) -> list[tuple[str, str]]:
    """The launcher is every install's; another state folder's is not ours to remove."""
    found = read_launcher()
    if staying or found is None or found.state_dir not in ("", str(paths.root.absolute())):
        return []
    launcher_path().unlink(missing_ok=True)
    if launcher_path().parent != paths.root:
        remove_empty_folders([launcher_path().parent])
    return [(str(launcher_path()), "removed")]


def _is_shared(root: Path, path: Path) -> bool:
    return path.is_relative_to(root) and is_git_tracked(root, path.relative_to(root).as_posix())


def _notes(
    target: Target,
    scope: Scope | None,
    root: Path,
    changes: Iterable[Change],
    staying: Iterable[InstallRecord],
) -> list[str]:
    notes = []
    for change in changes:
        if change.kind == "seed_skill" and change.after is not None:
            notes.append(f"{change.path} was edited or is not ours, so it was left.")
        if change.before != change.after and _is_shared(root, change.path):
            notes.append(
                f"{change.path} is tracked by git: committing this change takes skill-learner out"
                " for everyone who works in the project."
            )
    if scope != "user" and any(r.scope == "user" and r.target == target.NAME for r in staying):
        notes.append("Still installed for all projects; `uninstall --user` takes that out.")
    return notes
