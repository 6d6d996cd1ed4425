"""The one lock that every writer of a library holds."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from skill_learner.errors import LibraryError
from skill_learner.files import ensure_private_dir, locked


@contextlib.contextmanager
def library_lock(skills_dir: Path, timeout: float) -> Iterator[None]:
    """Raises LibraryError when another process holds the lock for `timeout` seconds."""
    ensure_private_dir(skills_dir)
    try:
        with locked(skills_dir / ".lock", timeout=timeout):
            yield
    except TimeoutError as error:
        raise LibraryError(
            f"the library {skills_dir} is busy in another process", "Try again."
        ) from error
