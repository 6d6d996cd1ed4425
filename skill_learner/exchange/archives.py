"""Skills as a zip archive: one folder each, which any other tool reads, and a list of their states.

An archive may come from anywhere. Its names and sizes are checked before a byte of it is unpacked,
and no more is unpacked than it declares: one entry that leads out of it, or lies, refuses it whole.
"""

from __future__ import annotations

import io
import json
import stat
import zipfile
import zlib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any

from skill_learner.errors import SkillFormatError
from skill_learner.exchange.documents import FORMAT, STATES, VERSION
from skill_learner.exchange.exported import ExportedSkill
from skill_learner.exchange.incoming import Incoming, IncomingSkill, Unfit, grouped
from skill_learner.exchange.safe_files import (
    MOST_BYTES,
    MOST_IN_ALL,
    SkillFileData,
    check_inside,
    is_ignored,
    too_large,
)

MANIFEST = "skill-learner-export.json"
MOST_ENTRIES = 50_000
_FIXED_TIME = (1980, 1, 1, 0, 0, 0)


def export_archive(skills: Iterable[ExportedSkill]) -> bytes:
    """The archive's bytes, the same for the same skills."""
    listed = []
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for skill in skills:
            listed.append({"name": skill.name, "state": skill.state, "scope": skill.scope})
            for path, file in skill.files.items():
                mode = 0o755 if file.executable else 0o644
                archive.writestr(_entry(f"{skill.name}/{path}", mode), file.data)
        manifest = {"format": FORMAT, "version": VERSION, "skills": listed}
        archive.writestr(_entry(MANIFEST, 0o644), json.dumps(manifest, indent=1) + "\n")
    return buffer.getvalue()


def read_archive(data: bytes, name: str) -> Incoming:
    """The skills of an archive; SkillFormatError when the archive is damaged or unsafe.

    name: what a skill at the archive's root is called, and the archive in messages.
    """
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            entries = _checked_entries(archive, name)
            listed = _listed(archive)
            files = [(path, _unpacked(archive, info, name)) for path, info in entries]
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError) as problem:
        raise SkillFormatError(f"{name}: not a readable zip archive: {problem}") from problem
    found = grouped(files, name.rpartition("/")[2].removesuffix(".zip"), listed)
    return Incoming(tuple(_as_listed(skill, listed) for skill in found.skills), found.refused)


def _entry(path: str, mode: int) -> zipfile.ZipInfo:
    info = zipfile.ZipInfo(path, _FIXED_TIME)
    info.compress_type = zipfile.ZIP_DEFLATED
    info.create_system = 3  # Unix, so that the mode counts
    info.external_attr = (stat.S_IFREG | mode) << 16
    return info


def _checked_entries(archive: zipfile.ZipFile, name: str) -> list[tuple[str, zipfile.ZipInfo]]:
    infos = archive.infolist()
    if len(infos) > MOST_ENTRIES:
        raise SkillFormatError(f"{name}: {len(infos)} entries, more than {MOST_ENTRIES}")
    entries = []
    for info in infos:
        # orig_filename: zipfile itself cuts names at NUL and turns backslashes round
        path = check_inside(info.orig_filename.removesuffix("/"), name)
        kind = stat.S_IFMT(info.external_attr >> 16)
        if kind not in (0, stat.S_IFREG, stat.S_IFDIR):
            raise SkillFormatError(f"{name}: {path!r} is a link or a device, not a file")
        if info.flag_bits & 0x1:
            raise SkillFormatError(f"{name}: {path!r} is encrypted")
        if not info.is_dir() and path != MANIFEST and not is_ignored(path):
            entries.append((path, info))
    if sum(info.file_size for _, info in entries if not _is_too_large(info)) > MOST_IN_ALL:
        raise SkillFormatError(f"{name}: unpacks to more than {MOST_IN_ALL} bytes")
    doubled = [path for path, times in Counter(path for path, _ in entries).items() if times > 1]
    if doubled:
        raise SkillFormatError(f"{name}: more than one entry is called {doubled[0]!r}")
    return entries


def _is_too_large(info: zipfile.ZipInfo) -> bool:
    return info.file_size > MOST_BYTES


def _unpacked(archive: zipfile.ZipFile, info: zipfile.ZipInfo, name: str) -> SkillFileData | Unfit:
    """One file; a declared size is no promise, so no more than that is read."""
    if _is_too_large(info):
        return Unfit(too_large(info.filename, info.file_size))
    with archive.open(info) as handle:
        data = handle.read(info.file_size + 1)
    if len(data) > info.file_size:
        raise SkillFormatError(f"{name}: {info.filename!r} is larger than it says")
    return SkillFileData(data, bool((info.external_attr >> 16) & 0o111))


def _listed(archive: zipfile.ZipFile) -> dict[str, tuple[str, str]]:
    """Names with state and scope, as our own manifest says; other tools' archives have none."""
    try:
        info = archive.getinfo(MANIFEST)
        with archive.open(info) as handle:
            manifest: Any = json.loads(handle.read(MOST_BYTES))
        return {
            str(item["name"]): (str(item["state"]), str(item.get("scope") or ""))
            for item in manifest["skills"]
            if item["state"] in STATES
        }
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError):
        return {}


def _as_listed(skill: IncomingSkill, listed: Mapping[str, tuple[str, str]]) -> IncomingSkill:
    state, scope = listed.get(skill.name, ("", ""))
    return replace(skill, state=state, scope=scope)
