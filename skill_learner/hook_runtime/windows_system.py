"""What hooks ask of `posix`, answered by Windows' `nt`. Loaded there only.

Files are opened as bytes, not as text, and are not handed to children. There is no alarm, no fork
and no owner of a file; what needs those has a module of its own.
"""

from skill_learner import windows
from skill_learner.hook_runtime import windows_paths

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_PATH_NOT_FOUND = 3

_locked: set[int] = set()
"""Descriptors whose lock we hold."""


class WindowsSystem:
    """nt: the built-in module; whatever is not named here is its own."""

    O_CLOEXEC = 0
    O_NONBLOCK = 0
    O_NOFOLLOW = 0

    def __init__(self, nt: "Any") -> None:
        self._nt = nt
        self._always = nt.O_BINARY | nt.O_NOINHERIT
        self.environ = {_encoded(key).upper(): _encoded(value) for key, value in nt.environ.items()}

    def __getattr__(self, name: str) -> "Any":
        return getattr(self._nt, name)

    def open(self, path: bytes, flags: int, mode: int = 0o777) -> int:
        number: int = self._nt.open(windows_paths.reachable(path), flags | self._always, mode)
        return number

    def close(self, descriptor: int) -> None:
        if descriptor in _locked:
            _locked.discard(descriptor)
            windows.release_lock(descriptor)
        self._nt.close(descriptor)

    def pread(self, descriptor: int, size: int, offset: int) -> bytes:
        self._nt.lseek(descriptor, offset, 0)
        data: bytes = self._nt.read(descriptor, size)
        return data

    def rename(self, old: bytes, new: bytes) -> None:
        """As POSIX has it: over what is there."""
        from skill_learner.hook_runtime.deadline import left

        windows.patiently(lambda: self._nt.replace(old, new), left(windows.BUSY_SECONDS))

    def stat(self, path: bytes) -> "Any":
        return self._nt.stat(windows_paths.reachable(path))

    def lstat(self, path: bytes) -> "Any":
        """NotADirectoryError where a file stands in the way, as on POSIX systems."""
        try:
            return self._nt.lstat(windows_paths.reachable(path))
        except FileNotFoundError as fault:
            if getattr(fault, "winerror", None) == _PATH_NOT_FOUND and self._is_file_above(path):
                raise NotADirectoryError(20, "Not a directory", path) from None
            raise

    def _is_file_above(self, path: bytes) -> bool:
        try:
            status = self._nt.lstat(path.rpartition(b"/")[0])
        except OSError:
            return False
        return bool(status.st_mode & 0o170000 == 0o100000)

    def readlink(self, path: bytes) -> bytes:
        return windows_paths.normal(self._nt.readlink(path))

    def symlink(self, source: bytes, link: bytes) -> None:
        windows.link_folder(
            source.decode("utf-8", "surrogatepass"),
            link.decode("utf-8", "surrogatepass"),
            self._nt.symlink,
        )

    def getcwdb(self) -> bytes:
        return windows_paths.normal(_encoded(self._nt.getcwd()))

    def geteuid(self) -> int:
        """`st_uid` is 0 for every file."""
        return 0


def take_lock(descriptor: int, patience: float) -> bool:
    """Whether the file's lock was got in so many seconds; it goes when the file is closed."""
    if not windows.take_lock(descriptor, patience):
        return False
    _locked.add(descriptor)
    return True


def make_system() -> WindowsSystem:
    import nt

    return WindowsSystem(nt)


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")
