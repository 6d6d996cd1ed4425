"""JSON lines as real editors leave them: torn, glued together, with bytes that are not UTF-8."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from skill_learner.errors import TranscriptError

_DECODER = json.JSONDecoder()
_RESTART = re.compile(r'\{"parentUuid"\s*:')
"""How a top-level object of a line begins that was glued behind a torn one. Other keys also begin
nested objects, and a nested object must not be taken for a line."""
_MAX_RESTARTS = 3


def file_bytes(path: Path, limit: int = -1) -> bytes:
    """The file, or its first `limit` bytes. Raises TranscriptError when it cannot be read."""
    try:
        with path.open("rb") as handle:
            return handle.read(limit)
    except OSError as error:
        raise TranscriptError(
            f"{path}: {error.strerror or error}", "Give the path of a transcript file."
        ) from error


class JsonLines:
    """Iterates over (line number from 1, object) of a JSON-lines file's bytes.

    `unwanted` looks at the raw line and may say, without decoding, that it holds nothing of
    interest. `damaged` counts, while the iteration goes on, the lines that held something else
    than whole JSON objects.
    """

    def __init__(self, data: bytes, unwanted: Callable[[bytes], bool] | None = None) -> None:
        self._data = data
        self._unwanted = unwanted
        self.damaged = 0

    def __iter__(self) -> Iterator[tuple[int, dict[str, Any]]]:
        for number, raw in enumerate(self._data.split(b"\n"), 1):
            if not raw or raw.isspace():
                continue
            if self._unwanted is not None and self._unwanted(raw):
                continue
            objects, whole = decode_objects(raw)
            self.damaged += not whole
            for item in objects:
                yield number, item


def decode_objects(raw: bytes) -> tuple[list[dict[str, Any]], bool]:
    """All top-level JSON objects of one line, and whether the line held nothing else."""
    text = raw.decode("utf-8", "replace").lstrip("\ufeff")
    objects: list[dict[str, Any]] = []
    whole = True
    restarts = 0
    position = _skip_space(text, 0)
    while position < len(text):
        try:
            item, position = _DECODER.raw_decode(text, position)
        except (ValueError, RecursionError):
            whole = False
            following = _RESTART.search(text, position + 1)
            restarts += 1
            if following is None or restarts > _MAX_RESTARTS:
                break
            position = following.start()
            continue
        if isinstance(item, dict):
            escaped = b"\\ud" in raw or b"\\uD" in raw
            objects.append(_without_surrogates(item) if escaped else item)
        else:
            whole = False
        position = _skip_space(text, position)
    return objects, whole


def _skip_space(text: str, position: int) -> int:
    while position < len(text) and text[position] in " \t\r\x00":
        position += 1
    return position


def _without_surrogates(value: Any) -> Any:
    """Replace lone surrogates (`\\ud83d` cut off from its second half): they cannot be written."""
    if isinstance(value, str):
        return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    if isinstance(value, list):
        return [_without_surrogates(item) for item in value]
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    return value
