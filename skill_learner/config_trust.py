"""Which projects' settings files the user trusts, by what was in them when they said so.

A repository may bring a `skill-learner.yaml`. Trust is bound to the file's bytes: whatever a later
pull changes in it is not trusted until the user has looked again.
"""

from __future__ import annotations

import hashlib
import json
import os
from pathlib import Path

STORE = "trusted.json"


def is_trusted(state_dir: Path, file: Path, data: bytes) -> bool:
    """Whether these bytes of that file were trusted."""
    return _load(state_dir).get(_key(file)) == _digest(data)


def trust(state_dir: Path, file: Path, data: bytes) -> None:
    """Trust that file as long as it holds these bytes."""
    _save(state_dir, {**_load(state_dir), _key(file): _digest(data)})


def revoke(state_dir: Path, file: Path) -> bool:
    """Trust that file no more; False when it was not trusted."""
    known = _load(state_dir)
    if known.pop(_key(file), None) is None:
        return False
    _save(state_dir, known)
    return True


def _key(file: Path) -> str:
    return os.path.realpath(file)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def _load(state_dir: Path) -> dict[str, str]:
    """A store that is missing or damaged trusts nothing."""
    try:
        loaded = json.loads((state_dir / STORE).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    if not isinstance(loaded, dict):
        return {}
    return {key: value for key, value in loaded.items() if isinstance(value, str)}


def _save(state_dir: Path, known: dict[str, str]) -> None:
    from skill_learner.files import atomic_write, ensure_private_dir

    ensure_private_dir(state_dir)
    atomic_write(state_dir / STORE, json.dumps(known, indent=1).encode() + b"\n", 0o600)
