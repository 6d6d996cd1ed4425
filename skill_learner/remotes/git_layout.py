"""How skills lie in a repository: one folder each, nothing that a person could not read and edit.

skills/<name>/SKILL.md, .provenance.json, further files
counters/<machine>.json     uses, written by that machine alone
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from skill_learner.exchange.safe_files import (
    MOST_BYTES,
    MOST_FILES,
    SkillFileData,
    is_safe_part,
)
from skill_learner.remotes.git_program import GitFailedError, GitProgram
from skill_learner.remotes.protocol import CounterKey, OutgoingSkill, RemoteSkill

SKILLS = "skills"
COUNTERS = "counters"
MOST_AT_ONCE = 400 * 1024 * 1024
MOST_COUNTER_BYTES = 4 * 1024 * 1024
_BATCH_BYTES = 32 * 1024 * 1024
_FEW = 200
_FIRST_FILES = {
    ".gitattributes": b"skills/*/SKILL.md text eol=lf\nskills/*/.provenance.json text eol=lf\n",
    "README.md": b"# Skills\n\nEach folder below `skills/` is one skill. Edit, review and merge"
    b" them like any\nother text; skill-learner brings them to the machines that share this"
    b" repository.\n",
}


_ENTRY = re.compile(rf"(?<![^\0])(\d+) \w+ (\w+) +(\S+)\t{SKILLS}/([^/\0]+)/([^\0]+)\0")
"""Of what `ls-tree -r -l -z` prints, whatever lies in a skill's folder, also what has no size, or
one that says BAD, for it is missing in the copy."""


class _Blob(NamedTuple):
    """name: the skill's. path: within its folder."""

    mode: str
    id: str
    size: int
    name: str
    path: str


def listing(git: GitProgram, commit: str, folder: str) -> dict[str, str]:
    """Names below a folder of a commit, with the ids of what lies there; of the counters, plain
    files only: anything else is no machine's."""
    raw = git.run("ls-tree", "-z", f"{commit}^{{tree}}", "--", f"{folder}/")
    found = {}
    for entry in filter(None, raw.split(b"\0")):
        head, _, path = entry.partition(b"\t")
        mode, _, identity = head.decode().split()
        if folder != COUNTERS or mode.startswith("100"):
            found[path.decode("utf-8", "surrogateescape").rpartition("/")[2]] = identity
    return found


def read_skills(git: GitProgram, commit: str, tokens: Mapping[str, str]) -> Iterator[RemoteSkill]:
    """The skills with these names and tree ids. Links, submodules and whatever is too large are
    never read: such a skill has a fault."""
    by_name: dict[str, list[_Blob]] = {name: [] for name in tokens}
    for blob in _blobs(git, commit, sorted(tokens)):
        if blob.name in by_name:
            by_name[blob.name].append(blob)
    sound: list[tuple[str, list[_Blob]]] = []
    room = MOST_AT_ONCE
    for name, blobs in by_name.items():
        size = sum(blob.size for blob in blobs)
        fault = _fault(name, blobs, size) or ("too much at once" if size > room else "")
        if fault:
            yield RemoteSkill(name, tokens[name], None, fault)
            continue
        room -= size
        sound.append((name, blobs))
    for batch in _batches(sound):
        contents = _read(git, [blob for _, blobs in batch for blob in blobs])
        for name, blobs in batch:
            files = {
                path: SkillFileData(contents[identity], mode == "100755")
                for mode, identity, _, _, path in blobs
            }
            yield RemoteSkill(name, tokens[name], files)


def read_counters(git: GitProgram, blobs: Mapping[str, str]) -> dict[CounterKey, int]:
    """The counters in files of these names and blob ids; what is damaged counts for nothing."""
    found: dict[CounterKey, int] = {}
    for name, blob in blobs.items():
        machine = name.removesuffix(".json")
        if not is_safe_part(machine) or int(git.run("cat-file", "-s", blob)) > MOST_COUNTER_BYTES:
            continue
        found.update(_counters(machine, git.run("cat-file", "blob", blob)))
    return found


