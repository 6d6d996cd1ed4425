"""Which skills the editor lists: as many of the most useful as fit with their descriptions whole.

An editor that lists more than its room drops descriptions without a word, and a skill without one
is never loaded. What is left out stays reachable by the index, by search, and by prompt hooks.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from skill_learner.models import Skill
from skill_learner.ranking.words import stems_of
from skill_learner.usage import OfferCount, SkillUse

LONGEST_LISTED = 1_536
"""Characters at which Claude Code cuts a description."""
USER = "user"
USER_SHARE = 0.5
"""Of the room, for user-wide skills; a project's own get what these leave."""

_ENTRY_EXTRA = len("- : \n")
_OFTEN_OFFERED = 5
_HALF_LIFE = 30 * 86_400.0
_FITS_PROJECT = 0.5
_TRAITS: Mapping[str, str] = {
    "package.json": "node npm javascript typescript",
    "tsconfig.json": "typescript",
    "pyproject.toml": "python pip pytest",
    "requirements.txt": "python pip",
    "setup.py": "python pip",
    "go.mod": "go golang",
    "Cargo.toml": "rust cargo",
    "pom.xml": "java maven",
    "build.gradle": "java kotlin gradle",
    "Gemfile": "ruby bundler rails",
    "composer.json": "php composer",
    "Dockerfile": "docker container",
    "docker-compose.yml": "docker compose",
    "compose.yaml": "docker compose",
    "Makefile": "make",
    "CMakeLists.txt": "cmake c++",
    "pnpm-lock.yaml": "pnpm",
    "yarn.lock": "yarn",
    ".github": "github actions ci",
    "terraform": "terraform",
    "main.tf": "terraform",
}


@dataclass(frozen=True)
class Listing:
    """room: characters for learned skills; taken: what `listed`, most useful first, need of them.
    left_out: (skill, why). others: characters that the user's own skills take, no part of room."""

    room: int
    taken: int
    listed: tuple[Skill, ...]
    left_out: tuple[tuple[Skill, str], ...]
    others: int = 0

    @property
    def skills(self) -> tuple[Skill, ...]:
        """All of them: a project's own first, then in the order of their use."""
        every = (*self.listed, *(skill for skill, _ in self.left_out))
        return tuple(sorted(every, key=_is_for_all))


def entry_size(name: str, description: str) -> int:
    """The characters that one skill needs in the listing."""
    return len(name) + min(len(" ".join(description.split())), LONGEST_LISTED) + _ENTRY_EXTRA


def choose_listing(
    skills: Sequence[Skill],
    room: int,
    usefulness: Callable[[Skill], float],
    declined: Mapping[str, int] | None = None,
) -> Listing:
    """Fill the room with the most useful skills, a project's own before those of all projects; each
    is listed whole or not at all. declined: see `declined_offers`."""
    declined = declined or {}
    listed: list[Skill] = []
    left_out: list[tuple[Skill, str]] = []
    taken = 0
    for skill in sorted(skills, key=lambda one: (_is_for_all(one), -usefulness(one), one.name)):
        size = entry_size(skill.name, skill.description)
        if len(" ".join(skill.description.split())) > LONGEST_LISTED:
            left_out.append((skill, "its description is longer than the editor shows"))
        elif skill.name in declined:
            left_out.append((skill, f"offered {declined[skill.name]} times and never loaded"))
        elif taken + size > room:
            left_out.append((skill, f"needs {size} of {max(room - taken, 0)} characters left"))
        else:
            listed.append(skill)
            taken += size
    return Listing(room, taken, tuple(listed), tuple(left_out))


def _is_for_all(skill: Skill) -> bool:
    return skill.scope == USER


def declined_offers(
    offers: Mapping[str, OfferCount], uses: Mapping[str, SkillUse]
) -> dict[str, int]:
    """The skills that agents were offered often and never loaded, with how often. One use, offered
    or not, brings a skill back."""
    return {
        name: offer.offered
        for name, offer in offers.items()
        if offer.offered >= _OFTEN_OFFERED and not offer.taken and name not in uses
    }


def usefulness_for(
    uses: Mapping[str, SkillUse],
    offers: Mapping[str, OfferCount],
    traits: frozenset[str] = frozenset(),
    now: float | None = None,
) -> Callable[[Skill], float]:
    """A measure from uses (recent ones count most), how loads ended, and, for skills that are not
    one project's, how many words of what the project is they hold."""
    at = time.time() if now is None else now

    def usefulness(skill: Skill) -> float:
        use, offered = uses.get(skill.name), offers.get(skill.name)
        value = 0.0
        if use:
            age = max(0.0, at - use.last_used)
            value += math.log1p(use.count) * (0.25 + 0.5 ** (age / _HALF_LIFE))
        if offered:
            value += math.log1p(offered.helped) - math.log1p(offered.failed)
        if traits and skill.scope == USER:
            words = set(stems_of(f"{skill.name} {skill.description}"))
            value += _FITS_PROJECT * min(2, len(words & traits))
        return value

    return usefulness


def project_traits(root: Path, programs: Collection[str] = ()) -> frozenset[str]:
    """Stems of what a project is made with, told by the files at its top, and of what its sessions
    ran."""
    try:
        names = {path.name for path in root.iterdir()}
    except OSError:
        names = set()
    words = [words for name, words in _TRAITS.items() if name in names]
    return frozenset(stems_of(" ".join([*words, *programs])))
