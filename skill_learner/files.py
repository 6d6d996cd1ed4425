"""Files that change on disk: private folders, atomic replacement, advisory locks.

Kept free of everything else so that any layer may use it.
"""

from __future__ import annotations

import contextlib
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator
from pathlib import Path

ON_WINDOWS = os.name == "nt"
DRAFT_SUFFIX = ".sl-draft"
_PART = 1 << 16
_NO_LIMIT = 1 << 62
_NO_WAITING = getattr(os, "O_NONBLOCK", 0)
_PLAIN_READ = getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def ensure_private_dir(path: Path) -> Path:
    """Create `path` and what is missing above it, each 0700 whatever the umask; returns it. A
    folder that is there stays as it is."""
    if path.is_dir():
        return path
    if path.parent != path:
        ensure_private_dir(path.parent)
    try:
        path.mkdir(mode=0o700)
    except FileExistsError:
        if not path.is_dir():
            raise
    else:
        path.chmod(0o700)
    return path


def atomic_write(
    path: Path,
    data: bytes,
    mode: int | None = None,
    *,
    check: Callable[[], None] | None = None,
) -> None:
    """Replace the file at `path` by `data`: readers see the old bytes or the new, never a mixture.

    mode: permission bits; None keeps those of an existing file, else 0600. A symlink at `path` is
    written through, so that the link itself stays. The data is on disk before the name changes.
    check: called at the last moment; what it raises leaves the file as it is.
    """
    target = Path(os.path.realpath(path)) if path.is_symlink() else path
    if mode is None:
        try:
            mode = target.stat().st_mode & 0o7777
        except OSError:
            mode = 0o600
    with naming(path):
        _replace_by_draft(target, data, mode, check)


@contextlib.contextmanager
def naming(path: Path) -> Iterator[None]:
    """An OSError within names this file: the user knows of no draft, and a full disk names none."""
    try:
        yield
    except OSError as error:
        error.filename, error.filename2 = os.fspath(path), None
        raise


def _replace_by_draft(
    target: Path, data: bytes, mode: int, check: Callable[[], None] | None
) -> None:
    import tempfile  # only writers pay for it

    descriptor, temporary = tempfile.mkstemp(
        prefix=f".{target.name[:40]}.", suffix=DRAFT_SUFFIX, dir=target.parent
    )
    try:
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(data)
            handle.flush()
            os.fsync(handle.fileno())
        os.chmod(temporary, mode)
        if check is not None:
            check()
        _replace(temporary, target)
    except BaseException:
        with contextlib.suppress(OSError):
            os.unlink(temporary)
        raise


def sync_file_system(folder: str) -> None:
    """Wait until all that was written to the folder's file system is on its disk; where the system
    knows no such wait, until all is on all disks. Nothing on Windows. OSError: some is not."""
    syncfs = _syncfs()
    if syncfs is None:
        if hasattr(os, "sync"):
            os.sync()
        return
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if syncfs(descriptor) != 0:
            raise OSError(f"{folder}: what was written did not all reach the disk")
    finally:
        os.close(descriptor)


def _syncfs() -> Callable[[int], int] | None:
    """The system call of that name, which Python has no word for; None where there is none."""
    if ON_WINDOWS:
        return None
    with contextlib.suppress(ImportError, OSError, AttributeError):
        import ctypes  # only who writes many files pays for it

        found: Callable[[int], int] = ctypes.CDLL(None).syncfs
        return found
    return None


def read_at_once(path: str, limit: int = _NO_LIMIT) -> bytes:
    """The bytes of a file; ValueError when there are more than `limit`. For those who read
    thousands of small files: it makes no object but the bytes."""
    descriptor = os.open(path, os.O_RDONLY | _PLAIN_READ)
    try:
        size = os.fstat(descriptor).st_size
        if size > limit:
            raise ValueError(f"{size} bytes")
        data = os.read(descriptor, size)
        while part := os.read(descriptor, _PART):  # it grew, or its size is not told
            data += part
            if len(data) > limit:
                raise ValueError(f"{len(data)} bytes")
        return data
    finally:
        os.close(descriptor)


def read_plain(path: Path) -> bytes:
    """The bytes of a file that is somebody else's; OSError where no plain file is there. (A pipe
    would be waited for, perhaps for ever.)"""
    descriptor = os.open(path, os.O_RDONLY | _PLAIN_READ | _NO_WAITING)
    try:
        mode = os.fstat(descriptor).st_mode
        if stat.S_ISDIR(mode):
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
        if not stat.S_ISREG(mode):
            raise OSError(errno.EINVAL, "it is no plain file", str(path))
        with os.fdopen(descriptor, "rb", closefd=False) as handle:
            return handle.read()
    finally:
        os.close(descriptor)


def remove_old_drafts(folder: Path, min_age: float = 600.0) -> int:
    """Remove drafts in this folder that a killed `atomic_write` left; how many. A younger one may
    still be at work."""
    removed = 0
    with contextlib.suppress(OSError):
        for path in folder.glob(f".*{DRAFT_SUFFIX}"):
            with contextlib.suppress(OSError):
                if path.lstat().st_mtime < time.time() - min_age:
                    path.unlink()
                    removed += 1
    return removed


def append_line(path: Path, line: bytes) -> None:
    """Append one whole line to a 0600 file, under its lock; a torn earlier line is closed first."""
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0) as handle:
        _lock(descriptor, blocking=True)
        try:
            size = os.fstat(descriptor).st_size
            if size:
                handle.seek(size - 1)
                if handle.read(1) != b"\n":
                    line = b"\n" + line
            handle.write(line + b"\n")
        finally:
            _unlock(descriptor)


@contextlib.contextmanager
def locked(path: Path, timeout: float | None = None) -> Iterator[None]:
    """Hold the advisory lock file `path` for the block.

    timeout: seconds to wait; None waits for ever, 0 tries once. Raises TimeoutError. The lock goes
    with the process, so a crash never leaves it behind; the empty file stays.
    """
    ensure_private_dir(path.parent)
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o600)
    with os.fdopen(descriptor, "r+b", buffering=0):
        deadline = None if timeout is None else time.monotonic() + timeout
        while not _lock(descriptor, blocking=deadline is None):
            if deadline is not None and time.monotonic() >= deadline:
                raise TimeoutError(f"{path} is locked by another process")
            time.sleep(0.02)
        try:
            yield
        finally:
            _unlock(descriptor)


def _lock(descriptor: int, *, blocking: bool) -> bool:
    if ON_WINDOWS:
        from skill_learner import windows

        return windows.take_lock(descriptor, None if blocking else 0)
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if blocking else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    return True


def _unlock(descriptor: int) -> None:
    """Said, not left to the closing of the file: a child that was forked meanwhile has it open."""
    if ON_WINDOWS:
        from skill_learner import windows

        windows.release_lock(descriptor)
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_UN)


def _replace(source: str, target: Path) -> None:
    if ON_WINDOWS:
        from skill_learner import windows

        windows.patiently(lambda: os.replace(source, target))
    else:
        os.replace(source, target)
