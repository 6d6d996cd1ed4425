"""Near-duplicates among many skills, without comparing each with each.

Two skills are near only when their names share a word and a quarter of the words of their
descriptions or bodies are the same, or half of those words are, or nearly half of the runs of the
shorter body stand in the other (the shares follow from `likeness`). Of two sets that share so much,
the rarest words of the one and the rarest of the other cannot all differ; so only those who share
a rare word, and whose sizes and frequent words allow it, are compared, by `likeness` itself.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import replace
from typing import TypeVar

from skill_learner.learning.duplicates import (
    FEWEST_RUNS,
    NAME_SHARE,
    RUNS_SHARE,
    WORDS_SHARE,
    CutSkill,
    Run,
    body_runs,
    cut,
    likeness,
)
from skill_learner.models import Skill

Part = TypeVar("Part", str, Run)
_ROUNDING = 1e-9
_FREQUENT = 2_048  # words that have a bit of their own
_LARGEST_TABLE = 1 << 27  # bytes


class NearSkills:
    """Which of some skills are at least so near to one of them. least: above `NAME_SHARE`."""

    def __init__(self, skills: Sequence[Skill], least: float) -> None:
        self._skills = skills
        self._numbers = {id(skill): number for number, skill in enumerate(skills)}
        self._least = least
        self._cut = _cut_all(skills)
        self._by_name = _holders([one.name for one in self._cut])
        half = least / (2 * WORDS_SHARE)
        self._texts = [
            _Alike(_rarest_first([one.description for one in self._cut]), half),
            _Alike(_rarest_first([one.body for one in self._cut]), half),
        ]
        self._quarter = (least - NAME_SHARE) / (2 * WORDS_SHARE)
        self._runs = _Contained(self._cut, least / RUNS_SHARE)

    def near(self, skill: Skill, is_asked: Callable[[Skill], bool]) -> list[tuple[Skill, float]]:
        """The others that are asked for and near to one of the skills, in the order of the skills,
        each with its similarity."""
        number = self._numbers[id(skill)]
        told = self._cut[number]
        found = []
        for other in sorted(self._possible(number) - {number}):
            if is_asked(self._skills[other]):
                score = likeness(told, self._cut[other])
                if score >= self._least:
                    found.append((self._skills[other], score))
        return found

    def _possible(self, number: int) -> set[int]:
        possible = self._runs.of(number)
        like_named = _all_of(self._by_name, self._cut[number].name)
        for alike in self._texts:
            possible |= alike.of(number) | alike.among(like_named, number, self._quarter)
        return possible


class _Alike:
    """Which texts may share so much of the words of both. texts: their words, the rarest first.

    Long texts share a rare word easily; what their frequent words and their sizes allow is told by
    a number with a bit for each frequent word.
    """

    def __init__(self, texts: Sequence[Sequence[str]], least: float) -> None:
        self._least = least
        self._rare = [words[: _certain(len(words), least)] for words in texts]
        self._holders = _holders(self._rare)
        counts = Counter(word for words in texts for word in words)
        bits = {word: 1 << bit for bit, (word, _) in enumerate(counts.most_common(_FREQUENT))}
        self._told = []
        for words in texts:
            frequent = [bits[word] for word in words if word in bits]
            self._told.append((len(words), len(words) - len(frequent), sum(frequent)))

    def of(self, number: int) -> set[int]:
        return self.among(_all_of(self._holders, self._rare[number]), number, self._least)

    def among(self, others: Iterable[int], number: int, least: float) -> set[int]:
        """Those of some others that may share so much."""
        size, rare, bits = self._told[number]
        share = least / (1 + least)  # of the sizes of both, where they share just enough
        possible = set()
        for other in others:
            its_size, its_rare, its_bits = self._told[other]
            most = (bits & its_bits).bit_count() + min(rare, its_rare)
            if most >= share * (size + its_size) - _ROUNDING:
                possible.add(other)
        return possible


class _Contained:
    """Which bodies may share so much of the runs of the shorter one."""

    def __init__(self, skills: Sequence[CutSkill], least: float) -> None:
        self._shared = _rarest_first([one.runs for one in skills])
        self._rare: list[Sequence[Run]] = []
        for one, shared in zip(skills, self._shared, strict=True):
            alone = one.run_count - len(shared)  # rarer than all that are shared
            certain = _certain(one.run_count, least) if one.run_count >= FEWEST_RUNS else 0
            self._rare.append(shared[: max(0, certain - alone)])
        self._holders = _holders(self._shared)
        self._holders_of_rare = _holders(self._rare)

    def of(self, number: int) -> set[int]:
        longer = _all_of(self._holders, self._rare[number])
        return longer | _all_of(self._holders_of_rare, self._shared[number])


def _certain(size: int, least: float) -> int:
    """Of how many parts of a set one at least is shared, whichever they are, where so much of the
    set is shared."""
    return min(size, size - math.ceil(least * size - _ROUNDING) + 1)


def _rarest_first(sets: Sequence[Set[Part]]) -> list[list[Part]]:
    """The parts of each set, in one order for all sets."""
    counts = Counter(part for parts in sets for part in parts)
    ordered = sorted(counts, key=lambda part: (counts[part], part))
    ranks = {part: rank for rank, part in enumerate(ordered)}
    return [sorted(parts, key=ranks.__getitem__) for parts in sets]


def _holders(sets: Sequence[Iterable[Part]]) -> dict[Part, list[int]]:
    """Which sets hold a part, by their numbers."""
    found: defaultdict[Part, list[int]] = defaultdict(list)
    for number, parts in enumerate(sets):
        for part in parts:
            found[part].append(number)
    return found


def _all_of(holders: Mapping[Part, Sequence[int]], parts: Iterable[Part]) -> set[int]:
    return set[int]().union(*(holders.get(part, ()) for part in parts))


def _cut_all(skills: Sequence[Skill]) -> list[CutSkill]:
    """All of them cut up, without the runs that only one body has: of a large library they would
    fill the memory. (They are told by a table of a byte for each, in which two may fall together.)
    """
    letters = sum(len(skill.body) for skill in skills)
    size = min(_LARGEST_TABLE, 1 << letters.bit_length())
    table = bytearray(size)
    for skill in skills:
        for run in body_runs(skill.body):
            place = hash(run) % size
            table[place] = 2 if table[place] else 1
    words: dict[str, str] = {}

    def slim(skill: Skill) -> CutSkill:
        one = cut(skill.name, skill.description, skill.body)
        return replace(
            one,
            body=frozenset(words.setdefault(word, word) for word in one.body),
            runs=frozenset(run for run in one.runs if table[hash(run) % size] > 1),
        )

    return [slim(skill) for skill in skills]
