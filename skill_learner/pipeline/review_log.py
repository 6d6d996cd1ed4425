"""The capped log of what went wrong in reviews, one line a fault."""

from __future__ import annotations

import contextlib
import time
from pathlib import Path

from skill_learner.files import append_line, atomic_write, ensure_private_dir

_CAP = 256 * 1024


def log_fault(path: Path, text: str) -> None:
    """Append one line; beyond the cap the older half goes. Never raises: a log must not add to a
    fault."""
    stamp = time.strftime("%Y-%m-%dT%H:%M:%S%z")
    line = f"{stamp} {' '.join(text.split())}".encode("utf-8", "replace")[:4_000]
    with contextlib.suppress(OSError):
        ensure_private_dir(path.parent)
        append_line(path, line)
        if path.stat().st_size > _CAP:
            kept = path.read_bytes()[-_CAP // 2 :].partition(b"\n")[2]
            atomic_write(path, kept)
