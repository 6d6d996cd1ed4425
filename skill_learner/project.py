"""Which project a folder belongs to, and our record of each project.

The identity itself is `hook_runtime.project_key`, so that hooks and commands always agree.
"""

from __future__ import annotations

import contextlib
import json
import os
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from skill_learner import files
from skill_learner.errors import InstallError
from skill_learner.git import git_exclude_file
from skill_learner.hook_runtime import project_key as identity
from skill_learner.install import records as install_records
from skill_learner.paths import StatePaths

__all__ = [
    "ProjectInstall",
    "ProjectRecord",
    "Relinked",
    "forget_made_dirs",
    "git_exclude_file",
    "list_projects",
    "load_project",
    "project_key",
    "project_root",
    "register",
    "relink",
    "worktree_root",
]

# -- identity -----------------------------------------------------------------------------------


def project_root(start: Path) -> Path:
    """The main worktree of the git repository that `start` lies in, else `start` (resolved)."""
    return Path(os.fsdecode(identity.find_project(os.fsencode(start.absolute()))))


def worktree_root(start: Path) -> Path:
    """The top folder of the worktree that holds `start`; `start` itself outside of git."""
    return Path(os.fsdecode(identity.locate(os.fsencode(start.absolute()))[0]))


def project_key(root: Path) -> str:
    """The key of a project, given its root as `project_root` returns it."""
    return identity.project_key(os.fsencode(root))


# -- records ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ProjectInstall:
    """An install in this project's folders. root: the folder whose editor files hold it."""

    target: str
    scope: str
    root: str


@dataclass(frozen=True)
class ProjectRecord:
    """One project. aliases: keys it had before it was moved; journals still bear them.
    made_dirs: folders that publishing created, which go again when they fall empty."""

    key: str
    path: str
    installs: tuple[ProjectInstall, ...] = ()
    aliases: tuple[str, ...] = ()
    made_dirs: tuple[str, ...] = ()
    first_seen: float = 0.0
    last_seen: float = 0.0


def load_project(paths: StatePaths, key: str) -> ProjectRecord | None:
    """The record with this key, or the one that had it before a move."""
    record = _read(_record_path(paths, key))
    if record is not None:
        return record
    return next((r for r in list_projects(paths) if key in r.aliases), None)


def list_projects(paths: StatePaths) -> list[ProjectRecord]:
    """All known projects, by path; damaged records are left out."""
    found = []
    with contextlib.suppress(OSError):
        for path in sorted(paths.projects_dir.glob("*.json")):
            record = _read(path)
            if record is not None:
                found.append(record)
    return sorted(found, key=lambda record: record.path)


def register(
    paths: StatePaths,
    root: Path,
    *,
    add: ProjectInstall | None = None,
    drop: ProjectInstall | None = None,
    made_dirs: tuple[str, ...] = (),
) -> ProjectRecord:
    """Note that the project at `root` was seen, and an install or folder that came or went."""
    key = project_key(root)
    with _changing(paths):
        known = _read(_record_path(paths, key)) or ProjectRecord(key, str(root))
        now = time.time()
        installs = [i for i in known.installs if i not in (add, drop)]
        record = replace(
            known,
            installs=(*installs, add) if add else tuple(installs),
            made_dirs=tuple(dict.fromkeys((*known.made_dirs, *made_dirs))),
            first_seen=known.first_seen or now,
            last_seen=now,
        )
        _write(paths, record)
    return record


def forget_made_dirs(paths: StatePaths, key: str) -> None:
    with _changing(paths):
        known = _read(_record_path(paths, key))
        if known is not None:
            _write(paths, replace(known, made_dirs=()))


# -- moves --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Relinked:
    """What a move changed. scopes: old key to new key; skills whose scope is an old key belong
    under the new one (the library changes them). moved: state files that got their new name."""

    record: ProjectRecord
    scopes: dict[str, str] = field(default_factory=dict)
    moved: tuple[str, ...] = ()


def relink(paths: StatePaths, old: str | Path, new: Path) -> Relinked:
    """Carry what is known of a project over to the folder it was moved to.

    old: its former path, or its key. Raises InstallError when there is no such project, when it
    still stands where it was, or when `new` is no folder.
    """
    if not new.is_dir():
        raise InstallError(f"{new}: there is no such folder", "Give the project's folder of today.")
    former = _known(paths, old)
    root = project_root(new)
    key = project_key(root)
    if key == former.key:
        return Relinked(former)
    if Path(former.path).is_dir():
        raise InstallError(
            f"{former.path}: the project still stands there, so it was not moved",
            "A copy is a project of its own; nothing needs to be linked.",
        )
    with _changing(paths):
        record = _merged(former, _read(_record_path(paths, key)), key, root)
        moved = [*_move_tally(paths, former.key, key), *_move_published(paths, former.key, key)]
        install_records.relocate(paths, Path(former.path), root)
        _write(paths, record)
        _record_path(paths, former.key).unlink(missing_ok=True)
    return Relinked(record, dict.fromkeys(record.aliases, key), tuple(moved))


