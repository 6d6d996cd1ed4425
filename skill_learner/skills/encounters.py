"""What was met along with a skill: what humans asked when it was learned or loaded, and the errors
that it was learned from. One small JSON file for each skill, beside the skills."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from skill_learner.files import atomic_write, ensure_private_dir, read_at_once
from skill_learner.paths import safe_file_name
from skill_learner.ranking.words import parse_query, stems_of
from skill_learner.skills.looks import Look, files_of

MOST_ASKS = 8
LONGEST_ASK = 300
MOST_ERRORS = 5
_FEWEST_WORDS = 2
_SAME = 0.8


@dataclass(frozen=True)
class Encounters:
    """asks: newest first. errors: each a tuple of fragments that stand in the output in order."""

    asks: tuple[str, ...] = ()
    errors: tuple[tuple[str, ...], ...] = ()


def encounter_file(name: str) -> str:
    return f"{safe_file_name(name)}.json"


class EncounterStore:
    """The caller makes sure that one process at a time adds to a skill, or accepts that the later
    one wins: what is lost is one ask."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def path(self, name: str) -> Path:
        return self.folder / encounter_file(name)

    def of(self, name: str) -> Encounters:
        """What is known; nothing where the file is missing or damaged."""
        try:
            data = json.loads(read_at_once(f"{self.folder}{os.sep}{encounter_file(name)}"))
            asks = tuple(ask for ask in data["asks"] if isinstance(ask, str))
            errors = tuple(tuple(map(str, fragments)) for fragments in data["errors"])
        except (OSError, ValueError, TypeError, KeyError, RecursionError):
            return Encounters()
        return Encounters(asks[:MOST_ASKS], errors[:MOST_ERRORS])

    def add(
        self, name: str, asks: Sequence[str] = (), errors: Sequence[Sequence[str]] = ()
    ) -> bool:
        """Keep new asks (redacted by the caller) and errors; whether anything changed."""
        known = self.of(name)
        after = Encounters(
            kept_asks([*asks, *known.asks]),
            tuple(dict.fromkeys([*map(tuple, errors), *known.errors]))[:MOST_ERRORS],
        )
        if after == known:
            return False
        ensure_private_dir(self.folder)
        atomic_write(self.path(name), json.dumps(asdict(after), ensure_ascii=True).encode())
        return True

    def move(self, old: str, new: str) -> None:
        """Give what is known of one skill to another."""
        known = self.of(old)
        self.add(new, known.asks, known.errors)

    def look(self) -> Look:
        """What can be told of all files without reading them."""
        return files_of(str(self.folder))


def kept_asks(asks: Sequence[str]) -> tuple[str, ...]:
    """Of asks, newest first, those worth keeping: each on one line, cut, none that says nothing or
    nearly the same as a newer one; the most different where there are too many."""
    kept: list[tuple[str, frozenset[str]]] = []
    for ask in asks:
        text = " ".join(ask.split())[:LONGEST_ASK].strip()
        words = parse_query(text)
        if len(words.words) + len(words.bigrams) < _FEWEST_WORDS:
            continue
        stems = frozenset(stems_of(text))
        if all(_likeness(stems, other) < _SAME for _, other in kept):
            kept.append((text, stems))
    while len(kept) > MOST_ASKS:
        # the newest stays; of the rest goes the one that another says best already
        likest = [
            max(_likeness(stems, other) for n, (_, other) in enumerate(kept) if n != place)
            for place, (_, stems) in enumerate(kept)
        ]
        del kept[max(range(1, len(kept)), key=lambda place: (likest[place], place))]
    return tuple(text for text, _ in kept)


def _likeness(one: frozenset[str], other: frozenset[str]) -> float:
    return len(one & other) / (len(one | other) or 1)
