"""How common words are in skills at large: what a small library cannot tell by itself.

The data file has one line for each level of rarity, the rarest first; a line's words stand between
blanks. The words of line n occur in about `BACKGROUND_SIZE / 2 ** ((LINES - n) / 2)` skills.
`scripts/make_background` writes it.
"""

LINES = 20
_FILE = __file__.rpartition("background")[0] + "background.txt"


def read_background(path: str = _FILE) -> bytes:
    """The data file; b"" when the package lacks it."""
    try:
        with open(path, "rb") as file:
            return file.read()
    except OSError:
        return b""


def background_counts(stems: "list[str]", data: bytes, size: int) -> dict[str, int]:
    """In how many of `size` skills each stem occurs, for those that are common enough to be in the
    file."""
    found = {}
    for stem in stems:
        place = data.find(b" " + stem.encode("utf-8", "replace") + b" ")
        if place >= 0:
            line = data.count(b"\n", 0, place)
            found[stem] = round(size / 2 ** ((LINES - line) / 2))
    return found
