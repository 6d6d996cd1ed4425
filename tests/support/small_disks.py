"""File systems with next to no room, where the system lets us mount one.

Each bears the id of the process that mounted it: what a killed one left behind, the next one that
mounts takes away.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from pathlib import Path

_SOURCE = "skill-learner-small-"


def mount_small(folder: Path, options: str) -> bool:
    """Mount an empty file system on `folder`; False where we may not."""
    if shutil.which("mount") is None:
        return False
    for left in left_behind():
        unmount_small(left)
    source = f"{_SOURCE}{os.getpid()}"
    command = ["mount", "-t", "tmpfs", "-o", options, source, str(folder)]
    return subprocess.run(command, capture_output=True, check=False).returncode == 0


def unmount_small(folder: Path) -> None:
    subprocess.run(["umount", "-l", str(folder)], capture_output=True, check=False)


def left_behind() -> list[Path]:
    """Where such file systems of processes that are gone still stand (Linux)."""
    found = []
    with contextlib.suppress(OSError):
        for line in Path("/proc/self/mounts").read_text(encoding="utf-8").splitlines():
            source, folder = line.split()[:2]
            owner = source.removeprefix(_SOURCE)
            if owner != source and owner.isdigit() and not Path(f"/proc/{owner}").exists():
                found.append(Path(folder.replace("\\040", " ")))
    return found
