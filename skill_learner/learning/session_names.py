"""Names that belong to one session or machine and mean nothing to a later one."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from skill_learner.learning.commands import command_of, parts_of, unquote
from skill_learner.models import Session

_BRANCH_MADE = re.compile(r"Switched to (?:a new )?branch '([^'\s]+)'|^On branch (\S+)$"
                          r"|set up to track '[^'/]+/([^']+)'|^\[([\w./-]+) [0-9a-f]{7,}\]",
                          re.MULTILINE)  # fmt: skip
_WORKTREE = re.compile(r"[\\/]\.?worktrees[\\/]+([\w.-]+)")
_TASK_ID = re.compile(
    r"(?:with ID|\b(?:agentId|agent_id|task_id|taskId|session_id|sessionId|shell_id))[\"'\s:=]+"
    r"([A-Za-z0-9][\w-]{5,63})"
)
_ORDINARY = frozenset({"main", "master", "develop", "dev", "trunk", "head", "release", "staging"})
_SUPPRESSION = re.compile(
    r"nolint:\s*([\w,-]+)|#\s*noqa:\s*([A-Z]+\d+)|eslint-disable[\w-]*\s+([@\w/-]+)"
    r"|#\s*pylint:\s*disable=([\w-]+)|#nosec\s+(G\d+)|rubocop:disable\s+([\w/]+)"
    r"|#\s*type:\s*ignore\[([\w-]+)\]|NOSONAR\((\w+)\)"
)


@dataclass(frozen=True)
class SessionNames:
    """passing: branches, worktrees, ids of tasks, the session's own id. suppressed: linters and
    rules whose findings the session silenced in place, with the codes printed beside them."""

    passing: frozenset[str] = field(default_factory=frozenset)
    suppressed: frozenset[str] = field(default_factory=frozenset)


def session_names(session: Session) -> SessionNames:
    passing = {session.id} | set(_WORKTREE.findall(session.project))
    silenced: set[str] = set()
    results: list[str] = []
    for step in session.steps:
        if step.call is None:
            continue
        line, result = command_of(step.call), step.call.result or ""
        passing |= _branches(line) | set(_WORKTREE.findall(line))
        passing |= set(_TASK_ID.findall(result))
        if line:
            found = _BRANCH_MADE.findall(result)
            passing |= {name for groups in found for name in groups if name}
            results.append(result)
        written = step.call.input.get("new_string") or step.call.input.get("content")
        if isinstance(written, str) and not line:
            silenced |= _silenced(written) - _silenced(str(step.call.input.get("old_string") or ""))
    codes = {code for name in silenced for text in results for code in _codes(text, name)}
    named = {name for name in passing if len(name) > 3 and name.lower() not in _ORDINARY}
    return SessionNames(frozenset(named), frozenset(silenced | codes))


def _branches(line: str) -> set[str]:
    found: set[str] = set()
    for part in parts_of(line):
        words = [unquote(word) for word in part.words]
        if part.program != "git" or len(words) < 3:
            continue
        if words[1] in {"checkout", "switch"} and words[2] in {"-b", "-B", "-c", "-C"}:
            found |= set(words[3:4])
        elif words[1] == "branch":
            found |= {word for word in words[2:] if not word.startswith("-")}
    return found


def _silenced(text: str) -> set[str]:
    return {
        name.strip()
        for groups in _SUPPRESSION.findall(text)
        for group in groups
        for name in group.split(",")
        if name.strip() and name.strip() != "all"
    }


def _codes(result: str, linter: str) -> set[str]:
    """Codes such as `G304` on lines of output that end in the linter's name."""
    tail = re.compile(rf"\b([A-Z]{{1,5}}\d{{2,5}})\b.*\({re.escape(linter)}\)\s*$", re.MULTILINE)
    return set(tail.findall(result))
