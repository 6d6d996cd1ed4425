"""A word that occurs nowhere, and is one slip of the finger away from a word of a skill's name."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST = 5


def can_be_typo(word: str) -> bool:
    return len(word) >= SHORTEST and word.isascii() and word.isalpha()


def nearest_name(word: str, names: "Iterable[str]") -> str:
    """The one of `names` that a single letter too many, too few, wrong, or swapped with its
    neighbour makes of `word`; "" when there is none."""
    for name in names:
        if len(name) >= SHORTEST - 1 and abs(len(name) - len(word)) <= 1 and _one_apart(word, name):
            return name
    return ""


def _one_apart(one: str, other: str) -> bool:
    if len(one) < len(other):
        one, other = other, one
    start = 0
    while start < len(other) and one[start] == other[start]:
        start += 1
    if one[start + 1 :] == other[start + (len(one) == len(other)) :]:
        return True
    return len(one) == len(other) and one[start:] == (
        other[start + 1 : start + 2] + other[start : start + 1] + other[start + 2 :]
    )
