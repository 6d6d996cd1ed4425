"""Rules that look for several shapes in a text, and soon see which of them cannot be there."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cache

Literals = tuple[str, ...]


@dataclass(frozen=True)
class Way:
    """One of the shapes of what a rule finds. source: its pattern. needs: of each group one stands,
    in whatever case, in every text that it finds something in; most texts need no search by a slow
    pattern."""

    source: str
    needs: tuple[Literals, ...]

    def may_match(self, folded_text: str) -> bool:
        """Whether a search is worth while; False is certain."""
        for group in self.needs:  # plain loops: this runs for every way and text that arrives
            for literal in group:
                if literal in folded_text:
                    break
            else:
                return False
        return True


@dataclass(frozen=True)
class Rule:
    """kind, reason: as in a finding."""

    kind: str
    reason: str
    ways: tuple[Way, ...]

    def pattern_for(self, folded_text: str) -> re.Pattern[str] | None:
        """Finds in the text what all ways together would; None: nothing. (A way that matches
        nowhere changes nothing for the others.)"""
        sources = tuple([way.source for way in self.ways if way.may_match(folded_text)])
        return pattern_of(sources) if sources else None


@cache
def pattern_of(sources: tuple[str, ...]) -> re.Pattern[str]:
    """Compiled when it is first asked for: most processes need none at all."""
    return re.compile("|".join(sources), re.IGNORECASE | re.MULTILINE)


def folded(text: str) -> str:
    """Equal for texts that a pattern which ignores case takes for equal."""
    if text.isascii():
        return text.lower()
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")
