"""The Python that hooks start: a real one that will still be there tomorrow."""

from __future__ import annotations

import os
import re
import sys
from pathlib import Path

from skill_learner.errors import InstallError

_SHORT_LIVED = re.compile(
    r"/(archive|builds|environments)-v\d+/"  # uvx, uv run --with, uv run SCRIPT
    r"|/uv/builds/"
    r"|/pipx/\.cache/|/\.cache/pipx/|/pipx/cache/"  # pipx run
)


def hook_interpreter(
    executable: str | None = None, prefix: str | None = None, base_prefix: str | None = None
) -> Path:
    """The interpreter of the environment that holds this package.

    In a virtual environment this is the environment's own `python`, not what it links to: only by
    that path does Python find the installed package. A shim of pyenv, asdf or mise costs every
    hook more than the hook itself, and a cache of uvx or pipx goes away: both are refused.
    Arguments default to those of the running interpreter.
    """
    executable = sys.executable if executable is None else executable
    prefix = sys.prefix if prefix is None else prefix
    base_prefix = sys.base_prefix if base_prefix is None else base_prefix
    for path in (executable, prefix):
        if _SHORT_LIVED.search(path.replace("\\", "/")):
            raise InstallError(
                f"skill-learner runs from {prefix}, a folder that its tool may remove at any time",
                "Install it to stay, with `pipx install skill-learner` or `uv tool install "
                "skill-learner`, then run init again.",
            )
    candidates = [executable] if executable else []
    if prefix == base_prefix:
        candidates = [os.path.realpath(path) for path in candidates]
    folder, suffix = ("Scripts", ".exe") if os.name == "nt" else ("bin", "")
    candidates += [
        os.path.join(prefix, folder, f"{name}{suffix}") for name in ("python", "python3")
    ]
    for candidate in candidates:
        if os.path.isabs(candidate) and os.access(candidate, os.X_OK) and not _is_shim(candidate):
            return Path(candidate)
    raise InstallError(
        f"no Python interpreter was found in {prefix} ({executable or 'no executable'} is a shim, "
        "or is gone)",
        "Install skill-learner with `pipx install skill-learner` or `uv tool install "
        "skill-learner`, then run init again.",
    )


def _is_shim(path: str) -> bool:
    real = os.path.realpath(path)
    if "shims" in Path(path).parts or "shims" in Path(real).parts:
        return True
    try:
        with open(real, "rb") as handle:
            return handle.read(2) == b"#!"
    except OSError:  # may be run, not read
        return False
