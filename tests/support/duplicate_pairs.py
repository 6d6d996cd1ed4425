"""Pairs of skills that are one thing told twice, and pairs that only sound alike.

Same: a real skill against itself with a fifth of its lines gone, reworded (other words, sections in
another order, its commands kept), retold (half of its prose left, in no order, its commands kept),
or as an excerpt under another name. Different: each skill and those other real
ones that share most words with it. Everything is drawn from a seed.
"""

from __future__ import annotations

import gzip
import json
import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

Text = tuple[str, str, str]
"""name, description, body"""

_OTHER_WORDS = {
    pair.split(":")[0]: pair.split(":")[1]
    for pair in (
        "use:apply run:execute check:verify create:make file:document error:failure "
        "ensure:guarantee add:append remove:delete show:display find:locate get:fetch when:if "
        "should:ought must:has-to build:assemble test:trial user:person project:repository "
        "code:source change:modify new:fresh start:begin stop:end need:require want:wish "
        "write:compose read:inspect list:enumerate review:examine fix:repair generate:produce "
        "analyze:study help:assist guide:manual workflow:procedure step:stage data:information "
        "best:finest practice:habit following:next"
    ).split()
}
_FENCE = re.compile(r"^\s*(?:`{3,}|~{3,})")
_PROSE_WORD = re.compile(r"`[^`]*`|[A-Za-z]+|[^A-Za-z`]+|`")
_WORD = re.compile(r"[a-z]{3,}")


@dataclass(frozen=True)
class Pair:
    kind: str
    same: bool
    one: Text
    other: Text


def real_skills(shared: Path, count: int) -> list[Text]:
    """Real skills with a body of some length: of the benchmark first, then single files."""
    found: list[Text] = []
    with gzip.open(shared / "retrieval" / "skills-10k.jsonl.gz", "rt", encoding="utf-8") as lines:
        for line in lines:
            data = json.loads(line)
            body = str(data.get("body") or "")
            if 600 < len(body) < 30_000 and data.get("description"):
                found.append((str(data["name"]), str(data["description"]), body))
            if len(found) == count:
                break
    for path in sorted((shared / "skill-files").glob("*/*/SKILL.md")):
        text = path.read_text(encoding="utf-8", errors="replace")
        if 800 < len(text) < 30_000:
            head, _, body = text.partition("\n---")
            found.append((path.parent.name, head[-300:], body))
    return found


def pairs(skills: list[Text], seed: int) -> Iterator[Pair]:
    """For every skill four that are the same and its two nearest that are not."""
    chance = random.Random(seed)
    words = [Counter(_WORD.findall(" ".join(skill).lower())) for skill in skills]
    spread = Counter(word for one in words for word in one)
    for index, skill in enumerate(skills):
        yield Pair("thinned", True, skill, _thinned(skill, chance))
        yield Pair("reworded", True, skill, _reworded(skill, chance))
        yield Pair("retold", True, skill, _retold(skill, chance))
        yield Pair("excerpt", True, skill, _excerpt(skill, chance))
        for other in _alike(index, words, spread):
            if not _is_copy(skill[2], skills[other][2]):
                yield Pair("alike", False, skill, skills[other])


def _thinned(skill: Text, chance: random.Random) -> Text:
    lines = [line for line in skill[2].splitlines() if chance.random() > 0.2]
    return _renamed(skill, chance), _swapped(skill[1], chance), "\n".join(lines)


def _reworded(skill: Text, chance: random.Random) -> Text:
    """Other words, a quarter of the prose gone, sections in another order; code as it was."""
    sections: list[list[str]] = [[]]
    fenced = False
    for line in skill[2].splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        if line.startswith("#") and not fenced:
            sections.append([])
        kept = line if fenced or _FENCE.match(line) else _swapped(line, chance, loss=0.25)
        sections[-1].append(kept)
    chance.shuffle(sections)
    body = "\n".join(line for section in sections for line in section)
    return _renamed(skill, chance), _swapped(skill[1], chance, loss=0.25), body


def _retold(skill: Text, chance: random.Random) -> Text:
    """Of every line of prose half the words, shuffled: no run of words survives."""
    lines, fenced = [], False
    for line in skill[2].splitlines():
        if _FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            pieces = [piece for piece in _PROSE_WORD.findall(line) if piece.strip()]
            told = [_OTHER_WORDS.get(one.lower(), one) for one in pieces
                    if not one.isalpha() or chance.random() > 0.5]  # fmt: skip
            chance.shuffle(told)
            lines.append(" ".join(told))
            continue
        lines.append(line)
    return _renamed(skill, chance), _swapped(skill[1], chance, loss=0.5), "\n".join(lines)


def _excerpt(skill: Text, chance: random.Random) -> Text:
    lines = skill[2].splitlines()
    start = chance.randrange(max(1, len(lines) // 3))
    part = "\n".join(lines[start : start + len(lines) // 2])
    return _renamed(skill, chance), skill[1][: len(skill[1]) // 2], part


def _renamed(skill: Text, chance: random.Random) -> str:
    words = [word for word in _WORD.findall(skill[1].lower()) if len(word) > 4] or ["other"]
    return "-".join(chance.sample(words, min(3, len(words))))


def _swapped(text: str, chance: random.Random, loss: float = 0.0) -> str:
    kept = []
    for piece in _PROSE_WORD.findall(text):
        plain = piece.lower()
        if piece.isalpha() and chance.random() < loss:
            continue
        kept.append(_OTHER_WORDS.get(plain, piece) if piece.isalpha() else piece)
    return "".join(kept)


def _alike(index: int, words: list[Counter[str]], spread: Counter[str]) -> list[int]:
    """The two other skills that share most rare words with one."""
    mine = words[index]
    scores = [
        (sum(1 / spread[word] for word in mine if word in other) / (len(other) + 50) ** 0.5, place)
        for place, other in enumerate(words)
        if place != index
    ]
    return [place for _, place in sorted(scores, reverse=True)[:2]]


def _is_copy(one: str, other: str) -> bool:
    """Real libraries hold copies of each other: lines in common beyond chance."""
    mine = {line.strip() for line in one.splitlines() if len(line.strip()) > 25}
    theirs = {line.strip() for line in other.splitlines() if len(line.strip()) > 25}
    return len(mine & theirs) > 0.3 * min(len(mine) or 1, len(theirs) or 1)
