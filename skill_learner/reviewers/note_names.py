"""ASCII names for notes by rule: the tool, then words of the error or of the human."""

from __future__ import annotations

import hashlib
import re
import unicodedata

_LONGEST = 60
_STOP = frozenset(
    "the a an is are was were be to of in on at for and or with as by it its this that from "
    "you i we "
    "my your not does do did use using value type struct error line file code exit have has "
    "had can "
    "will would just so there still please than then if but all any into out up "
    "der die das ist und ich du nicht ein eine le la les un une est et pas el los las no es y que "
    "il lo gli non e di de het een en ik je van".split()
)


def slug(*texts: str, words: int = 7) -> str:
    """Lower-case words joined by hyphens, numbers and hashes left out; a hash of the texts where
    nothing readable remains."""
    found: list[str] = []
    for text in texts:
        plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
        for word in re.findall(r"[a-z][a-z0-9]*", plain):
            if word not in _STOP and len(word) > 1 and word not in found and len(word) <= 24:
                found.append(word)
    name = ""
    for word in found[:words]:
        if len(name) + len(word) + 1 > _LONGEST:
            break
        name = f"{name}-{word}" if name else word
    return name or "note-" + hashlib.sha256("\x1f".join(texts).encode()).hexdigest()[:8]


def telling_clause(message: str) -> str:
    """The part of an error message that tells most: what stands behind the last colon, when that is
    more than two words."""
    parts = [part for part in re.split(r":\s+", message) if len(part.split()) > 2]
    return parts[-1] if parts else message
