"""The launcher `hook.sh`: always in the home folder, since the registered line finds it there."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path

from skill_learner.errors import InstallError
from skill_learner.hook_runtime import launcher
from skill_learner.paths import StatePaths, data_dir, default_state_dir


@dataclass(frozen=True)
class LauncherFile:
    """What a written launcher starts. A state folder of "" means that it could not be read."""

    interpreter: str
    entry: str
    state_dir: str

    @property
    def is_alive(self) -> bool:
        return os.access(self.interpreter, os.X_OK) and os.access(self.entry, os.R_OK)


def launcher_path() -> Path:
    return default_state_dir() / "hook.sh"


def entry_script() -> Path:
    """The script that hooks run. Raises InstallError when the package lacks it."""
    entry = data_dir("hooks") / "entry.py"
    if not entry.is_file():
        raise InstallError(
            f"{entry}: missing, so the package is damaged", "Install skill-learner again."
        )
    return entry


def package_root() -> Path:
    """The folder that holds the `skill_learner` package."""
    return Path(__file__).resolve().parents[2]


def rendered_launcher(interpreter: Path, paths: StatePaths) -> bytes:
    return launcher.render_hook_sh(
        interpreter, entry_script(), paths.root.absolute(), package_root()
    )


def read_launcher() -> LauncherFile | None:
    """What the launcher on disk would start; None when there is none."""
    try:
        text = os.fsdecode(launcher_path().read_bytes())
    except OSError:
        return None
    values = {"i": "", "e": "", "exec": ""}
    for line in text.split("\n"):
        name = "exec" if line.startswith("exec ") else line.partition("=")[0]
        if name in values:
            values[name] = line if name == "exec" else line.partition("=")[2]
    return LauncherFile(
        "".join(_words(values["i"])[:1]),
        "".join(_words(values["e"])[:1]),
        _state_dir(_words(values["exec"])),
    )


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError:
        return []


def _state_dir(words: list[str]) -> str:
    """It stands right before "$@" (the event's arguments)."""
    return words[words.index("$@") - 1] if "$@" in words else ""