def commit_stream(
    message: str,
    who: str,
    when: int,
    parent: str,
    skills: Sequence[OutgoingSkill],
    counters: Mapping[str, bytes],
) -> bytes:
    """A `git fast-import --done` stream for one commit on top of `parent` ("" for the first one).

    It prints the commit's id and leaves no ref: what a killed process's git still writes is never
    taken for the commit of a later one, nor does its lock stand in the way of that."""
    pieces = [b"commit refs/outgoing\nmark :1\n", f"committer {who} {when} +0000\n".encode()]
    pieces.append(_data(message.encode()))
    if parent:
        pieces.append(f"from {parent}\n".encode())
    else:
        pieces += [_file(path, data, False) for path, data in _FIRST_FILES.items()]
    for skill in skills:
        if skill.expected:
            pieces.append(f"D {SKILLS}/{skill.name}\n".encode())
        pieces += [
            _file(f"{SKILLS}/{skill.name}/{path}", file.data, file.executable)
            for path, file in sorted(skill.files.items())
        ]
    pieces += [_file(f"{COUNTERS}/{name}", data, False) for name, data in counters.items()]
    pieces.append(b"get-mark :1\nreset refs/outgoing\nfrom %s\n\ndone\n" % (b"0" * 40))
    return b"".join(pieces)


def counters_file(counters: Mapping[CounterKey, int]) -> bytes:
    """One machine's counters as a file, in an order that gives small differences."""
    sums: dict[str, dict[str, int]] = {}
    for (_, skill, kind), value in sorted(counters.items()):
        sums.setdefault(skill, {})[kind] = value
    return (json.dumps(sums, indent=1, sort_keys=True) + "\n").encode()


def _blobs(git: GitProgram, commit: str, names: Sequence[str]) -> Iterator[_Blob]:
    paths = [f"{SKILLS}/{name}" for name in names] if len(names) <= _FEW else [SKILLS]
    raw = git.run("ls-tree", "-r", "-l", "-z", f"{commit}^{{tree}}", "--", *paths)
    text = raw.decode("utf-8", "surrogateescape")
    for mode, identity, size, name, path in _ENTRY.findall(text):
        yield _Blob(mode, identity, int(size) if size.isdigit() else 0, name, path)


def _fault(name: str, blobs: Sequence[_Blob], size: int) -> str:
    odd = next((blob for blob in blobs if not blob.mode.startswith("100")), None)
    if odd is not None:
        return f"{f'{SKILLS}/{name}/{odd.path}'[:200]} is a link or another repository"
    if len(blobs) > MOST_FILES:
        return f"{len(blobs)} files, more than the {MOST_FILES} allowed"
    if size > MOST_BYTES:
        return f"{size} bytes, more than the {MOST_BYTES} allowed"
    return "" if blobs else f"{name[:80]!r} is no folder"


def _batches(
    sound: Sequence[tuple[str, list[_Blob]]],
) -> Iterator[list[tuple[str, list[_Blob]]]]:
    batch: list[tuple[str, list[_Blob]]] = []
    size = 0
    for name, blobs in sound:
        batch.append((name, blobs))
        size += sum(blob.size for blob in blobs)
        if size > _BATCH_BYTES:
            yield batch
            batch, size = [], 0
    if batch:
        yield batch


def _read(git: GitProgram, blobs: Sequence[_Blob]) -> dict[str, bytes]:
    ids = dict.fromkeys(blob.id for blob in blobs)
    raw = git.run("cat-file", "--batch", "--buffer", data="".join(f"{i}\n" for i in ids).encode())
    found: dict[str, bytes] = {}
    position = 0
    for wanted in ids:
        end = raw.index(b"\n", position)
        told = raw[position:end].split()
        if len(told) != 3:
            raise GitFailedError("cat-file", f"{wanted} is missing in the copy")
        size = int(told[2])
        found[wanted] = raw[end + 1 : end + 1 + size]
        position = end + 2 + size
    return found


def _counters(machine: str, data: bytes) -> dict[CounterKey, int]:
    try:
        sums = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return {
        (machine, str(skill)[:200], str(kind)[:40]): value
        for skill, kinds in (sums.items() if isinstance(sums, dict) else ())
        for kind, value in (kinds.items() if isinstance(kinds, dict) else ())
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < 2**53
    }


def _file(path: str, data: bytes, executable: bool) -> bytes:
    mode = "100755" if executable else "100644"
    return f"M {mode} inline {path}\n".encode() + _data(data)


def _data(data: bytes) -> bytes:
    return b"data %d\n" % len(data) + data + b"\n"
