"""Rules that look for several shapes in a text, and soon see which of them cannot be there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

Literals = tuple[str, ...]


@dataclass(frozen=True, eq=False)
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


class RuleBook:
    """Rules, and the words that tell which of their ways are worth a look at a text."""

    def __init__(self, rules: Sequence[Rule]) -> None:
        self.rules = tuple(rules)
        words = {word for rule in rules for way in rule.ways for word in way.needs[0]}
        stirred: dict[str, set[Way]] = {}
        for rule in rules:
            for way in rule.ways:
                for word in way.needs[0]:  # a word stands nowhere without each word within it
                    short = min((other for other in words if other in word), key=len)
                    stirred.setdefault(short, set()).add(way)
        self._stirred = tuple(stirred.items())
        self._in_ascii = tuple((w, ways) for w, ways in self._stirred if w.isascii())

    def to_search(self, folded_text: str) -> Iterator[tuple[Rule, re.Pattern[str]]]:
        """The rules that may find something in a text, each with a pattern that finds in it what
        all of its ways would. (A way that matches nowhere changes nothing for the others.)"""
        words = self._in_ascii if folded_text.isascii() else self._stirred
        found = [ways for word, ways in words if word in folded_text]
        if not found:
            return
        awake = set().union(*found)
        for rule in self.rules:
            sources = tuple(
                [way.source for way in rule.ways if way in awake and way.may_match(folded_text)]
            )
            if sources:
                yield rule, pattern_of(sources)


@cache
def pattern_of(sources: tuple[str, ...]) -> re.Pattern[str]:
    """Compiled when it is first asked for: most processes need none at all."""
    return re.compile("|".join(sources), re.IGNORECASE | re.MULTILINE)


def folded(text: str) -> str:
    """Equal for texts that a pattern which ignores case takes for equal."""
    if text.isascii():
        return text.lower()
    return text.casefold().replace("i\u0307", "i").replace("\u0131", "i")
