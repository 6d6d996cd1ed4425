"""Is a proposed skill already there? Same trigger by key, or near-equal words."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence, Set
from dataclasses import dataclass

from skill_learner.models import CreateSkill, PatchSkill, Skill

Known = CreateSkill | Skill
Run = tuple[str, ...]

NEAR = 0.4
"""Similarity from which two skills are taken for one (`scripts/bench_duplicates` measures it)."""
NEAR_NOTE = 0.65
"""The same for notes by rule: they share their sentences, and are told apart by their keys."""
NAME_SHARE, WORDS_SHARE, RUNS_SHARE = 0.2, 0.4, 0.9
FEWEST_RUNS = 8

_WORD = re.compile(r"[^\W_]{2,}", re.UNICODE)
_WIDE = re.compile(r"[\u3040-\u30ff\u4e00-\u9fff\uac00-\ud7af]{2}")
_COMMON = frozenset(
    "the an is are was to of and in that it this you for not with be have when use what how "
    "from or "
    "on by as at then else which skill skills working does do if after before steps check".split()
)


def same_trigger(proposal: CreateSkill, skills: Iterable[Skill]) -> Skill | None:
    """A skill learned from the same trigger; one with the same remedy first."""
    if not proposal.trigger_key:
        return None
    found = [skill for skill in skills if skill.trigger_key == proposal.trigger_key]
    found.sort(key=lambda skill: skill.remedy_key != proposal.remedy_key)
    return found[0] if found else None


def nearest(proposal: CreateSkill, skills: Sequence[Known]) -> tuple[Known | None, float]:
    """The most similar skill and the similarity, 0 to 1."""
    best: Known | None = None
    most = 0.0
    told = cut(proposal.name, proposal.description, proposal.body)
    for skill in skills:
        score = likeness(told, cut(skill.name, skill.description, skill.body))
        if score > most:
            best, most = skill, score
    return best, most


def similarity(one: tuple[str, str, str], other: tuple[str, str, str]) -> float:
    """Of two skills as (name, description, body): the larger of what their bodies share word run by
    word run, and what names, descriptions and bodies share in words."""
    return likeness(cut(*one), cut(*other))


@dataclass(frozen=True)
class CutSkill:
    """What a skill says, cut up once for however many comparisons. run_count: of all runs of its
    body; `runs` may leave out those that nobody who is compared with it has."""

    name: Set[str]
    description: Set[str]
    body: Set[str]
    runs: Set[Run]
    run_count: int


def cut(name: str, description: str, body: str) -> CutSkill:
    runs = body_runs(body)
    return CutSkill(
        _words(name.replace("-", " ")), _words(description), _words(body), runs, len(runs)
    )


def likeness(one: CutSkill, other: CutSkill) -> float:
    """As `similarity`."""
    blended = (
        NAME_SHARE * _overlap(one.name, other.name)
        + WORDS_SHARE * _overlap(one.description, other.description)
        + WORDS_SHARE * _overlap(one.body, other.body)
    )
    return max(RUNS_SHARE * _containment(one, other), blended)


def shares_subject(text: str, skill: Skill) -> bool:
    """True when a text has at least two telling words in common with a skill."""
    words = _words(f"{skill.name.replace('-', ' ')} {skill.description} {skill.body}")
    return len(_words(text) & words) >= 2


def _words(text: str) -> set[str]:
    found = {word for word in _WORD.findall(text.lower()) if word not in _COMMON}
    return found | set(_WIDE.findall(text))


def body_runs(text: str, size: int = 4) -> set[Run]:
    """Each so many words that follow one another in a body."""
    words = _WORD.findall(text.lower())
    return set(zip(*(words[i:] for i in range(size)), strict=False))


def _overlap(one: Set[str], other: Set[str]) -> float:
    if not one or not other:
        return 0.0
    shared = len(one & other)
    return shared / (len(one) + len(other) - shared)


def _containment(one: CutSkill, other: CutSkill) -> float:
    """Share of the smaller body's runs that the other holds; bodies of a few words say nothing."""
    smaller = min(one.run_count, other.run_count)
    return len(one.runs & other.runs) / smaller if smaller >= FEWEST_RUNS else 0.0


_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_HEADING = re.compile(r"^#{1,6}\s+(.*)$")


def as_patch(draft: CreateSkill, skill: Skill) -> PatchSkill | None:
    """A patch that adds to a skill the lines of a draft that it does not hold yet, below the same
    heading where there is one; None when there is nothing to add, or no place that is unique."""
    known = [_words(unit) for _, units in _sections(skill.body) for unit in units]
    for heading, lines in _sections(draft.body):
        added = [line for line in lines if _is_new(line, known)]
        if not added:
            continue
        anchor = _anchor(skill.body, heading)
        if anchor:
            new = "\n".join((anchor, *added))
            return PatchSkill(
                skill.name, skill.content_hash, anchor, new, draft.evidence, draft.confidence
            )
    return None


def adds_nothing(draft: CreateSkill, skill: Skill) -> bool:
    """True when every line and block of a draft stands in a skill, in these or like words."""
    known = [_words(unit) for _, units in _sections(skill.body) for unit in units]
    return not any(_is_new(unit, known) for _, units in _sections(draft.body) for unit in units)


def _sections(body: str) -> Iterable[tuple[str, list[str]]]:
    """(heading, what stands below it: single lines, and whole blocks of code)."""
    heading = ""
    units: list[str] = []
    block: list[str] | None = None
    for line in body.splitlines():
        found = _HEADING.match(line)
        if _FENCE.match(line):
            if block is None:
                block = [line]
            else:
                units.append("\n".join((*block, line)))
                block = None
        elif block is not None:
            block.append(line)
        elif found:
            yield heading, units
            heading, units = found.group(1).strip().lower(), []
        elif line.strip():
            units.append(line)
    yield heading, units


def _is_new(line: str, known: Sequence[set[str]]) -> bool:
    words = _words(line)
    return len(words) >= 2 and all(len(words & one) < 0.7 * len(words) for one in known)


def _anchor(body: str, heading: str) -> str:
    """The last line below a heading (or of the body) that occurs once, "" when there is none."""
    wanted = [lines for name, lines in _sections(body) if name == heading and lines]
    every = [line for _, lines in _sections(body) for line in lines]
    for line in (*reversed([line for lines in wanted for line in lines]), *reversed(every)):
        if body.count(line) == 1:
            return line
    return ""
