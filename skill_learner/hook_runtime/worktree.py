"""Gives a linked worktree the skills and the index that its main worktree was given by publish."""

from skill_learner.events import HookCall
from skill_learner.hook_runtime.project_key import is_absolute
from skill_learner.hook_runtime.state_folder import read_file
from skill_learner.hook_runtime.system import IS_WINDOWS, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_MOST_INDEX = 1 << 20


_SEED = b"/skill-learner"
_SEED_MARK = b"skill-learner-seed:"
_MOST_SEED = 1 << 16


def link_skills(call: HookCall, target: "ModuleType", published: bytes) -> "tuple[bool, bytes]":
    """Adds links that are missing and a copy of the seed skill where git carries none, takes away
    links of ours that lead nowhere; nothing else is touched. A folder of the worktree that is
    itself a symlink is not followed. Whether there is anything for a worktree, and the index where
    the editor has started without one."""
    old = system.umask(call.umask)
    try:
        top = call.event.worktree
        relative = _skills_folder(call.event.project, target, published)
        seed = read_file(call.event.project + b"/" + relative + _SEED + b"/SKILL.md", _MOST_SEED)
        if published and _real_folder(top, relative):
            _link_all(top + b"/" + relative, published)
        if seed and _real_folder(top, relative + _SEED):
            _copy_seed(top + b"/" + relative + _SEED + b"/SKILL.md", seed)
        index = _copy_index(call, target)
        return bool(published or seed), index if published else b""
    finally:
        system.umask(old)


def _skills_folder(project: bytes, target: "ModuleType", published: bytes) -> bytes:
    """The one that publish uses in the main worktree: where two editors are installed and one reads
    the other's, that one."""
    for shared in target.READS_SKILLS:
        relative: bytes = shared.encode("ascii")
        for line in published.split(b"\n"):
            name = line.partition(b"\t")[0]
            if name and _exists(project + b"/" + relative + b"/" + name):
                return relative
    own: bytes = target.SKILLS_DIR["project"].encode("ascii")
    return own


def _link_all(skills: bytes, published: bytes) -> None:
    libraries = set()
    for line in published.split(b"\n"):
        name, _, folder = line.partition(b"\t")
        if not name or name.startswith(b".") or b"/" in name or not is_absolute(folder):
            continue
        if IS_WINDOWS:
            from skill_learner.hook_runtime.windows_paths import normal

            folder = normal(folder)
        libraries.add(folder.rpartition(b"/")[0])
        link = skills + b"/" + name
        if not _exists(link) and _is_folder(folder):
            _link(folder, link)
    for name in system.listdir(skills):
        link = skills + b"/" + name
        try:
            leads_to = system.readlink(link)
        except OSError:
            continue
        if leads_to.rpartition(b"/")[0] in libraries and not _is_folder(leads_to):
            system.unlink(link)


def _link(folder: bytes, link: bytes) -> None:
    """Where no link can be made, the worktree goes without: copies are for `publish`."""
    try:  # noqa: SIM105 - contextlib is too slow to import here
        system.symlink(folder, link)
    except OSError:
        pass


def _copy_seed(mine: bytes, seed: bytes) -> None:
    """Never over a file that is not ours."""
    known = read_file(mine, _MOST_SEED)
    if known != seed and not _is_link(mine) and (_SEED_MARK in known or not _exists(mine)):
        _write(mine, seed)


def _copy_index(call: HookCall, target: "ModuleType") -> bytes:
    """What was published, where the worktree had no index yet."""
    event = call.event
    relative = target.INDEX_IMPORT.encode("ascii")
    key = event.project_key.encode("ascii")
    index = read_file(call.state + b"/published/" + key + b".index.md", _MOST_INDEX)
    mine = event.worktree + b"/" + relative
    if not index or not _exists(event.project + b"/" + relative):
        return b""
    if not _real_folder(event.worktree, relative.rpartition(b"/")[0]) or _is_link(mine):
        return b""
    own = target.own_index(index, read_file(event.project + b"/" + relative, _MOST_INDEX))
    is_new = not _exists(mine)
    if is_new or read_file(mine, _MOST_INDEX) != own:
        _write(mine, own)
    return index if is_new else b""


def _write(path: bytes, data: bytes) -> None:
    draft = path + b".%d" % system.getpid()
    flags = system.O_WRONLY | system.O_CREAT | system.O_EXCL | system.O_CLOEXEC
    descriptor = system.open(draft, flags, 0o666)
    try:
        try:
            left = data
            while left:
                left = left[system.write(descriptor, left) :]
        finally:
            system.close(descriptor)
        system.rename(draft, path)
    except BaseException:  # a full disk, or the time is over
        system.unlink(draft)
        raise


def _real_folder(top: bytes, relative: bytes) -> bool:
    """Make the folder where it is missing; False when a part of it is a link or a file."""
    path = top
    for part in relative.split(b"/"):
        path += b"/" + part
        try:
            system.mkdir(path, 0o777)
        except FileExistsError:
            if _is_link(path) or not _is_folder(path):
                return False
    return True


def _is_folder(path: bytes) -> bool:
    try:
        return system.stat(path).st_mode & 0o170000 == 0o040000
    except OSError:
        return False


def _is_link(path: bytes) -> bool:
    try:
        return system.lstat(path).st_mode & 0o170000 == 0o120000
    except OSError:
        return False


def _exists(path: bytes) -> bool:
    try:
        system.lstat(path)
    except OSError:
        return False
    return True
