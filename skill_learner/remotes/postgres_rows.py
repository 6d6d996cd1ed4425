"""Skills and vectors as they stand in rows, and back: whatever stands there, one odd row stops no
other."""

from __future__ import annotations

import base64
import binascii
import hashlib
import json
import math
from collections.abc import Sequence
from typing import Any

from skill_learner.exchange.safe_files import MOST_BYTES, Files, SkillFileData
from skill_learner.remotes.protocol import RemoteSkill

MOST_TEXT = 7 * MOST_BYTES
"""Bytes of a row's files that are read: JSON makes up to six of one, and tells the paths, too."""
_MOST_DIMENSIONS = 16_000
_LARGEST_FLOAT = 3.4e38


def encoded(files: Files) -> str:
    """The files as JSON that has no other form: equal files, equal text."""
    values: dict[str, Any] = {}
    for path, file in files.items():
        try:
            value: Any = file.data.decode("utf-8")
        except UnicodeDecodeError:
            value = {"base64": base64.b64encode(file.data).decode("ascii")}
        values[path] = {"executable": value} if file.executable else value
    return json.dumps(values, sort_keys=True, ensure_ascii=True, separators=(",", ":"))


def token_of(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()


def skill_of(name: str, token: str, text: str | None) -> RemoteSkill:
    """text: None where it is longer than `MOST_TEXT`."""
    if text is None:
        return RemoteSkill(name, token, None, f"more than {MOST_BYTES} bytes")
    try:
        return RemoteSkill(name, token, _decoded(text))
    except (ValueError, TypeError, AttributeError, LookupError, RecursionError, binascii.Error):
        return RemoteSkill(name, token, None, "its files are damaged")


def vector_text(vector: Sequence[float]) -> str:
    """As pgvector writes one; "" for one that it cannot keep."""
    fits = 0 < len(vector) <= _MOST_DIMENSIONS
    if not fits or not all(math.isfinite(x) and abs(x) < _LARGEST_FLOAT for x in vector):
        return ""
    return "[" + ",".join(f"{x:.9g}" for x in vector) + "]"


def vector_of(text: str) -> list[float]:
    return [float(x) for x in text.strip("[]").split(",")]


def _decoded(text: str) -> dict[str, SkillFileData]:
    files: dict[str, SkillFileData] = {}
    for path, value in json.loads(text).items():
        path.encode("utf-8")  # a name that can be written
        executable = isinstance(value, dict) and "executable" in value
        content = value["executable"] if executable else value
        if isinstance(content, dict):
            data = base64.b64decode(content["base64"], validate=True)
        else:
            data = content.encode("utf-8", "surrogatepass")
        files[path] = SkillFileData(data, executable)
    return files
