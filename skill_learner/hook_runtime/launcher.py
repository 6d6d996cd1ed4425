"""Writes `hook.sh`, the file that the registered line sources. Cold: used by init only."""

from __future__ import annotations

import os
from pathlib import Path

from skill_learner.errors import InstallError

_TEMPLATE = b"""\
# Written by `skill-learner init`; sourced by the hooks it registered. Written anew by each init.
[ -z "${SKILL_LEARNER_REVIEW:-}" ] || exit 0
case "${SKILL_LEARNER_OFF:-}" in 1|[Tt][Rr][Uu][Ee]|[Yy][Ee][Ss]|[Oo][Nn]) exit 0 ;; esac
i=%(interpreter)s
e=%(entry)s
if ! [ -x "$i" ] || ! [ -r "$e" ]; then
    [ "${2:-}" != SessionStart ] || [ -n "${CURSOR_VERSION:-}" ] || printf %(gone)s "$1" "$1"
    exit 0
fi
exec "$i" -I -S "$e" %(root)s %(state)s "$@" 2>/dev/null
"""

_GONE = (
    b'{"systemMessage":"skill-learner: the Python it was installed with is gone, so nothing is'
    b" recorded. Install it again, then run `skill-learner init --target %s`, or `skill-learner"
    b' uninstall --target %s` to remove its hooks."}\\n'
)


def render_hook_sh(interpreter: Path, entry: Path, state_dir: Path, package_root: Path) -> bytes:
    """The launcher's bytes. All four paths must be absolute and free of line breaks.

    interpreter: the resolved Python of the environment that holds the package (never a shim).
    entry: hooks/entry.py. package_root: the folder that contains the `skill_learner` package.
    """
    return _TEMPLATE % {
        b"interpreter": _quoted(interpreter),
        b"entry": _quoted(entry),
        b"root": _quoted(package_root),
        b"state": _quoted(state_dir),
        b"gone": b"'" + _GONE + b"'",
    }


def launch_arguments(
    interpreter: Path, entry: Path, state_dir: Path, package_root: Path
) -> list[str]:
    """The same launch as a list, for editors or systems that start a program without a shell."""
    for path in (interpreter, entry, state_dir, package_root):
        _checked(path)
    return [str(interpreter), "-I", "-S", str(entry), str(package_root), str(state_dir)]


def compile_hot_modules(package_root: Path) -> None:
    """Write the bytecode of what hooks import, so that the first hook is as fast as the rest.

    A place that cannot be written to is no error: hooks are then slower, not broken.
    """
    import compileall

    package = package_root / "skill_learner"
    for folder in (package, package / "hook_runtime", package / "targets"):
        compileall.compile_dir(folder, maxlevels=0, quiet=2)


def _quoted(path: Path) -> bytes:
    return b"'" + os.fsencode(_checked(path)).replace(b"'", b"'\\''") + b"'"


def _checked(path: Path) -> Path:
    text = str(path)
    if "\n" in text or "\r" in text:
        raise InstallError(
            f"the path {text!r} contains a line break, which a shell script cannot carry safely",
            "Install skill-learner, or put its state folder, below a path without line breaks.",
        )
    if not path.is_absolute():
        raise InstallError(
            f"the path {text!r} is not absolute", "This is a fault of skill-learner."
        )
    return path
