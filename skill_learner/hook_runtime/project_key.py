"""Which project a folder belongs to, and safe file names for what comes from outside.

Shared by the hook (where every import costs) and the cold commands, so that both agree.
"""

try:
    import posix
except ImportError:  # Windows: the same calls under another name
    import nt as posix  # type: ignore[no-redef]

_SAFE = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_."
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
    while True:
        try:
            posix.lstat(folder + b"/.git/HEAD")
            return folder or b"/", folder or b"/"
        except NotADirectoryError:  # .git is a file: a linked worktree or a submodule
            return folder, _main_worktree(folder)
        except OSError:
            pass
        if not folder or folder == b".":
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


def project_key(path: bytes) -> str:
    """A file name for a project: readable tail of its path, then 64-bit FNV-1a of all of it."""
    tail = path.rstrip(b"/").rpartition(b"/")[2]
    readable = bytes(c if c in _SAFE else 0x2D for c in tail[-_LONGEST_TAIL:]).strip(b"-.")
    return f"{(readable or b'project').decode('ascii')}-{fnv1a(path):016x}"


def safe_name(identifier: bytes) -> bytes:
    """Map an identifier to a file name: letters, digits, `-`, `_` and `.` stay, other bytes become
    `%xx`; never empty, `.` or `..`; above 200 bytes it is cut and ends in a hash of the whole."""
    name = identifier
    if name.translate(None, _SAFE):
        name = b"".join(bytes((c,)) if c in _SAFE else b"%%%02x" % c for c in name)
    if not name.strip(b"."):
        name = name.replace(b".", b"%2e") or b"%"
    if len(name) > _LONGEST_NAME:
        name = name[: _LONGEST_NAME - 17] + b"-%016x" % fnv1a(identifier)
    return name


def fnv1a(data: bytes) -> int:
    value = 0xCBF29CE484222325
    for byte in data:
        value = ((value ^ byte) * 0x100000001B3) & 0xFFFFFFFFFFFFFFFF
    return value


def resolve(path: bytes) -> bytes:
    """Absolute form of `path` without symlinks, `.` and `..`; parts that do not exist stay."""
    if not path.startswith(b"/"):
        path = posix.getcwdb() + b"/" + path
    done = b""
    left = path.split(b"/")
    left.reverse()
    links = 0
    while left:
        part = left.pop()
        if part == b"..":
            done = done.rpartition(b"/")[0]
        elif part not in (b"", b"."):
            step = done + b"/" + part
            try:
                target = posix.readlink(step)
            except (OSError, ValueError):
                done = step
                continue
            links += 1
            if links > _MOST_LINKS:
                done = step
                continue
            if target.startswith(b"/"):
                done = b""
            left.extend(reversed(target.split(b"/")))
    return done or b"/"


def _join(folder: bytes, path: bytes) -> bytes:
    return path if path.startswith(b"/") else folder + b"/" + path


def _first_line(path: bytes) -> bytes:
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC)
    except OSError:
        return b""
    try:
        return posix.read(descriptor, 4096).partition(b"\n")[0].strip()
    except OSError:
        return b""
    finally:
        posix.close(descriptor)
