"""Installing into an editor: every file planned and checked first, then written, settings last.

So a fault leaves everything as it was, and a crash leaves files that are each old or new; running
it again completes the work.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from types import ModuleType
from typing import Any

import skill_learner
from skill_learner import files
from skill_learner.hook_runtime import launcher
from skill_learner.install import git_exclude, json_splice, markdown_block, notices, records
from skill_learner.install.changes import Change, carry_out
from skill_learner.install.exclusions import exclude_lines, published_names
from skill_learner.install.index_text import block_body, current_index, imports_index
from skill_learner.install.interpreter import hook_interpreter
from skill_learner.install.launcher_file import (
    entry_script,
    launcher_path,
    package_root,
    rendered_launcher,
)
from skill_learner.install.places import (
    Places,
    Scope,
    check_place,
    missing_folders,
    places_for,
    read_if_there,
)
from skill_learner.install.records import FileRecord, InstallRecord, sha256
from skill_learner.install.report import InstallReport
from skill_learner.install.seed import is_our_seed, seed_skill
from skill_learner.install.undo import without_ours
from skill_learner.install.uninstaller import uninstall
from skill_learner.paths import StatePaths
from skill_learner.project import (
    ProjectInstall,
    git_exclude_file,
    load_project,
    project_key,
    project_root,
    register,
    worktree_root,
)
from skill_learner.targets import get_target

__all__ = ["InstallReport", "install", "installed", "uninstall"]


@dataclass(frozen=True)
class _Plan:
    """What an install is about to do. known: what earlier installs recorded of each file."""

    target: ModuleType
    places: Places
    paths: StatePaths
    interpreter: Path
    known: Mapping[str, FileRecord]
    made_dirs: tuple[str, ...]
    notes: list[str]


def install(
    target: str, scope: Scope, project_dir: Path, paths: StatePaths, *, dry_run: bool = False
) -> InstallReport:
    """Register our hooks with an editor, and put index block and seed skill in their places.

    Doing it again changes nothing; an older version's traces are replaced. Raises InstallError,
    with nothing written, when any of the files cannot be changed safely.
    """
    module = get_target(target)
    places = places_for(module, scope, project_dir)
    every = records.load_all(paths)
    own = records.load(paths, target, scope, places.root)
    here = [r for r in every if r.root == str(places.root)]
    plan = _Plan(
        module,
        places,
        paths,
        hook_interpreter(),
        known={f.path: f for r in (*here, *([own] if own else [])) for f in r.files},
        made_dirs=tuple(d for r in here for d in r.made_dirs),
        notes=[],
    )
    changes = _planned(plan)
    for change in changes:
        anywhere = change.kind in ("launcher", "exclude")
        check_place(change.path, () if anywhere else places.boundary)
    plan.notes.extend(notices.install_notes(module, places, (r for r in every if r != own)))
    if not dry_run:
        _write(plan, changes)
    return InstallReport(tuple(c.row for c in changes), tuple(plan.notes), dry_run)


def installed(paths: StatePaths) -> list[InstallRecord]:
    """Every install that this state folder knows of."""
    return records.load_all(paths)


# -- planning -----------------------------------------------------------------------------------


def _planned(plan: _Plan) -> list[Change]:
    """In the order of writing: what makes the hooks fire comes last."""
    changes = [_launcher(plan), *_seed(plan), *_index(plan), *_exclude(plan), _settings(plan)]
    return [change for change in changes if change is not None]


def _launcher(plan: _Plan) -> Change | None:
    if os.name == "nt":
        return None
    path = launcher_path()
    after = rendered_launcher(plan.interpreter, plan.paths)
    what = f"starts {plan.interpreter}"
    return Change(path, "launcher", read_if_there(path), after, what, private=True)


def _seed(plan: _Plan) -> list[Change]:
    path = plan.places.seed_skill
    present, known = read_if_there(path), plan.known.get(str(path))
    edited = known is not None and present is not None and sha256(present) != known.after
    if present is not None and present != seed_skill() and (edited or not is_our_seed(present)):
        plan.notes.append(f"{path} is yours (not as skill-learner wrote it), so it was left alone.")
        return []
    return [Change(path, "seed_skill", present, seed_skill(), "skill that recalls and saves")]


def _index(plan: _Plan) -> list[Change]:
    places = plan.places
    key = "user" if places.scope == "user" else project_key(project_root(places.root))
    index = current_index(plan.paths, key)
    notes = read_if_there(places.index)
    after = markdown_block.put_block(notes or b"", block_body(places, index), places.index)
    changes = [Change(places.index, "index_block", notes, after, "index of learned skills")]
    if places.index_file and imports_index(places):
        before = read_if_there(places.index_file)
        after = index.encode("utf-8")
        changes.insert(
            0, Change(places.index_file, "index_file", before, after, "index of learned skills")
        )
    return changes


def _exclude(plan: _Plan) -> list[Change]:
    places = plan.places
    if places.scope == "user":
        return []
    path = git_exclude_file(places.root)
    if path is None:
        if os.path.lexists(worktree_root(places.root) / ".git"):
            plan.notes.append("git did not answer, so learned skills will show in `git status`.")
        return []
    project = project_root(places.root)
    record = load_project(plan.paths, project_key(project))
    installs = (*(record.installs if record else ()), _project_install(plan))
    names = published_names(plan.paths, project_key(project))
    before = read_if_there(path)
    lines = exclude_lines(plan.paths, project, names, installs)
    after = git_exclude.put_lines(before or b"", lines, path)
    return [Change(path, "exclude", before, after, "keeps learned skills out of git")]


def _settings(plan: _Plan) -> Change:
    path = plan.places.settings
    before = read_if_there(path)
    if before is not None and not before.strip():
        plan.notes.append(f"{path} was empty, which editors cannot read; it now holds our hooks.")
    entries = {event: _entry(plan, event) for event in plan.target.EVENTS}
    after = json_splice.insert_entries(before, entries, plan.target.is_our_hook, path)
    return Change(path, "settings", before, after, f"{len(entries)} hooks")


def _entry(plan: _Plan, event: str) -> dict[str, Any]:
    if os.name != "nt":
        entry: dict[str, Any] = plan.target.settings_entry(event)
        return entry
    launch = launcher.launch_arguments(
        plan.interpreter, entry_script(), plan.paths.root.absolute(), package_root()
    )
    return {"hooks": [plan.target.exec_form(event, launch)]}


def _project_install(plan: _Plan) -> ProjectInstall:
    return ProjectInstall(plan.target.NAME, plan.places.scope, str(plan.places.root))


# -- writing ------------------------------------------------------------------------------------


def _write(plan: _Plan, changes: list[Change]) -> None:
    """The record first: with it, a crash at any later point can still be undone exactly."""
    places = plan.places
    made = [d for c in changes if c.kind != "launcher" for d in missing_folders(c.path)]
    record = InstallRecord(
        target=plan.target.NAME,
        scope=places.scope,
        root=str(places.root),
        files=(*_file_records(plan, changes), *_left_records(plan, changes)),
        made_dirs=tuple(dict.fromkeys((*plan.made_dirs, *map(str, made)))),
        interpreter=str(plan.interpreter),
        version=skill_learner.__version__,
        at=time.time(),
    )
    records.save(plan.paths, record)
    if places.scope != "user":
        register(plan.paths, project_root(places.root), add=_project_install(plan))
    files.ensure_private_dir(launcher_path().parent)
    carry_out(changes)
    launcher.compile_hot_modules(package_root())


def _file_records(plan: _Plan, changes: list[Change]) -> list[FileRecord]:
    return [_file_record(plan, change) for change in changes if change.kind != "launcher"]


def _left_records(plan: _Plan, changes: list[Change]) -> list[FileRecord]:
    """What earlier installs recorded of files that this one leaves alone (an edited seed skill, an
    index file that is no longer imported)."""
    written = {str(change.path) for change in changes}
    return [f for p, f in plan.known.items() if p not in written and f.kind != "settings"]


def _file_record(plan: _Plan, change: Change) -> FileRecord:
    assert change.after is not None
    known = plan.known.get(str(change.path))
    before = change.before
    if before is not None and not (known and before == known.before):
        before = without_ours(change.kind, before, change.path, plan.target, known)
    return FileRecord(str(change.path), change.kind, before, sha256(change.after))