def _known(paths: StatePaths, old: str | Path) -> ProjectRecord:
    path = os.path.abspath(os.path.expanduser(str(old)))
    for record in list_projects(paths):
        if record.key == str(old) or record.path in (path, os.path.realpath(path)):
            return record
    missing = [r.path for r in list_projects(paths) if not Path(r.path).is_dir()]
    hint = "No known project is missing its folder."
    if missing:
        hint = "Known projects whose folder is gone: " + ", ".join(missing)
    raise InstallError(f"{old}: no project is known by this path or key", hint)


def _merged(
    former: ProjectRecord, present: ProjectRecord | None, key: str, root: Path
) -> ProjectRecord:
    """One record out of the old place's and the new one's (hooks may have made that meanwhile)."""

    def here(path: str) -> str:
        below = os.path.relpath(path, former.path)
        return path if below.startswith("..") else os.path.normpath(root / below)

    present = present or ProjectRecord(key, str(root))
    moved = tuple(replace(i, root=here(i.root)) for i in former.installs)
    aliases = (*former.aliases, former.key, *present.aliases)
    return ProjectRecord(
        key=key,
        path=str(root),
        installs=tuple(dict.fromkeys((*moved, *present.installs))),
        aliases=tuple(dict.fromkeys(alias for alias in aliases if alias != key)),
        made_dirs=tuple(dict.fromkeys((*(here(d) for d in former.made_dirs), *present.made_dirs))),
        first_seen=min(t for t in (former.first_seen, present.first_seen or former.first_seen)),
        last_seen=max(former.last_seen, present.last_seen),
    )


def _move_tally(paths: StatePaths, old: str, new: str) -> Iterator[str]:
    """A tally's length is its count and `.base` the part that was reviewed: both add up."""
    source = paths.tally_dir / old
    if source.is_file():
        target = paths.tally_dir / new
        with open(target, "ab") as handle:
            handle.write(source.read_bytes())
        bases = [_number(paths.tally_dir / f"{key}.base") for key in (old, new)]
        files.atomic_write(paths.tally_dir / f"{new}.base", str(sum(bases)).encode())
        source.unlink()
        (paths.tally_dir / f"{old}.base").unlink(missing_ok=True)
        yield str(target)


def _move_published(paths: StatePaths, old: str, new: str) -> Iterator[str]:
    """What the new place has already is the younger."""
    names = [(paths.published_dir, f"{{}}{end}") for end in ("", ".index.md", ".errors")]
    names += [(paths.news_dir, "{}"), (paths.news_dir, ".{}.json"), (paths.tally_dir, "{}.wait")]
    for folder, name in names:
        source, target = folder / name.format(old), folder / name.format(new)
        if source.is_file():
            if target.exists():
                source.unlink()
                continue
            os.replace(source, target)
            yield str(target)


def _number(path: Path) -> int:
    try:
        return int(path.read_bytes().strip() or b"0")
    except (OSError, ValueError):
        return 0


# -- on disk ------------------------------------------------------------------------------------


def _record_path(paths: StatePaths, key: str) -> Path:
    return paths.projects_dir / f"{key}.json"


@contextlib.contextmanager
def _changing(paths: StatePaths) -> Iterator[None]:
    files.ensure_private_dir(paths.root)
    with files.locked(paths.projects_dir / ".lock", timeout=30):
        yield


def _write(paths: StatePaths, record: ProjectRecord) -> None:
    text = json.dumps(asdict(record), indent=1, ensure_ascii=True) + "\n"
    files.atomic_write(_record_path(paths, record.key), text.encode("ascii"))


def _read(path: Path) -> ProjectRecord | None:
    try:
        fields: dict[str, Any] = json.loads(path.read_bytes())
        return ProjectRecord(
            key=str(fields["key"]),
            path=str(fields["path"]),
            installs=tuple(ProjectInstall(**i) for i in fields.get("installs", ())),
            aliases=tuple(fields.get("aliases", ())),
            made_dirs=tuple(fields.get("made_dirs", ())),
            first_seen=float(fields.get("first_seen", 0)),
            last_seen=float(fields.get("last_seen", 0)),
        )
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
