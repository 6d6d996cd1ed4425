"""Which files of the repository a step changed."""

from __future__ import annotations

import re

from skill_learner.models import Session, Step

_ABSOLUTE = re.compile(r"^(?:/|~|[A-Za-z]:[\\/]|\\\\)")
_WORKTREE = re.compile(r"^\.claude/worktrees/[^/]+/")
_OURS = re.compile(r"(?:^|/)\.(?:claude|cursor|codex|agents)/(?:plans|skills|projects)/")


def repository_path(path: str, project: str) -> str:
    """A path relative to the project with forward slashes, "" when it lies outside."""
    plain = path.replace("\\", "/")
    root = project.replace("\\", "/").rstrip("/")
    if root and plain.lower().startswith(root.lower() + "/"):
        plain = plain[len(root) + 1 :]
    if _ABSOLUTE.match(plain) or plain.startswith("../"):
        return ""
    return _WORKTREE.sub("", plain)


def changed_in(session: Session, step: Step) -> tuple[str, ...]:
    """Files of the repository that a successful step changed; plans and skills of the editor are
    not the work."""
    if step.call is None or step.call.status not in {"ok", "suspect"}:
        return ()
    relative = (repository_path(name, session.project) for name in step.call.changed_files)
    return tuple(name for name in relative if name and not _OURS.search(name))
