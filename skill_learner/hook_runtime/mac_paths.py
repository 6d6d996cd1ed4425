"""A folder as macOS has it on disk. Loaded there only.

Its file systems find `/work/Shop` by `/WORK/shop` as well, and a name by either way to write its
accents: one folder would be two projects.
"""

from skill_learner.hook_runtime.system import system

_LONGEST = 1024  # MAXPATHLEN


def as_stored(path: bytes) -> bytes:
    """The path in the spelling of its directory entries; as it is where it cannot be opened."""
    import fcntl

    try:
        descriptor = system.open(path, system.O_RDONLY | system.O_CLOEXEC | system.O_NONBLOCK)
    except (OSError, ValueError):
        return path
    try:
        command: int = getattr(fcntl, "F_GETPATH")  # noqa: B009 - known on macOS alone
        told: bytes = fcntl.fcntl(descriptor, command, bytes(_LONGEST))
        return told.partition(b"\0")[0] or path
    except OSError:
        return path
    finally:
        system.close(descriptor)
