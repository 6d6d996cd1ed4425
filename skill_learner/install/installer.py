"""Installing into an editor: every file planned and checked first, then written, settings last.

So a fault leaves everything as it was, and a crash leaves files that are each old or new; running
it again completes the work.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable
from pathlib import Path

import skill_learner
from skill_learner import files
from skill_learner.hook_runtime import launcher
from skill_learner.install import records, uninstaller
from skill_learner.install.changes import Change, carry_out, remove_empty_folders
from skill_learner.install.exclusions import published_links
from skill_learner.install.launcher_file import (
    launcher_path,
    package_root,
)
from skill_learner.install.places import (
    SCOPES,
    Places,
    Scope,
    missing_folders,
)
from skill_learner.install.planning import InstallPlan, InstallWish, plan_install, project_install
from skill_learner.install.records import FileRecord, InstallRecord, sha256
from skill_learner.install.report import InstallReport
from skill_learner.install.sharing import (
    settle_links,
)
from skill_learner.install.undo import without_ours
from skill_learner.paths import StatePaths
from skill_learner.project import (
    list_projects,
    project_key,
    project_root,
    register,
)

__all__ = ["InstallReport", "install", "installed", "uninstall"]


def install(
    target: str,
    scope: Scope,
    project_dir: Path,
    paths: StatePaths,
    *,
    dry_run: bool = False,
    rules: str | None = None,
) -> InstallReport:
    """Register our hooks with an editor, and put index block and seed skill in their places.

    Doing it again changes nothing; an older version's traces are replaced. Editors that are
    installed in the same place already get what they share with this one in one place only. Raises
    InstallError, with nothing written, when any of the files cannot be changed safely.
    rules: one of the target's RULES; None keeps what was chosen before.
    """
    wish = InstallWish(target, scope, project_dir, rules)
    if dry_run:
        return _install(wish, paths, dry_run=True)
    _check(wish, paths)
    with files.locked(paths.root / "publish.lock", timeout=60):
        return _install(wish, paths, dry_run=False)


def _check(wish: InstallWish, paths: StatePaths) -> None:
    """Raise what forbids the install before a lock file is the first thing written."""
    _install(wish, paths, dry_run=True)


def _install(wish: InstallWish, paths: StatePaths, *, dry_run: bool) -> InstallReport:
    planned = plan_install(wish, paths, ())
    neighbours = _neighbours(planned[0], paths)
    for neighbour in neighbours:  # a fault of theirs must show before anything is written
        plan_install(neighbour, paths, (wish.target,))
    reports = [_carried_out(*planned, dry_run=dry_run)]
    for neighbour in neighbours:
        reports.append(
            _carried_out(*plan_install(neighbour, paths, (wish.target,)), dry_run=dry_run)
        )
    rows = _joined(reports)
    if not dry_run:
        rows += _settled(planned[0].places, paths)
    return InstallReport(rows, tuple(planned[0].notes), dry_run)


def uninstall(
    target: str,
    scope: Scope | None,
    project_dir: Path,
    paths: StatePaths,
    *,
    purge: bool = False,
) -> InstallReport:
    """See `uninstaller.uninstall`. Editors that stay get back for themselves what they shared."""
    if purge or not paths.root.is_dir():  # a lock file would be in the way of its folder's end
        return _uninstall(target, scope, project_dir, paths, purge=purge)
    with files.locked(paths.root / "publish.lock", timeout=60):
        return _uninstall(target, scope, project_dir, paths, purge=False)


def _uninstall(
    target: str, scope: Scope | None, project_dir: Path, paths: StatePaths, *, purge: bool
) -> InstallReport:
    report = uninstaller.uninstall(target, scope, project_dir, paths, purge=purge)
    root = Path(os.path.expanduser("~") if scope == "user" else os.path.realpath(project_dir))
    reports = []
    rows: tuple[tuple[str, str], ...] = ()
    for other in records.load_all(paths):
        if other.target == target or Path(other.root) != root or not root.is_dir():
            continue
        wish = InstallWish(other.target, _scope(other), root, None)
        plan, changes = plan_install(wish, paths, ())
        reports.append(_carried_out(plan, changes, dry_run=False))
        rows = _settled(plan.places, paths)
    changed = [row for row in _joined(reports) if row[1] != "unchanged"]
    return InstallReport((*report.rows, *changed, *rows), report.notes)


def _neighbours(plan: InstallPlan, paths: StatePaths) -> list[InstallWish]:
    """Installs of other editors in the same folder, which this one may change."""
    return [
        InstallWish(r.target, _scope(r), Path(r.root), None)
        for r in records.load_all(paths)
        if r.target != plan.target.NAME
        and r.root == str(plan.places.root)
        and (r.scope == "user") == (plan.places.scope == "user")
    ]


def _scope(record: InstallRecord) -> Scope:
    return next(scope for scope in SCOPES if scope == record.scope)


def _carried_out(plan: InstallPlan, changes: list[Change], *, dry_run: bool) -> list[Change]:
    if not dry_run:
        _write(plan, changes)
    return changes


def _joined(reports: Iterable[list[Change]]) -> tuple[tuple[str, str], ...]:
    """One row for each file, the last that is no "unchanged"."""
    rows: dict[str, str] = {}
    for change in (change for changes in reports for change in changes):
        path, what = change.row
        if what != "unchanged" or path not in rows:
            rows[path] = what
    return tuple(rows.items())


def _settled(places: Places, paths: StatePaths) -> tuple[tuple[str, str], ...]:
    projects = [project_root(places.root)]
    if places.scope == "user":
        projects = [Path(r.path) for r in list_projects(paths) if Path(r.path).is_dir()]
    rows: list[tuple[str, str]] = []
    for project in projects:
        rows += settle_links(paths, project, published_links(paths, project_key(project)))
    return tuple(rows)


def installed(paths: StatePaths) -> list[InstallRecord]:
    """Every install that this state folder knows of."""
    return records.load_all(paths)


# -- writing ------------------------------------------------------------------------------------


def _write(plan: InstallPlan, changes: list[Change]) -> None:
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
        rules=plan.rules,
    )
    records.save(plan.paths, record)
    if places.scope != "user":
        register(plan.paths, project_root(places.root), add=project_install(plan))
    files.ensure_private_dir(launcher_path().parent)
    carry_out(changes)
    left = [folder for seed in plan.left_seeds for folder in map(str, seed.parents)]
    remove_empty_folders(folder for folder in record.made_dirs if folder in left)
    launcher.compile_hot_modules(package_root())


def _file_records(plan: InstallPlan, changes: list[Change]) -> list[FileRecord]:
    return [
        _file_record(plan, change, change.after)
        for change in changes
        if change.kind != "launcher" and change.after is not None
    ]


def _left_records(plan: InstallPlan, changes: list[Change]) -> list[FileRecord]:
    """What earlier installs recorded of files that this one leaves alone (an edited seed skill, an
    index file that is no longer imported)."""
    written = {str(change.path) for change in changes}
    return [f for p, f in plan.mine.items() if p not in written and f.kind != "settings"]


def _file_record(plan: InstallPlan, change: Change, after: bytes) -> FileRecord:
    known = plan.known.get(str(change.path))
    before = change.before
    if before is not None and not (known and before == known.before):
        before = without_ours(change.kind, before, change.path, plan.target, known)
    return FileRecord(str(change.path), change.kind, before, sha256(after))
