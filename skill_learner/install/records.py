"""What an install did, so that it can be undone exactly: `installs/*.json` in the state folder."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import os
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

from skill_learner import files
from skill_learner.hook_runtime.project_key import project_key
from skill_learner.paths import StatePaths


@dataclass(frozen=True)
class FileRecord:
    """One file of the user's, or for the user, that an install changed.

    kind: settings, index_block, index_file, seed_skill or exclude.
    before: its bytes before we came; None when there was no file.
    after: sha256 of the bytes we wrote last.
    """

    path: str
    kind: str
    before: bytes | None
    after: str


@dataclass(frozen=True)
class InstallRecord:
    """One install. root: the folder whose editor files hold it (the home folder for `user`).
    made_dirs: folders that did not exist before, outermost first. rules: the layout of the index
    that the user chose, "" for the usual one."""

    target: str
    scope: str
    root: str
    files: tuple[FileRecord, ...]
    made_dirs: tuple[str, ...]
    interpreter: str
    version: str
    at: float
    rules: str = ""

    def file(self, path: Path) -> FileRecord | None:
        return next((f for f in self.files if f.path == str(path)), None)


_known: dict[str, tuple[tuple[int, ...], InstallRecord | None]] = {}


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def load(paths: StatePaths, target: str, scope: str, root: Path) -> InstallRecord | None:
    return _read(_path(paths, target, scope, str(root)))


def load_all(paths: StatePaths) -> list[InstallRecord]:
    """Every install known to this state folder; damaged records are left out."""
    try:
        names = sorted(os.listdir(paths.installs_dir))
    except OSError:
        return []
    folder = os.path.join(paths.installs_dir, "")
    found = [_read_again(folder + name) for name in names if name.endswith(".json")]
    return [record for record in found if record is not None]


def save(paths: StatePaths, record: InstallRecord) -> None:
    files.ensure_private_dir(paths.root)
    files.ensure_private_dir(paths.installs_dir)
    fields = asdict(record)
    for file in fields["files"]:
        before = file["before"]
        file["before"] = None if before is None else base64.b64encode(before).decode("ascii")
    text = json.dumps(fields, indent=1, ensure_ascii=True) + "\n"
    files.atomic_write(_path(paths, record.target, record.scope, record.root), text.encode("ascii"))


def remove(paths: StatePaths, record: InstallRecord) -> None:
    _path(paths, record.target, record.scope, record.root).unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        paths.installs_dir.rmdir()


def relocate(paths: StatePaths, old: Path, new: Path) -> None:
    """Rewrite the records of installs below `old`, after that folder has become `new`."""
    for record in load_all(paths):
        if record.scope == "user" or not _is_below(record.root, old):
            continue
        moved = replace(
            record,
            root=_moved(record.root, old, new),
            files=tuple(replace(f, path=_moved(f.path, old, new)) for f in record.files),
            made_dirs=tuple(_moved(d, old, new) for d in record.made_dirs),
        )
        save(paths, moved)
        remove(paths, record)


def _is_below(path: str, folder: Path) -> bool:
    return path == str(folder) or path.startswith(str(folder).rstrip(os.sep) + os.sep)


def _moved(path: str, old: Path, new: Path) -> str:
    if not _is_below(path, old):
        return path
    return os.path.normpath(new / os.path.relpath(path, old))


def _path(paths: StatePaths, target: str, scope: str, root: str) -> Path:
    key = project_key(os.fsencode(root))
    return paths.installs_dir / f"{target}-{scope}-{key}.json"


def _read_again(path: str) -> InstallRecord | None:
    """As `_read`, but a file that is the same as before is not read twice: one command may ask for
    all installs once for each of them."""
    try:
        now = os.stat(path)
    except OSError:
        return None
    signature = (now.st_ino, now.st_mtime_ns, now.st_size)
    if _known.get(path, ((), None))[0] != signature:
        _known[path] = (signature, _read(Path(path)))
    return _known[path][1]


def _read(path: Path) -> InstallRecord | None:
    try:
        fields: dict[str, Any] = json.loads(path.read_bytes())
        fields["files"] = tuple(
            FileRecord(
                f["path"],
                f["kind"],
                None if f["before"] is None else base64.b64decode(f["before"]),
                f["after"],
            )
            for f in fields["files"]
        )
        return InstallRecord(**{**fields, "made_dirs": tuple(fields["made_dirs"])})
    except (OSError, ValueError, TypeError, KeyError, RecursionError):
        return None
