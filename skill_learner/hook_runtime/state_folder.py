"""The state folder as a hook uses it: settings are read from it, bytes are appended to it.

Appends are such that no process's bytes are lost or mixed, whatever the umask and however many
hooks run at once.
"""

from skill_learner.hook_runtime import deadline
from skill_learner.hook_runtime.system import IS_WINDOWS, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal  # `signal` itself imports enum: far too slow here
    from collections.abc import Mapping
else:
    import _signal

DEFAULTS = {
    b"nudge_interval": 10,
    b"payload_cap": 16 * 1024 * 1024,
    b"off": 0,
    b"paused_until": 0,
    b"ignores": 0,
}
ON = (b"1", b"true", b"yes", b"on")
OFF = (b"0", b"false", b"no", b"off")
IGNORE_KEYS = {
    b"ignore_project": b"SKILL_LEARNER_IGNORE_PROJECTS",
    b"ignore_path": b"SKILL_LEARNER_IGNORE_PATHS",
    b"ignore_tool": b"SKILL_LEARNER_IGNORE_TOOLS",
}
"""Lines of hook.conf, and the variable that stands for all of one kind."""


def read_settings(state: bytes, environ: "Mapping[bytes, bytes]") -> dict[bytes, int]:
    """Every key of DEFAULTS. A line or variable that is no number (`off`: no word of ON or OFF) is
    passed over. ignores: 0 when there is nothing to ignore."""
    settings = dict(DEFAULTS)
    for line in read_file(state + b"/hook.conf").split(b"\n"):
        key, _, value = line.partition(b"=")
        key, value = key.strip(), value.strip()
        if key in settings and value.isdigit():
            settings[key] = int(value)
    for key in settings:
        value = environ.get(b"SKILL_LEARNER_" + key.upper(), b"")
        if value.isdigit() and key != b"off":
            settings[key] = int(value)
    settings[b"off"] = switch(environ, settings[b"off"])
    for name in IGNORE_KEYS.values():
        if name in environ:
            settings[b"ignores"] += 1
    return settings


def switch(environ: "Mapping[bytes, bytes]", otherwise: int = 0) -> int:
    """What SKILL_LEARNER_OFF says, in any of the words that settings take: 1 is off."""
    if b"SKILL_LEARNER_OFF" not in environ:
        return otherwise
    word = environ[b"SKILL_LEARNER_OFF"].strip().lower()
    return 1 if word in ON else 0 if word in OFF else otherwise


def read_file(path: bytes, most: int = 65536) -> bytes:
    """Up to `most` bytes of a file; b"" when it cannot be read."""
    try:
        descriptor = system.open(path, system.O_RDONLY | system.O_CLOEXEC | system.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return system.read(descriptor, most)
    except OSError:
        return b""
    finally:
        system.close(descriptor)


_PATIENCE = 1.0  # seconds for a lock, at most; a holder that was stopped must not stop the editor
_TRY_AGAIN = 0.05
_FLAGS = system.O_WRONLY | system.O_APPEND | system.O_CREAT | system.O_CLOEXEC | system.O_NOFOLLOW


def append_record(folder: bytes, name: bytes, data: bytes) -> int:
    """Append `data` whole; returns the file's size before. The folder is made (0700) when missing.

    A write that fails midway (full disk) is taken back. Without the lock in time the bytes are
    written all the same: with O_APPEND the kernel keeps one write in one piece.
    """
    descriptor = open_to_append(folder, name)
    try:
        locked = take_lock(descriptor)
        status = system.fstat(descriptor)
        if not status.st_nlink:  # taken away between our opening and our lock
            return append_record(folder, name, data)
        before = status.st_size
        try:
            left = data
            while left:
                left = left[system.write(descriptor, left) :]
        except OSError:
            if locked:
                system.ftruncate(descriptor, before)
            raise
    finally:
        system.close(descriptor)
    return before


def append_byte(folder: bytes, name: bytes) -> None:
    """Count one more: the file's size is the number. One byte needs no lock."""
    descriptor = open_to_append(folder, name)
    try:
        system.write(descriptor, b".")
    finally:
        system.close(descriptor)


def make_folder(path: bytes) -> None:
    try:  # noqa: SIM105 - contextlib costs more than the rest of the hook
        system.mkdir(path, 0o700)
    except FileExistsError:
        pass


def open_to_append(folder: bytes, name: bytes) -> int:
    path = folder + b"/" + name
    try:
        return system.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        make_folder(folder)
        return system.open(path, _FLAGS, 0o600)


def take_lock(descriptor: int) -> bool:
    """Whether the lock was got within some patience, and the call's time. It goes with any
    descriptor of the file."""
    if IS_WINDOWS:
        from skill_learner.hook_runtime.windows_system import take_lock

        return take_lock(descriptor, deadline.left(_PATIENCE))
    try:
        system.lockf(descriptor, system.F_TLOCK, 0)
        return True
    except OSError:
        pass
    waiting = True

    def give_up(_signum: int, _frame: object) -> None:
        if waiting:
            raise TimeoutError

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, deadline.left(_PATIENCE), _TRY_AGAIN)
    try:
        system.lockf(descriptor, system.F_LOCK, 0)
        return True
    except OSError:  # TimeoutError, or a file system without locks
        return False
    finally:
        waiting = False
        _signal.setitimer(_signal.ITIMER_REAL, 0)
