"""An editor's settings file with our hooks: the entries, and what it needs beside them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from skill_learner.errors import InstallError
from skill_learner.files import read_plain
from skill_learner.install import json_edit, json_splice
from skill_learner.install.json_scanner import read_json_text
from skill_learner.targets import get_target
from skill_learner.targets.protocol import Target


def registration(name: str) -> str:
    """What init writes for a target where there is no settings file yet: `hooks/<name>.json`."""
    target = get_target(name)
    entries = {event: target.settings_entry(event) for event in target.EVENTS}
    return with_hooks(target, None, entries, Path(target.SETTINGS_FILE["project"])).decode("utf-8")


def with_hooks(
    target: Target, data: bytes | None, entries: Mapping[str, Mapping[str, Any]], path: Path
) -> bytes:
    """As `json_splice.insert_entries`, with the target's own members where they are missing."""
    head = target.SETTINGS_HEAD
    if head and _is_blank(data):
        data = (json.dumps(head, indent=2) + "\n").encode("utf-8")
    elif head and data is not None:
        data = json_edit.insert_members(data, head, path)
    return json_splice.insert_entries(data, entries, target.is_our_hook, path)


def without_hooks(target: Target, data: bytes, path: Path, before: bytes | None) -> bytes:
    """As `json_splice.remove_entries`. A member that we brought goes when the file was without it
    before, or when nothing else is left where our hooks stood."""
    left = json_splice.remove_entries(data, target.is_our_hook, path, before)
    brought = {
        key: value
        for key, value in target.SETTINGS_HEAD.items()
        if before is not None and key not in _members(before, path)
    }
    had_ours = left != data  # a bare head without any hook of ours is the user's
    if had_ours and before is None and _members(left, path) == target.SETTINGS_HEAD:
        brought = dict(target.SETTINGS_HEAD)
    return json_edit.remove_members(left, brought, path)


def faults(target: Target, path: Path) -> list[str]:
    """Why the editor would ignore the file as it stands there, in words. What is no JSON at all is
    refused elsewhere."""
    try:
        data = read_plain(path)
        value = json.loads(data.decode("utf-8-sig")) if data.strip() else {}
    except (OSError, ValueError):
        return []
    return target.settings_faults(value)


def _is_blank(data: bytes | None) -> bool:
    return data is None or not data.removeprefix(b"\xef\xbb\xbf").strip()


def _members(data: bytes, path: Path) -> dict[str, Any]:
    if _is_blank(data):
        return {}
    try:
        read_json_text(data, path)
        value = json.loads(data.decode("utf-8-sig"))
    except (InstallError, ValueError):
        return {}
    return value if isinstance(value, dict) else {}
