"""Puts the active skills of a project, or of the user, before the agent."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from skill_learner import files
from skill_learner.errors import InstallError
from skill_learner.install import git_exclude
from skill_learner.install.changes import Change, ChangedMeanwhileError, carry_out
from skill_learner.install.exclusions import exclude_lines, published_links
from skill_learner.install.links import (
    MakeLink,
    make_folder_link,
    put_link,
    take_link,
)
from skill_learner.install.places import (
    SEED_SKILL,
    Places,
    check_place,
    missing_folders,
    places_for,
    read_if_there,
)
from skill_learner.install.recognised import has_block, recognised_installs
from skill_learner.install.records import InstallRecord, load_all
from skill_learner.install.sharing import (
    skills_folders,
    targets_for_user,
    unused_skills_folders,
    with_shared_skills,
)
from skill_learner.models import Skill
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
from skill_learner.publish.index import build_index
from skill_learner.publish.shown import index_changes_in, remembered_lines, skill_folder
from skill_learner.targets import get_target
from skill_learner.targets.protocol import Target

_TRIES = 5


@dataclass(frozen=True)
class PublishReport:
    """linked, removed: skill names. skipped: (name, why) of those not linked. index: whether an
    index block changed. notes: what could not be done, in words; the rest was done."""

    linked: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    skipped: tuple[tuple[str, str], ...] = ()
    index: bool = False
    notes: tuple[str, ...] = ()


def publish(
    project_dir: Path,
    skills: Sequence[Skill],
    paths: StatePaths,
    *,
    token_budget: int,
    listed: Collection[str] | None = None,
    make_link: MakeLink = make_folder_link,
) -> PublishReport:
    """Make a project's index show exactly `skills` (most useful first), and its skills folders
    those of them that are `listed` (names; None: all).

    Links go into the main worktree, and into other worktrees that hold an install of their own;
    the index goes wherever an install put its block. Entries that are not ours are never touched.
    A file that cannot be written safely is left and noted. May run twice at once.
    """
    project = project_root(project_dir)
    key = project_key(project)
    with files.locked(paths.root / "publish.lock", timeout=60):
        record = load_project(paths, key)
        on_record = record.installs if record else ()
        installs = tuple(dict.fromkeys((*on_record, *recognised_installs(project))))
        index = build_index(skills, token_budget, listed)
        work = _Work(paths, key, _listed_of(skills, listed), index, make_link)
        _exclude(work, project, installs)
        here = [i for i in installs if Path(i.root).is_dir()]
        used = skills_folders({i.target for i in installs} | targets_for_user(work.records))
        for folder in dict.fromkeys((project, *(worktree_root(Path(i.root)) for i in here))):
            if folder.is_dir():
                for skills_dir in used:
                    _links(work, folder / skills_dir, (folder, project))
                for skills_dir in unused_skills_folders(used):
                    _take_all(work, folder / skills_dir)
        for name, root in dict.fromkeys((i.target, i.root) for i in here):
            places = places_for(get_target(name), "project", Path(root))
            if any((i.target, i.root) == (name, root) for i in on_record) or has_block(places):
                _index(work, get_target(name), places)
        _remember(work)
        if record is None or set(work.made_dirs) - set(record.made_dirs):
            register(paths, project, made_dirs=tuple(dict.fromkeys(work.made_dirs)))
    return work.report()


def publish_user(
    skills: Sequence[Skill],
    paths: StatePaths,
    *,
    token_budget: int,
    listed: Collection[str] | None = None,
    make_link: MakeLink = make_folder_link,
) -> PublishReport:
    """The same for user-wide skills, in the home folder of each target installed for the user."""
    with files.locked(paths.root / "publish.lock", timeout=60):
        index = build_index(skills, token_budget, listed)
        work = _Work(paths, "user", _listed_of(skills, listed), index, make_link)
        names = targets_for_user(work.records)
        for name in sorted(names):
            places = places_for(get_target(name), "user", Path())
            _links(work, with_shared_skills(places, name, names).skills_dir, ())
            _index(work, get_target(name), places)
        _remember(work)
    return work.report()


def _listed_of(skills: Sequence[Skill], listed: Collection[str] | None) -> Sequence[Skill]:
    return [skill for skill in skills if listed is None or skill.name in listed]


class _Work:
    """One publishing: what it is given (skills: those that are linked), and what came of it."""

    def __init__(
        self,
        paths: StatePaths,
        key: str,
        skills: Sequence[Skill],
        index: str,
        make_link: MakeLink,
    ) -> None:
        self.paths = paths
        self.key = key
        self.index = index
        self.make_link = make_link
        self.earlier = published_links(paths, key)
        self.records: list[InstallRecord] = load_all(paths)
        self.sources = {skill.name: skill_folder(skill) for skill in skills}
        self.linked: set[str] = set()
        self.removed: set[str] = set()
        self.skipped: dict[str, str] = {}
        self.notes: list[str] = []
        self.made_dirs: list[str] = []
        self.index_changed = False

    def report(self) -> PublishReport:
        return PublishReport(
            tuple(name for name in self.sources if name in self.linked),
            tuple(sorted(self.removed)),
            tuple(sorted(self.skipped.items())),
            self.index_changed,
            tuple(self.notes),
        )


def _links(work: _Work, skills_dir: Path, boundary: tuple[Path, ...]) -> None:
    try:
        check_place(skills_dir / SEED_SKILL / "SKILL.md", boundary)
    except InstallError as error:
        work.notes.append(error.message)
        return
    for name, folder in work.earlier:
        if name not in work.sources and take_link(skills_dir, name, folder.parent):
            work.removed.add(name)
    for name, source in work.sources.items():
        if name == SEED_SKILL or not (source / "SKILL.md").is_file():
            why = "the name is the seed skill's" if name == SEED_SKILL else f"{source} is gone"
            work.skipped[name] = why
            continue
        work.made_dirs += map(str, missing_folders(skills_dir / name))
        try:
            outcome = put_link(skills_dir, name, source, source.parent, work.make_link)
        except OSError as error:
            work.skipped[name] = f"{skills_dir / name}: {error.strerror or error}"
            continue
        if outcome == "foreign":
            work.skipped[name] = f"{skills_dir / name} is yours, so it was left alone"
        else:
            work.linked.add(name)


def _take_all(work: _Work, skills_dir: Path) -> None:
    """A folder that an editor reads beside the one we use must not show the same skills."""
    for name, folder in (*work.earlier, *work.sources.items()):
        take_link(skills_dir, name, folder.parent)


def _index(work: _Work, target: Target, places: Places) -> None:
    """Somebody may save the notes at this very moment: then what they saved is taken up."""
    for attempt in range(_TRIES):
        try:
            _write_index(work, target, places)
        except ChangedMeanwhileError as error:
            if attempt + 1 == _TRIES:
                work.notes.append(error.message)
            continue
        except InstallError as error:
            work.notes.append(error.message)
        return


def _write_index(work: _Work, target: Target, places: Places) -> None:
    changes = index_changes_in(work.records, work.index, target, places)
    for change in changes:
        if change.before != change.after:
            check_place(change.path, places.boundary)
            work.index_changed = True
    carry_out(changes)


def _exclude(work: _Work, project: Path, installs: Iterable[ProjectInstall]) -> None:
    """Before the links, so that they never show in `git status`."""
    path = git_exclude_file(project)
    if path is None:
        return
    try:
        before = read_if_there(path)
        lines = exclude_lines(work.paths, project, work.sources, installs)
        after = git_exclude.put_lines(before or b"", lines, path)
        if after != (before or b""):
            check_place(path, ())
            carry_out([Change(path, "exclude", before, after, "skills")])
    except InstallError as error:
        work.notes.append(error.message)


def _remember(work: _Work) -> None:
    """For the hook, which gives it to a fresh worktree, and for the next publishing. What is not
    linked here because the entry is the user's is not given elsewhere either."""
    folder = files.ensure_private_dir(work.paths.published_dir)
    lines = remembered_lines(work.sources.items(), work.linked)
    for path, data in (
        (folder / f"{work.key}.index.md", work.index.encode("utf-8")),
        (folder / work.key, os.fsencode("".join(lines))),
    ):
        if read_if_there(path) != data:
            files.atomic_write(path, data)
