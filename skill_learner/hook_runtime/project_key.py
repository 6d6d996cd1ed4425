"""Which project a folder belongs to, and safe file names for what comes from outside.

Shared by the hook (where every import costs) and the cold commands, so that both agree.
"""

from skill_learner.hook_runtime.system import IS_MAC, IS_WINDOWS, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

if IS_WINDOWS:
    from skill_learner.hook_runtime import windows_paths
elif IS_MAC:
    from skill_learner.hook_runtime.mac_paths import as_stored

_SAFE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
_DEVICES = (  # of Windows, whatever follows a dot
    b" CON PRN AUX NUL COM1 COM2 COM3 COM4 COM5 COM6 COM7 COM8 COM9"
    b" LPT1 LPT2 LPT3 LPT4 LPT5 LPT6 LPT7 LPT8 LPT9 "
)
_LONGEST_NAME = 200
_LONGEST_TAIL = 40
_MOST_LINKS = 40


def find_project(start: bytes) -> bytes:
    """The main worktree of the git repository that `start` lies in; without one, `start` itself.

    Symlinks in the answer are resolved. Never raises.
    """
    return locate(start)[1]


def locate(start: bytes) -> tuple[bytes, bytes]:
    """(top folder of the worktree that holds `start`, project). Equal but in a linked worktree."""
    start = resolve(start)
    folder = start
    top = len(windows_paths.split_root(start)[0]) if IS_WINDOWS else 0
    while True:
        try:
            system.lstat(folder + b"/.git/HEAD")
            return _whole(folder), _whole(folder)
        except NotADirectoryError:  # .git is a file: a linked worktree or a submodule
            return folder, _main_worktree(folder)
        except OSError:
            pass
        if len(folder) <= top:
            return start, start
        folder = folder.rpartition(b"/")[0]


def _main_worktree(top: bytes) -> bytes:
    """Follow `.git` (file) to its git dir to `commondir`; one not named .git has no worktree."""
    pointer = _first_line(top + b"/.git")
    if not pointer.startswith(b"gitdir:"):
        return top
    git_dir = _join(top, pointer[7:].strip())
    common = _first_line(git_dir + b"/commondir")
    if not common:
        return top
    parent, _, name = resolve(_join(git_dir, common)).rpartition(b"/")
    return (parent or b"/") if name == b".git" else top


def _whole(folder: bytes) -> bytes:
    """A root as it is written: without parts it would be the empty path, or a bare drive."""
    if IS_WINDOWS and folder[1:] == b":":
        return folder + b"/"
    return folder or b"/"


def is_absolute(path: bytes) -> bool:
    return windows_paths.is_absolute(path) if IS_WINDOWS else path.startswith(b"/")


def project_key(path: bytes) -> str:
    """A file name for a project: readable tail of its path, then 64-bit FNV-1a of all of it."""
    if not path.startswith(b"/") or path.startswith(b"//"):
        from skill_learner.hook_runtime.windows_paths import comparable

        path = comparable(path)
    tail = path.rstrip(b"/").rpartition(b"/")[2]
    readable = bytes(c if c in _SAFE else 0x2D for c in tail[-_LONGEST_TAIL:]).strip(b"-.")
    return f"{(readable or b'project').decode('ascii')}-{fnv1a(path):016x}"


def safe_name(identifier: bytes) -> bytes:
    """Map an identifier to a file name: letters, digits, `-`, `_` and `.` stay, other bytes become
    `%xx`; never empty, `.` or `..`, nor what Windows takes for a device or for another name; above
    200 bytes it is cut and ends in a hash of the whole."""
    name = identifier
    if name.translate(None, _SAFE):
        name = b"".join(bytes((c,)) if c in _SAFE else b"%%%02x" % c for c in name)
    if not name.strip(b"."):
        name = name.replace(b".", b"%2e") or b"%"
    if name.endswith(b".") or b" %s " % name.partition(b".")[0].upper() in _DEVICES:
        at = len(name) - 1 if name.endswith(b".") else 0
        name = name[:at] + b"%%%02x" % name[at] + name[at + 1 :]
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME - 17] + b"-%016x" % fnv1a(identifier)
    return name


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def expanded(path: bytes, environ: "Mapping[bytes, bytes]") -> bytes:
    """`path` with the home folder for a `~` at its beginning, where the environment names one."""
    home = environ.get(b"USERPROFILE" if IS_WINDOWS else b"HOME", b"")
    if home and path[:1] == b"~" and path[1:2] in (b"", b"/", b"\\"):
        return home.rstrip(b"/") + path[1:]
    return path


def resolve(path: bytes) -> bytes:
    """Absolute form of `path` without symlinks, `.` and `..`, on macOS spelled as on disk; parts
    that do not exist stay."""
    root, path = _rooted(path)
    done = root
    left = path.split(b"/")
    left.reverse()
    links = 0
    while left:
        part = left.pop()
        if part == b"..":
            done = done.rpartition(b"/")[0] if len(done) > len(root) else root
        elif part not in (b"", b"."):
            step = done + b"/" + part
            try:
                target = system.readlink(step)
            except (OSError, ValueError):
                done = step
                continue
            links += 1
            if links > _MOST_LINKS:
                done = step
                continue
            if is_absolute(target):
                root, target = _rooted(target)
                done = root
            left.extend(reversed(target.split(b"/")))
    return as_stored(_whole(done)) if IS_MAC else _whole(done)


def _rooted(path: bytes) -> "tuple[bytes, bytes]":
    """(drive or share of Windows, else b"", absolute path below it)."""
    if IS_WINDOWS:
        path = windows_paths.normal(path)
        root, below = windows_paths.split_root(path)
        if not root:  # of the current drive, or relative
            here = system.getcwdb()
            root, folder = windows_paths.split_root(here)
            below = path if path.startswith(b"/") else folder + b"/" + path
        return root, below
    return b"", path if path.startswith(b"/") else system.getcwdb() + b"/" + path


def _join(folder: bytes, path: bytes) -> bytes:
    return path if is_absolute(path) else folder + b"/" + path


def _first_line(path: bytes) -> bytes:
    try:
        # O_NONBLOCK: what a project has there may be a pipe that nobody writes to.
        descriptor = system.open(path, system.O_RDONLY | system.O_CLOEXEC | system.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return system.read(descriptor, 4096).partition(b"\n")[0].strip()
    except OSError:
        return b""
    finally:
        system.close(descriptor)
