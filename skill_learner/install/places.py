"""Which files an install touches, and whether it may: links followed, folders writable."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from skill_learner.errors import InstallError
from skill_learner.files import read_plain
from skill_learner.project import project_root, worktree_root
from skill_learner.targets.protocol import Target

Scope = Literal["project", "local", "user"]
SCOPES: tuple[Scope, ...] = ("project", "local", "user")
SEED_SKILL = "skill-learner"


@dataclass(frozen=True)
class Places:
    """The editor's files for one target and scope. root: the folder they belong to.

    index: the notes that get our block, None where the editor has none. index_file: the file that
    is wholly ours. skills_dir: the target's own, or another's that it reads (see `sharing`).
    boundary: folders that a link may lead into; empty where the user's own links lead anywhere.
    """

    scope: Scope
    root: Path
    settings: Path
    index: Path | None
    index_file: Path | None
    skills_dir: Path
    boundary: tuple[Path, ...]

    @property
    def seed_skill(self) -> Path:
        return self.skills_dir / SEED_SKILL / "SKILL.md"


def scopes_of(target: Target) -> tuple[Scope, ...]:
    """The scopes that an editor has."""
    return tuple(scope for scope in SCOPES if scope in target.SETTINGS_FILE)


def places_for(target: Target, scope: Scope, project_dir: Path) -> Places:
    """Raises InstallError when the editor has no such scope, or the project folder is missing."""
    if scope not in target.SETTINGS_FILE:
        raise InstallError(
            f"{target.TITLE} has no settings of the scope {scope}",
            f"It has: {', '.join(scopes_of(target))}.",
        )
    index = target.INDEX_FILE.get(scope)
    if scope == "user":
        home = Path(os.path.expanduser("~"))
        return Places(
            scope,
            home,
            settings=_expanded(target.SETTINGS_FILE[scope], home),
            index=_expanded(index, home) if index else None,
            index_file=None,
            skills_dir=_expanded(target.SKILLS_DIR["user"], home),
            boundary=(),
        )
    if not project_dir.is_dir():
        raise InstallError(
            f"{project_dir}: there is no such folder", "Name the project with --project-dir."
        )
    root = Path(os.path.realpath(project_dir))
    return Places(
        scope,
        root,
        settings=root / target.SETTINGS_FILE[scope],
        index=root / index if index else None,
        index_file=root / target.INDEX_IMPORT,
        skills_dir=root / target.SKILLS_DIR["project"],
        boundary=(worktree_root(root), project_root(root)),
    )


def _expanded(pattern: str, home: Path) -> Path:
    return home / pattern.removeprefix("~/")


def read_if_there(path: Path) -> bytes | None:
    """The file's bytes; None when there is none. Raises InstallError when it cannot be read."""
    try:
        return read_plain(path)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise InstallError(f"{path}: cannot be read ({error.strerror})") from None


def check_place(path: Path, boundary: tuple[Path, ...]) -> None:
    """Raise InstallError unless the file at `path` may be written: its links lead to something,
    within the boundary, and it and its folder (the nearest that exists) are writable."""
    real = Path(os.path.realpath(path))
    if boundary and not any(real.is_relative_to(os.path.realpath(b)) for b in boundary):
        raise InstallError(
            f"{path}: leads out of the project, to {real}",
            "Nothing was written. Put a plain file there, or install with --user.",
        )
    try:
        mode = os.stat(path).st_mode
    except OSError:
        dangling = next(place for place in (path, *path.parents) if os.path.lexists(place))
        if not os.path.exists(dangling):
            kind = "file" if dangling == path else "folder"
            raise InstallError(
                f"{dangling}: is a link to {os.path.realpath(dangling)}, which does not exist",
                f"Nothing was written. Create the {kind} it points to, or remove the link.",
            ) from None
    else:
        if not stat.S_ISREG(mode):
            raise InstallError(f"{path}: is not a file", "Nothing was written. Move it away.")
        if not os.access(path, os.W_OK):
            raise InstallError(
                f"{path}: is read-only",
                "Nothing was written. If another tool generates this file, add the hooks there, or"
                " install with --local or --user.",
            )
    folder = real.parent
    while not os.path.lexists(folder):
        folder = folder.parent
    if not folder.is_dir() or not os.access(folder, os.W_OK | os.X_OK):
        raise InstallError(f"{folder}: cannot be written to", "Nothing was written.")


def missing_folders(path: Path) -> tuple[Path, ...]:
    """The parents of `path` that do not exist yet, outermost first."""
    missing: list[Path] = []
    folder = path.parent
    while not os.path.lexists(folder):
        missing.insert(0, folder)
        folder = folder.parent
    return tuple(missing)
