"""A shared skill in few bytes, for the memory of a remote."""

from __future__ import annotations

import json
import zlib
from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from skill_learner.exchange.safe_files import SkillFileData
from skill_learner.json_text import made_once
from skill_learner.remotes.shared_skill import SharedChange, SharedSkill

_json = made_once(json.JSONEncoder(check_circular=False))
_WORTH_PRESSING = 2048
"""Bytes below which pressing takes longer than writing."""
_PLAIN_FIELDS = tuple(
    one.name
    for one in fields(SharedSkill)
    if one.name not in ("attachments", "history", "metadata", "further")
)
_NAMELESS: Mapping[str, Any] = {"name": "", "description": "", "body": ""}
_DEFAULTS = vars(SharedSkill(**_NAMELESS))
"""What is packed rests on them: a default that is changed changes what was packed before."""


def pack(shared: SharedSkill) -> bytes:
    """What differs from the defaults, as JSON; pressed where that pays."""
    told = vars(shared)
    values: dict[str, Any] = {
        name: told[name] for name in _PLAIN_FIELDS if told[name] != _DEFAULTS[name]
    }
    if shared.metadata:
        values["metadata"] = dict(shared.metadata)
    if shared.further:
        values["further"] = dict(shared.further)
    if shared.history:
        values["history"] = [vars(change) for change in shared.history]
    if shared.attachments:
        values["attachments"] = {
            path: [file.data.hex(), file.executable] for path, file in shared.attachments.items()
        }
    data = _json(values).encode()
    return data if len(data) < _WORTH_PRESSING else zlib.compress(data, 1)


def unpack(data: bytes) -> SharedSkill:
    values = {**_NAMELESS, **json.loads(data if data.startswith(b"{") else zlib.decompress(data))}
    values["history"] = tuple(SharedChange(**change) for change in values.get("history", ()))
    values["attachments"] = {
        path: SkillFileData(bytes.fromhex(text), executable)
        for path, (text, executable) in values.get("attachments", {}).items()
    }
    for name in ("sessions", "lineage"):
        values[name] = tuple(values.get(name, ()))
    return SharedSkill(**values)
