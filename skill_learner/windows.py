"""What hooks and commands both need of Windows, where it is not as on POSIX systems.

Imported there alone; the tests run it elsewhere with `msvcrt`, `ctypes` and `_winapi` of their own.
"""

import os
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

LOCKED_BYTE = 0x7FFF0000
"""The byte that stands for the file. Locks are mandatory there, so it lies where nobody reads."""
_TRY_AGAIN = 0.02
_STILL_ACTIVE = 259
_ACCESS_DENIED = 5
_QUERY_LIMITED_INFORMATION = 0x1000
BUSY_SECONDS = 2.0


def take_lock(descriptor: int, patience: "float | None") -> bool:
    """Whether the file's lock was got within `patience` seconds (None: however long it takes)."""
    lock, seek = _msvcrt(), os.lseek
    until = None if patience is None else time.monotonic() + patience
    while True:
        seek(descriptor, LOCKED_BYTE, 0)
        try:
            lock.locking(descriptor, lock.LK_NBLCK, 1)
            return True
        except OSError:
            if until is not None and time.monotonic() >= until:
                return False
        finally:
            seek(descriptor, 0, 0)
        time.sleep(_TRY_AGAIN)


def release_lock(descriptor: int) -> None:
    """Let go now: left to the closing of the file, the system does it when it finds the time."""
    lock, seek = _msvcrt(), os.lseek
    seek(descriptor, LOCKED_BYTE, 0)
    try:
        lock.locking(descriptor, lock.LK_UNLCK, 1)
    except OSError:
        pass
    finally:
        seek(descriptor, 0, 0)


def process_runs(pid: int) -> bool:
    """Whether a process with this id exists. (`os.kill` with any signal would end it.)"""
    import ctypes

    library: Any = ctypes
    kernel = library.windll.kernel32
    handle = kernel.OpenProcess(_QUERY_LIMITED_INFORMATION, False, pid)
    if not handle:
        return bool(kernel.GetLastError() == _ACCESS_DENIED)
    code = ctypes.c_ulong()
    try:
        # One that has ended is still there while anybody holds a handle.
        known = kernel.GetExitCodeProcess(handle, ctypes.byref(code))
        return not known or code.value == _STILL_ACTIVE
    finally:
        kernel.CloseHandle(handle)


def link_folder(source: str, link: str, symlink: "Callable[..., None]") -> None:
    """A symlink where the user may make one, else a junction, which everybody may. Raises OSError
    where neither works (another machine's folder, a file system without them)."""
    source = source.replace("/", "\\")
    try:
        symlink(source, link, target_is_directory=True)
    except OSError:
        import _winapi

        module: Any = _winapi
        module.CreateJunction(source, link)


def patiently(change: "Callable[[], None]", seconds: "float | None" = None) -> None:
    """Do what fails while anybody has the file open (a virus scanner, a reader of ours)."""
    until = time.monotonic() + (BUSY_SECONDS if seconds is None else seconds)
    while True:
        try:
            return change()
        except PermissionError:
            if time.monotonic() >= until:
                raise
        time.sleep(_TRY_AGAIN)


def _msvcrt() -> "Any":
    import msvcrt

    return msvcrt
