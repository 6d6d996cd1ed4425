"""What is installed where, and whether it works; for `status` and `doctor`."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from skill_learner.errors import InstallError
from skill_learner.install import json_splice, markdown_block, notices, records, settings_file
from skill_learner.install.launcher_file import LauncherFile, read_launcher
from skill_learner.install.places import Places, Scope, places_for, read_if_there, scopes_of
from skill_learner.install.seed import is_our_seed
from skill_learner.install.sharing import targets_for_user, targets_in, with_shared_skills
from skill_learner.paths import StatePaths
from skill_learner.project import load_project, project_key, project_root
from skill_learner.targets import TARGETS, get_target
from skill_learner.targets.protocol import Target

_HEAD = 4096


@dataclass(frozen=True)
class ScopeStatus:
    """One target in one scope.

    installed: our hooks stand in its settings. complete: all of them, of this version, and index
    block and seed skill are there too. files: those of its files that exist and hold something of
    ours. disabled_by: settings files that switch all hooks off. launcher_alive: what the hooks
    start is there. last_fired: unix time of the newest journal of this editor (for this project,
    but for scope `user`), None when there is none. problems: faults in words. not_run: why the
    editor, asked, would not run hooks that are there.
    """

    target: str
    scope: Scope
    root: str
    installed: bool
    complete: bool
    files: tuple[str, ...]
    missing: tuple[str, ...]
    disabled_by: tuple[str, ...]
    launcher: LauncherFile | None
    launcher_alive: bool
    last_fired: float | None
    on_record: bool
    problems: tuple[str, ...]
    notes: tuple[str, ...]
    not_run: tuple[str, ...]


def installation_status(paths: StatePaths, project_dir: Path) -> list[ScopeStatus]:
    """Every target and scope as seen from `project_dir`, installed or not. Never writes."""
    found = []
    every = records.load_all(paths)
    for name in TARGETS:
        target = get_target(name)
        for scope in scopes_of(target):
            own = places_for(target, scope, project_dir)
            others = targets_for_user(every)
            if scope != "user":
                others |= targets_in(own.root, every)
            places = with_shared_skills(own, name, others)
            if not _has_seed(places) and _has_seed(own):
                places = own  # from before an editor came for the user that shares its folder
            found.append(_scope_status(paths, target, places, project_dir))
    return found


def _scope_status(
    paths: StatePaths, target: Target, places: Places, project_dir: Path
) -> ScopeStatus:
    problems: list[str] = []
    ours: dict[str, list[object]] = {}
    try:
        data = read_if_there(places.settings) or b""
        ours = json_splice.events_of_ours(data, target.is_our_hook, places.settings)
    except InstallError as error:
        problems.append(error.message)
    files = [str(places.settings)] if ours else []
    files += _files_of_ours(places, problems)
    missing = (
        [e for e in target.EVENTS if ours.get(e) != [target.settings_entry(e)]] if ours else []
    )
    if os.name == "nt":
        missing = [e for e in missing if e not in ours]
    launcher = read_launcher()
    if ours and os.name != "nt":
        problems += _launcher_problems(launcher)
    if missing:
        problems.append(f"hooks missing or of another version: {', '.join(missing)}")
    if ours:
        problems += [*_settings_problems(target, places), *_notes_problems(target, places)]
    expected = {str(p) for p in (places.settings, places.index, places.seed_skill) if p}
    note = notices.below_repository_note(target, places)
    return ScopeStatus(
        target=target.NAME,
        scope=places.scope,
        root=str(places.root),
        installed=bool(ours),
        complete=bool(ours) and not missing and expected <= set(files),
        files=tuple(files),
        missing=tuple(missing),
        disabled_by=tuple(notices.disabled_in(target, places)),
        launcher=launcher,
        launcher_alive=launcher is not None and launcher.is_alive,
        last_fired=_last_fired(paths, target, places),
        on_record=records.load(paths, target.NAME, places.scope, places.root) is not None,
        problems=tuple(problems),
        notes=(note,) if note else (),
        not_run=_not_run(target, places, project_dir) if ours else (),
    )


def _not_run(target: Target, places: Places, project_dir: Path) -> tuple[str, ...]:
    folder = os.path.realpath(project_dir if places.scope == "user" else places.root)
    return tuple(target.hooks_not_run(str(places.settings), folder))


def settings_warnings(name: str, scope: Scope, project_dir: Path) -> list[str]:
    """Why an editor would not read the settings that are there, whoever wrote them; to be said
    before ours are added."""
    target = get_target(name)
    return _settings_problems(target, places_for(target, scope, project_dir))


def _settings_problems(target: Target, places: Places) -> list[str]:
    return [
        f"{target.TITLE} ignores all of {places.settings}, our hooks included: {fault}"
        for fault in settings_file.faults(target, places.settings)
    ]


def _notes_problems(target: Target, places: Places) -> list[str]:
    """Whether our block stands where the editor no longer reads."""
    data = (read_if_there(places.index) or b"") if places.index and target.NOTES_LIMIT else b""
    if data.rfind(markdown_block.STYLE.end) < target.NOTES_LIMIT:
        return []
    return [
        f"{places.index}: the index of skills stands behind the first {target.NOTES_LIMIT} bytes, "
        f"and {target.TITLE} reads no more; shorten the file"
    ]


def _has_seed(places: Places) -> bool:
    try:
        return is_our_seed(read_if_there(places.seed_skill) or b"")
    except InstallError:
        return False


def _files_of_ours(places: Places, problems: list[str]) -> list[str]:
    found = []
    try:
        index = places.index
        notes = read_if_there(index) if index else None
        if index and notes is not None and markdown_block.read_block(notes, index) is not None:
            found.append(str(index))
        seed = read_if_there(places.seed_skill)
        if seed is not None and is_our_seed(seed):
            found.append(str(places.seed_skill))
        if places.index_file and places.index_file.is_file():
            found.append(str(places.index_file))
    except InstallError as error:
        problems.append(error.message)
    return found


def _launcher_problems(launcher: LauncherFile | None) -> list[str]:
    if launcher is None:
        return ["the launcher hook.sh is missing, so hooks do nothing; run init again"]
    if not launcher.is_alive:
        return [
            f"the launcher starts {launcher.interpreter} on {launcher.entry}, and one of them is "
            "gone; run init again"
        ]
    return []


def _last_fired(paths: StatePaths, target: Target, places: Places) -> float | None:
    """By the head of each journal, newest first: every record names editor and project key."""
    editor = b'"ed":"%s"' % target.NAME.encode("ascii")
    keys: list[str] = []
    if places.scope != "user":
        key = project_key(project_root(places.root))
        record = load_project(paths, key)
        keys = [key, *(record.aliases if record else ())]
    aged = []
    for path in paths.journal_dir.glob("*.jsonl"):
        try:
            aged.append((path.stat().st_mtime, path))
        except OSError:
            continue
    for modified, path in sorted(aged, reverse=True):
        try:
            with open(path, "rb") as handle:
                head = handle.read(_HEAD)
        except OSError:
            continue
        told = not keys or any(b'"k":"%s"' % key.encode("ascii") in head for key in keys)
        if editor in head and told:
            return modified
    return None
