"""Paths of Windows in one spelling, as bytes: `/` between parts, a capital drive letter, no
`\\\\?\\`. Loaded on Windows, and for a path that was noted there.

The same folder comes as `C:\\x`, `c:/x`, `/c/x` (Git Bash), `/c:/x` (Cursor), `\\\\?\\C:\\x`.
"""

_LONGEST_PLAIN = 240  # at 260 Windows refuses a path without `\\?\`, a draft's ending included


def normal(path: bytes) -> bytes:
    path = path.replace(b"\\", b"/")
    if path[:4] in (b"//?/", b"//./"):
        path = path[4:]
        if path[:4].upper() == b"UNC/":
            path = b"//" + path[4:]
    if path[:1] == b"/" and path[1:2].isalpha():
        if path[2:3] == b":":
            path = path[1:]
        elif path[2:3] in (b"/", b""):
            path = path[1:2] + b":" + path[2:]
    if _has_drive(path):
        path = path[:1].upper() + path[1:]
    return path


def split_root(path: bytes) -> "tuple[bytes, bytes]":
    """(`C:` or `//server/share` or b"", the rest) of a normal path."""
    if _has_drive(path):
        return path[:2], path[2:]
    if path[:2] == b"//":
        server, _, rest = path[2:].partition(b"/")
        share, slash, rest = rest.partition(b"/")
        return b"//" + server + b"/" + share, slash + rest
    return b"", path


def is_absolute(path: bytes) -> bool:
    path = normal(path)
    return path[:1] == b"/" or (_has_drive(path) and path[2:3] in (b"/", b""))


def comparable(path: bytes) -> bytes:
    """Equal for all spellings of one folder; capitals count on no drive and no share. A path of
    another system stays as it is."""
    told = normal(path)
    if not split_root(told)[0]:
        return path
    return told.decode("utf-8", "surrogateescape").lower().encode("utf-8", "surrogateescape")


def reachable(path: bytes) -> bytes:
    """The spelling in which a path above the length limit can be opened."""
    if len(path) < _LONGEST_PLAIN or path[:4] == b"\\\\?\\":
        return path
    path = normal(path).replace(b"/", b"\\")
    if path[:2] == b"\\\\":
        return b"\\\\?\\UNC\\" + path[2:]
    return b"\\\\?\\" + path if _has_drive(path) else path


def _has_drive(path: bytes) -> bool:
    return path[1:2] == b":" and path[:1].isalpha()
