"""The few questions we ask git. Without git, or outside a repository: None, or no."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

_GIT_SECONDS = 10
_HARMLESS = ("GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM")


def git_exclude_file(root: Path) -> Path | None:
    """Where the repository of `root` keeps its own ignore patterns."""
    answer = _git(root, "rev-parse", "--git-path", "info/exclude")
    if not answer:
        return None
    return Path(os.path.normpath(root / os.fsdecode(answer.removesuffix(b"\n"))))


def is_git_tracked(root: Path, relative: str) -> bool:
    """Whether the file at `relative` (below `root`) is in the index of the repository."""
    return _git(root, "ls-files", "--error-unmatch", "--", f":(literal){relative}") is not None


def git_worktrees(root: Path) -> list[Path]:
    """Every work tree of the repository, the main one first."""
    answer = _git(root, "worktree", "list", "--porcelain") or b""
    start = b"worktree "
    return [Path(os.fsdecode(x[len(start) :])) for x in answer.split(b"\n") if x.startswith(start)]


def _in_repository(root: Path) -> bool:
    """Whether asking is worth a process: many projects are in no repository."""
    real = Path(os.path.realpath(root))
    return any(os.path.lexists(folder / ".git") for folder in (real, *real.parents))


def _git(root: Path, *arguments: str) -> bytes | None:
    """What git prints, or None when it fails, is absent or hangs. Nothing that the environment or
    the repository's own settings say can redirect it or start a program."""
    if not _in_repository(root):
        return None
    kept = {k: v for k, v in os.environ.items() if k in _HARMLESS or not k.startswith("GIT_")}
    environment = kept | {"GIT_OPTIONAL_LOCKS": "0", "GIT_TERMINAL_PROMPT": "0", "LC_ALL": "C"}
    command = ["git", "-c", "core.fsmonitor=false", "-C", str(root), *arguments]
    try:
        done = subprocess.run(
            command,
            env=environment,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_GIT_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
