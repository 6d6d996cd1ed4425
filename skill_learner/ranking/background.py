"""How common words are in skills at large: what a small library cannot tell by itself.

The data file has a line for each first character, `<character> <stem>:<level> <stem>:<level> `; a
stem of level n, a letter from `A`, occurs in about one of 2 ** (n / 2) skills.
`scripts/make_background` writes it.
"""

LEVELS = 18
_FIRST_LEVEL = ord("A")
_FILE = __file__.rpartition("background")[0] + "background.txt"


def read_background(path: str = _FILE) -> bytes:
    """The data file; b"" when the package lacks it."""
    try:
        with open(path, "rb", buffering=0) as file:
            return file.read()
    except OSError:
        return b""


def background_counts(stems: "list[str]", data: bytes, size: int) -> dict[str, int]:
    """In how many of `size` skills each stem occurs, for those that are common enough to be in the
    file."""
    found = {}
    lines: dict[str, tuple[int, int]] = {}
    for stem in stems:
        first = stem[:1]
        if first not in lines:
            start = data.find(b"\n" + first.encode("utf-8", "replace") + b" ") + 1
            lines[first] = (start, data.find(b"\n", start) if start else 0)
        start, end = lines[first]
        wanted = b" " + stem.encode("utf-8", "replace") + b":"
        place = data.find(wanted, start, end)
        if place >= 0:
            level = data[place + len(wanted)] - _FIRST_LEVEL
            found[stem] = round(size / 2 ** (level / 2))
    return found


def background_text(shares: "dict[str, float]") -> str:
    """The data file for stems with the share of skills that hold each; rare ones are left out."""
    from math import log2

    lines: dict[str, list[str]] = {}
    for stem in sorted(shares):
        level = round(-2 * log2(shares[stem]))
        if level <= LEVELS:
            lines.setdefault(stem[0], []).append(f"{stem}:{chr(_FIRST_LEVEL + max(level, 0))}")
    return "\n" + "".join(f"{first} {' '.join(its)} \n" for first, its in sorted(lines.items()))
