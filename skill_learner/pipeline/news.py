"""The one line that a project's next session shows its user."""

from __future__ import annotations

import json
from collections.abc import Sequence

from skill_learner.files import atomic_write, ensure_private_dir
from skill_learner.paths import StatePaths, safe_file_name
from skill_learner.pipeline.outcome import SkillChange

_MOST_NAMES = 3


def tell(paths: StatePaths, key: str, changes: Sequence[SkillChange]) -> None:
    """Add changes to the project's news. What the hook has not shown yet stays in the line."""
    if not changes:
        return
    ensure_private_dir(paths.news_dir)
    line = paths.news_dir / safe_file_name(key)
    memory = paths.news_dir / f".{safe_file_name(key)}.json"
    known: dict[str, str] = {}
    if line.exists():
        try:
            loaded = json.loads(memory.read_bytes())
            known = {str(name): str(state) for name, state in loaded.items()}
        except (OSError, ValueError, AttributeError, RecursionError):
            known = {}
    known |= {change.name: _label(change) for change in changes}
    atomic_write(memory, json.dumps(known).encode())
    text = sentence(known)
    if text:
        atomic_write(line, text.encode())


def sentence(known: dict[str, str]) -> str:
    """known: skill name to "learned", "improved" or "candidate"; anything else is not told."""
    learned = [name for name, label in known.items() if label == "learned"]
    improved = [name for name, label in known.items() if label == "improved"]
    candidates = [name for name, label in known.items() if label == "candidate"]
    parts = []
    if learned:
        parts.append(
            f"skill-learner learned {_counted(len(learned), 'skill')} from this project's last "
            f"session: {_names(learned)}. See: skill-learner show {learned[0]}"
        )
    if improved:
        parts.append(
            f"skill-learner improved {_names(improved)}. See: skill-learner show {improved[0]}"
        )
    if candidates:
        waits = "waits" if len(candidates) == 1 else "wait"
        parts.append(
            f"{_counted(len(candidates), 'candidate')} {waits}: skill-learner list --candidates"
        )
    return " | ".join(parts)


def _label(change: SkillChange) -> str:
    if change.state == "candidate":
        return "candidate"
    if change.state != "active":
        return change.state
    return "improved" if change.change == "patched" else "learned"


def _counted(number: int, noun: str) -> str:
    return f"{number} {noun}" if number == 1 else f"{number} {noun}s"


def _names(names: Sequence[str]) -> str:
    shown = ", ".join(names[:_MOST_NAMES])
    return shown if len(names) <= _MOST_NAMES else f"{shown} and {len(names) - _MOST_NAMES} more"
