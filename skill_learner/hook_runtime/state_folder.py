"""The state folder as a hook uses it: settings are read from it, bytes are appended to it.

Appends are such that no process's bytes are lost or mixed, whatever the umask and however many
hooks run at once.
"""

import posix

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


def read_settings(state: bytes, environ: "Mapping[bytes, bytes]") -> dict[bytes, int]:
    """Every key of DEFAULTS. A line or variable that is no number is passed over."""
    settings = dict(DEFAULTS)
    for line in read_file(state + b"/hook.conf").split(b"\n"):
        key, _, value = line.partition(b"=")
        key, value = key.strip(), value.strip()
        if key in settings and value.isdigit():
            settings[key] = int(value)
    for key in settings:
        value = environ.get(b"SKILL_LEARNER_" + key.upper(), b"")
        if value.isdigit():
            settings[key] = int(value)
    return settings


def read_file(path: bytes, most: int = 65536) -> bytes:
    """Up to `most` bytes of a file; b"" when it cannot be read."""
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return posix.read(descriptor, most)
    except OSError:
        return b""
    finally:
        posix.close(descriptor)


_PATIENCE = 1.0  # seconds for a lock; a holder that was stopped must not stop the editor
_TRY_AGAIN = 0.05
_FLAGS = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW


def append_record(folder: bytes, name: bytes, data: bytes) -> int:
    """Append `data` whole; returns the file's size before. The folder is made (0700) when missing.

    A write that fails midway (full disk) is taken back. Without the lock in time the bytes are
    written all the same: with O_APPEND the kernel keeps one write in one piece.
    """
    descriptor = open_to_append(folder, name)
    try:
        locked = take_lock(descriptor)
        status = posix.fstat(descriptor)
        if not status.st_nlink:  # taken away between our opening and our lock
            return append_record(folder, name, data)
        before = status.st_size
        try:
            left = data
            while left:
                left = left[posix.write(descriptor, left) :]
        except OSError:
            if locked:
                posix.ftruncate(descriptor, before)
            raise
    finally:
        posix.close(descriptor)
    return before


def append_byte(folder: bytes, name: bytes) -> None:
    """Count one more: the file's size is the number. One byte needs no lock."""
    descriptor = open_to_append(folder, name)
    try:
        posix.write(descriptor, b".")
    finally:
        posix.close(descriptor)


def make_folder(path: bytes) -> None:
    try:  # noqa: SIM105 - contextlib costs more than the rest of the hook
        posix.mkdir(path, 0o700)
    except FileExistsError:
        pass


def open_to_append(folder: bytes, name: bytes) -> int:
    path = folder + b"/" + name
    try:
        return posix.open(path, _FLAGS, 0o600)
    except FileNotFoundError:
        make_folder(folder)
        return posix.open(path, _FLAGS, 0o600)


def take_lock(descriptor: int) -> bool:
    """Whether the lock was got within some patience. It goes with any descriptor of the file."""
    try:
        posix.lockf(descriptor, posix.F_TLOCK, 0)
        return True
    except OSError:
        pass
    waiting = True

    def give_up(_signum: int, _frame: object) -> None:
        if waiting:
            raise TimeoutError

    _signal.signal(_signal.SIGALRM, give_up)
    _signal.setitimer(_signal.ITIMER_REAL, _PATIENCE, _TRY_AGAIN)
    try:
        posix.lockf(descriptor, posix.F_LOCK, 0)
        return True
    except OSError:  # TimeoutError, or a file system without locks
        return False
    finally:
        waiting = False
        _signal.setitimer(_signal.ITIMER_REAL, 0)
