"""Addresses of git repositories: as written in a config, as git takes them, as people open them."""

from __future__ import annotations

import os
import re
from urllib.parse import urlsplit

_SCP_FORM = re.compile(r"(?:[^@/:]+@)?(?P<host>[^/:]+):(?P<path>[^/].*)")


def is_path(where: str) -> bool:
    """Whether an address that git takes is a folder of this machine, with no server between."""
    return "://" not in where and not _SCP_FORM.fullmatch(where)


def address(url: str) -> str:
    """What git is given: `git+ssh://` and the like without the `git+`, a path made absolute."""
    url = url.removeprefix("git+")
    if url.startswith("file://"):
        url = url.removeprefix("file://")
    if "://" in url or _SCP_FORM.fullmatch(url):
        return url
    return os.path.abspath(os.path.expanduser(url))


def compare_line(where: str, branch: str, own: str) -> str:
    """Where a person looks at the difference, and merges it."""
    scp = _SCP_FORM.fullmatch(where)
    if scp is not None:
        host, path = scp["host"], scp["path"]
    else:
        parts = urlsplit(where)
        host, path = parts.hostname or "", parts.path
        if parts.scheme in ("", "git", "file"):
            return f"git log -p {branch}..{own} (in {where})"
    return f"https://{host}/{path.strip('/').removesuffix('.git')}/compare/{branch}...{own}"
