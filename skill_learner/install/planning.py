"""What an install is about to do to which file; nothing is written here."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from skill_learner.errors import InstallError
from skill_learner.hook_runtime import launcher
from skill_learner.install import git_exclude, notices, records, settings_file
from skill_learner.install.changes import Change
from skill_learner.install.exclusions import exclude_lines, published_names
from skill_learner.install.index_text import current_index, index_changes, index_layout
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
    places_for,
    read_if_there,
)
from skill_learner.install.records import FileRecord, InstallRecord, sha256
from skill_learner.install.seed import is_our_seed, seed_skill
from skill_learner.install.sharing import targets_for_user, targets_in, with_shared_skills
from skill_learner.install.undo import without_ours
from skill_learner.paths import StatePaths
from skill_learner.project import (
    ProjectInstall,
    git_exclude_file,
    load_project,
    project_key,
    project_root,
    worktree_root,
)
from skill_learner.targets import get_target
from skill_learner.targets.protocol import Target


@dataclass(frozen=True)
class InstallWish:
    """What is asked for. rules: one of the target's RULES; None keeps what was chosen before."""

    target: str
    scope: Scope
    folder: Path
    rules: str | None


@dataclass(frozen=True)
class InstallPlan:
    """What an install is about to do. known: what earlier installs recorded of each file in this
    folder; mine: those of this target. others: targets whose files stand in the same folder. kept:
    files on record for other installs. rules: layout of the index that was chosen, or ""."""

    target: Target
    places: Places
    paths: StatePaths
    interpreter: Path
    known: Mapping[str, FileRecord]
    mine: Mapping[str, FileRecord]
    made_dirs: tuple[str, ...]
    others: frozenset[str]
    coming: frozenset[str]
    kept: frozenset[str]
    rules: str
    notes: list[str]

    @property
    def left_seeds(self) -> list[Path]:
        """Seed skills of ours in folders that this target no longer uses."""
        return [
            Path(file.path)
            for file in self.mine.values()
            if file.kind == "seed_skill"
            and file.path != str(self.places.seed_skill)
            and file.path not in self.kept
        ]


def plan_install(
    wish: InstallWish, paths: StatePaths, coming: Iterable[str]
) -> tuple[InstallPlan, list[Change]]:
    """The plan, and its changes in the order of writing. coming: targets about to be installed in
    the same folder. Raises InstallError when a file cannot be changed safely."""
    module = get_target(wish.target)
    places = places_for(module, wish.scope, wish.folder)
    every = records.load_all(paths)
    own = records.load(paths, wish.target, wish.scope, places.root)
    here = [r for r in every if r.root == str(places.root)]
    others = frozenset((*targets_in(places.root, every), *coming)) - {wish.target}
    for_user = targets_for_user(every)
    if wish.scope == "user":
        others = frozenset((*for_user, *coming)) - {wish.target}
    plan = InstallPlan(
        module,
        with_shared_skills(places, wish.target, others | for_user),
        paths,
        hook_interpreter(),
        known={f.path: f for r in (*here, *([own] if own else [])) for f in r.files},
        mine={f.path: f for r in here if _is_of(r, wish) for f in r.files},
        made_dirs=tuple(d for r in here for d in r.made_dirs),
        others=others,
        coming=frozenset(coming),
        kept=frozenset(f.path for r in every if r != own for f in r.files),
        rules=_layout_of(module, wish.rules) or (own.rules if own else ""),
        notes=[],
    )
    changes = _planned(plan)
    for change in changes:
        anywhere = change.kind in ("launcher", "exclude")
        check_place(change.path, () if anywhere else places.boundary)
    plan.notes.extend(notices.install_notes(module, places, (r for r in every if r != own)))
    return plan, changes


def _is_of(record: InstallRecord, wish: InstallWish) -> bool:
    """Of this target, and for all projects or not as it is: the home folder may be both."""
    same_reach = (record.scope == "user") == (wish.scope == "user")
    return record.target == wish.target and same_reach


def _layout_of(target: Target, rules: str | None) -> str:
    if rules is None:
        return ""
    if rules not in target.RULES:
        known = ", ".join(target.RULES) or "none"
        raise InstallError(
            f"{target.TITLE} has no choice of rules {rules!r}", f"Known for it: {known}."
        )
    return target.RULES[rules]


def _planned(plan: InstallPlan) -> list[Change]:
    """In the order of writing: what makes the hooks fire comes last."""
    changes = [_launcher(plan), *_seed(plan), *_index(plan), *_exclude(plan), _settings(plan)]
    return [change for change in changes if change is not None]


def _launcher(plan: InstallPlan) -> Change | None:
    if os.name == "nt":
        return None
    path = launcher_path()
    after = rendered_launcher(plan.interpreter, plan.paths)
    what = f"starts {plan.interpreter}"
    return Change(path, "launcher", read_if_there(path), after, what, private=True)


def _seed(plan: InstallPlan) -> list[Change]:
    path = plan.places.seed_skill
    present, known = read_if_there(path), plan.known.get(str(path))
    edited = known is not None and present is not None and sha256(present) != known.after
    if present is not None and present != seed_skill() and (edited or not is_our_seed(present)):
        plan.notes.append(f"{path} is yours (not as skill-learner wrote it), so it was left alone.")
        return []
    wanted = Change(path, "seed_skill", present, seed_skill(), "skill that recalls and saves")
    return [*_seeds_elsewhere(plan), wanted]


def _seeds_elsewhere(plan: InstallPlan) -> list[Change]:
    """Ours in another folder that the editor reads would be listed a second time."""
    changes = []
    for path in plan.left_seeds:
        present = read_if_there(path)
        if present is not None:
            known = plan.mine[str(path)]
            after = without_ours("seed_skill", present, path, plan.target, known)
            changes.append(Change(path, "seed_skill", present, after, ""))
    return changes


def _index(plan: InstallPlan) -> list[Change]:
    places = plan.places
    key = "user" if places.scope == "user" else project_key(project_root(places.root))
    layout = index_layout(plan.target, places, plan.others, plan.rules, plan.coming)
    return index_changes(plan.target, places, current_index(plan.paths, key), layout)


def _exclude(plan: InstallPlan) -> list[Change]:
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
    installs = (*(record.installs if record else ()), project_install(plan))
    names = published_names(plan.paths, project_key(project))
    before = read_if_there(path)
    lines = exclude_lines(plan.paths, project, names, installs)
    after = git_exclude.put_lines(before or b"", lines, path)
    return [Change(path, "exclude", before, after, "keeps learned skills out of git")]


def _settings(plan: InstallPlan) -> Change:
    path = plan.places.settings
    before = read_if_there(path)
    if before is not None and not before.strip():
        plan.notes.append(f"{path} was empty, which editors cannot read; it now holds our hooks.")
    entries = {event: _entry(plan, event) for event in plan.target.EVENTS}
    after = settings_file.with_hooks(plan.target, before, entries, path)
    return Change(path, "settings", before, after, f"{len(entries)} hooks")


def _entry(plan: InstallPlan, event: str) -> Mapping[str, Any]:
    if os.name != "nt":
        return plan.target.settings_entry(event)
    launch = launcher.launch_arguments(
        plan.interpreter, entry_script(), plan.paths.root.absolute(), package_root()
    )
    return plan.target.windows_entry(event, launch)


def project_install(plan: InstallPlan) -> ProjectInstall:
    return ProjectInstall(plan.target.NAME, plan.places.scope, str(plan.places.root))
