"""Copies of many versions in one file: what arrives together is kept together.

A pack is a zip archive whose members are named by the hash of their bytes; it never changes.
"""

from __future__ import annotations

import contextlib
import io
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

_SUFFIX = ".zip"


def pack_bytes(versions: Mapping[str, bytes]) -> bytes:
    """A pack of these bytes, by their hash."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as archive:
        for digest, data in versions.items():
            archive.writestr(digest, data)
    return buffer.getvalue()


def pack_file(folder: Path, first: str, last: str) -> Path:
    return folder / f"{first[:16]}-{last[:16]}{_SUFFIX}"


def find(folder: Path, digest: str) -> bytes | None:
    """The bytes with this hash in any pack; a damaged pack holds nothing."""
    try:
        paths = sorted(path for path in folder.iterdir() if path.suffix == _SUFFIX)
    except OSError:
        return None
    for path in paths:
        with contextlib.suppress(OSError, KeyError, zipfile.BadZipFile, ValueError, zlib.error):
            return _member(path, digest)
    return None


def _member(path: Path, digest: str) -> bytes:
    with zipfile.ZipFile(path) as archive:
        return archive.read(digest)
