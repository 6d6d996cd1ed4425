"""Addresses of git repositories: as written in a config, as git takes them, as people open them.

What is a folder of this machine, and what a host, is decided as git decides it.
"""

from __future__ import annotations

import os
import re
from urllib.parse import unquote, urlsplit

from skill_learner.files import ON_WINDOWS
from skill_learner.remotes.git_program import GitFailedError, GitProgram

_URL = re.compile(r"[A-Za-z0-9][A-Za-z0-9+.-]*://")
_SCP_FORM = re.compile(
    r"(?:[^@/:\[\]]+@)?(?:\[(?:[^@/\[\]]+@)?(?P<bracketed>[^/\[\]]+)\]|(?P<host>[^/:]*)):(?P<path>.*)"
)
_DRIVE = re.compile(r"[A-Za-z]:")
_REWRITES = re.compile(r"url\.(?P<base>.*)\.(?P<kind>pushinsteadof|insteadof)", re.DOTALL)


def is_path(where: str) -> bool:
    """Whether an address that git takes is a folder of this machine, with no server between."""
    if _URL.match(where):
        return where.startswith("file://")
    return ":" not in where.partition("/")[0] or _has_drive(where)


def address(url: str) -> str:
    """What git is given: `git+ssh://` and the like without the `git+`, a path made absolute."""
    url = url.removeprefix("git+")
    if _URL.match(url) or not is_path(url):
        return url
    return os.path.abspath(os.path.expanduser(url))


def pushes_to_folder(git: GitProgram, where: str) -> bool:
    """Whether a push to this address ends in a folder of this machine, once git has put what the
    user's `url.*.insteadOf` and `url.*.pushInsteadOf` say in its place."""
    try:
        raw = git.run("config", "-z", "--get-regexp", r"^url\..*\.(push)?insteadof$")
    except GitFailedError:  # there is none
        return is_path(where)
    known: dict[str, dict[str, str]] = {"pushinsteadof": {}, "insteadof": {}}
    for entry in os.fsdecode(raw).split("\0"):
        key, _, beginning = entry.partition("\n")
        match = _REWRITES.fullmatch(key)
        if match is not None and where.startswith(beginning):
            known[match["kind"]][beginning] = match["base"]
    rewrites = known["pushinsteadof"] or known["insteadof"]
    if rewrites:
        longest = max(rewrites, key=len)
        where = rewrites[longest] + where[len(longest) :]
    return is_path(where)


def compare_line(where: str, branch: str, own: str) -> str:
    """Where a person looks at the difference, and merges it."""
    if is_path(where) or where.startswith("git://"):
        folder = unquote(urlsplit(where).path) if where.startswith("file://") else where
        return f"git log -p {branch}..{own} (in {folder})"
    scp = None if _URL.match(where) else _SCP_FORM.fullmatch(where)
    if scp is not None:
        host, path = scp["host"] or _host_in_brackets(scp["bracketed"] or ""), scp["path"]
    else:
        parts = urlsplit(where)
        host, path = parts.hostname or "", parts.path
    return f"https://{host}/{path.strip('/').removesuffix('.git')}/compare/{branch}...{own}"


def _host_in_brackets(told: str) -> str:
    """A host may stand there with its port, or be an address of IPv6."""
    return f"[{told}]" if told.count(":") > 1 else told.partition(":")[0]


def _has_drive(where: str) -> bool:
    return ON_WINDOWS and _DRIVE.match(where) is not None
