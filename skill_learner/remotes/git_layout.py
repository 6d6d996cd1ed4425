"""How skills lie in a repository: one folder each, nothing that a person could not read and edit.

skills/<name>/SKILL.md, .provenance.json, further files
counters/<machine>.json     uses, written by that machine alone
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence

from skill_learner.errors import RemoteError
from skill_learner.remotes.counters import is_countable
from skill_learner.remotes.git_program import GitProgram
from skill_learner.remotes.protocol import CounterKey, OutgoingSkill

SKILLS = "skills"
COUNTERS = "counters"
MOST_COUNTER_BYTES = 4 * 1024 * 1024
_KINDS = {b"120000": "a link", b"160000": "another repository"}
_FIRST_FILES = {
    ".gitattributes": b"skills/*/SKILL.md text eol=lf\nskills/*/.provenance.json text eol=lf\n",
    "README.md": b"# Skills\n\nEach folder below `skills/` is one skill. Edit, review and merge"
    b" them like any\nother text; skill-learner brings them to the machines that share this"
    b" repository.\n",
}


def listing(git: GitProgram, commit: str, folder: str) -> dict[str, str]:
    """Names below a folder of a commit, with the ids of what lies there; of the counters, plain
    files only: anything else is no machine's. RemoteError where something else lies in the
    folder's place: it is neither to be overwritten nor to be read as "all were removed"."""
    found = {}
    for mode, identity, name in entries(git, commit, folder):
        if not name:  # another repository in its place is listed as itself
            _require_folder(git, commit, folder)
        elif folder != COUNTERS or mode.startswith("100"):
            found[name] = identity
    if not found:
        _require_folder(git, commit, folder)
    return found


def entries(git: GitProgram, commit: str, folder: str) -> Iterator[tuple[str, str, str]]:
    """Mode, id and name of what lies right in a folder of a commit; without a name, the folder."""
    raw = git.run("ls-tree", "-z", f"{commit}^{{tree}}", "--", f"{folder}/")
    for entry in filter(None, raw.split(b"\0")):
        head, _, path = entry.decode("utf-8", "surrogateescape").partition("\t")
        mode, _, identity = head.split()
        yield mode, identity, path.partition("/")[2]


def _require_folder(git: GitProgram, commit: str, folder: str) -> None:
    there = git.run("ls-tree", f"{commit}^{{tree}}", "--", folder)
    if there and not there.startswith(b"040000 "):
        kind = _KINDS.get(there.partition(b" ")[0], "a file")
        raise RemoteError(
            f"`{folder}` in the repository is {kind}, and must be a folder",
            "Move it away there, or name another repository or `branch:`.",
        )


def read_counters(git: GitProgram, blobs: Mapping[str, str]) -> dict[CounterKey, int]:
    """The counters in files of these names and blob ids; what is damaged counts for nothing."""
    found: dict[CounterKey, int] = {}
    for name, blob in blobs.items():
        machine = name.removesuffix(".json")
        if int(git.run("cat-file", "-s", blob)) > MOST_COUNTER_BYTES:
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
    pieces.append(b"get-mark :1\nreset refs/outgoing\n\ndone\n")
    return b"".join(pieces)


def counters_file(counters: Mapping[CounterKey, int]) -> bytes:
    """One machine's counters as a file, in an order that gives small differences."""
    sums: dict[str, dict[str, int]] = {}
    for (_, skill, kind), value in sorted(counters.items()):
        sums.setdefault(skill, {})[kind] = value
    return (json.dumps(sums, indent=1, sort_keys=True) + "\n").encode()


def _counters(machine: str, data: bytes) -> dict[CounterKey, int]:
    try:
        sums = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return {
        (machine, skill, kind): value
        for skill, kinds in (sums.items() if isinstance(sums, dict) else ())
        for kind, value in (kinds.items() if isinstance(kinds, dict) else ())
        if is_countable((machine, skill, kind), value)
    }


def _file(path: str, data: bytes, executable: bool) -> bytes:
    mode = "100755" if executable else "100644"
    return f"M {mode} inline {path}\n".encode() + _data(data)


def _data(data: bytes) -> bytes:
    return b"data %d\n" % len(data) + data + b"\n"
