"""Machines that share a library while whatever can happen to their syncs happens, by a seed.

Each machine changes its own line of every skill only, so that every change can be merged, and none
may be lost, wait for a person, or come in as another skill.
"""

from __future__ import annotations

import contextlib
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from remote_homes import Home, empty_repository, home_maker, killed_at_its_push

from skill_learner.errors import SkillLearnerError

_LINES = 3
_BODY = "# Deploy\n\n" + "\n\n".join(f"Line {i}." for i in range(_LINES)) + "\n"
_CHANCES = {"patch": 30, "sync": 35, "add": 6, "kill": 12, "late": 6, "forget": 3, "damage": 3}


class Storm:
    """One run; `losses` tells what was lost, empty when nothing was. again: how often a change
    takes up a text that the machine's line had before."""

    def __init__(self, folder: Path, seed: int, *, again: float = 0.0) -> None:
        self._again = again
        self._had: dict[tuple[str, int], list[str]] = {}
        self._random = random.Random(seed)
        make = home_maker(str(empty_repository(folder / "team.git")), folder)
        self._homes = [make(f"home-{i}") for i in range(self._random.choice([2, _LINES]))]
        self._skills: list[str] = []
        self._written: dict[tuple[str, int], str] = {}
        self._survivors: list[Callable[[], Any]] = []

    def rage(self, steps: int = 40) -> None:
        for step in range(steps):
            number = self._random.randrange(len(self._homes))
            (act,) = self._random.choices(list(_CHANCES), list(_CHANCES.values()))
            getattr(self, f"_{act}")(self._homes[number], number, step)
        for survivor in self._survivors:
            self._end(survivor)

    def losses(self) -> list[str]:
        """What is not as it has to be once the machines have synced in peace."""
        told: list[str] = []
        for _ in range(6):
            outcomes = [one for home in self._homes for one in home.sync().outcomes]
            told += [str(o) for o in outcomes if o.outcome not in _HARMLESS]
            if not outcomes:
                break
        else:
            told.append("they never come to rest")
        for home in self._homes:
            bodies = {skill.name: skill.body for skill in home.library.list()}
            if sorted(bodies) != sorted(self._skills):
                told.append(f"{home.config.state_dir.name} has {sorted(bodies)}")
            for (name, _), line in self._written.items():
                if line not in bodies.get(name, ""):
                    told.append(f"{home.config.state_dir.name} lacks {line!r} of {name}")
        return told

    # -- what happens ------------------------------------------------------------------------------

    def _patch(self, home: Home, number: int, step: int) -> None:
        names = [name for name in home.names("active") if name in self._skills]
        if names:
            name = self._random.choice(names)
            old = home.library.get(name).body.split("\n")[2 + 2 * number]
            new = f"Line {number}, at step {step}."
            had = self._had.setdefault((name, number), [])
            earlier = [text for text in had if text != old]
            if self._again and earlier and self._random.random() < self._again:
                new = self._random.choice(earlier)
            had += [old, new]
            self._written[name, number] = new
            home.patch(name, old, new)

    def _add(self, home: Home, number: int, step: int) -> None:
        name = f"skill-{number}-{step}"
        home.add(name, _BODY)
        self._skills.append(name)

    def _sync(self, home: Home, number: int, step: int) -> None:
        home.sync()

    def _kill(self, home: Home, number: int, step: int) -> None:
        """A sync is killed at its push, which lands, or goes on alone later."""
        landed = self._random.random() < 0.5
        survivor = killed_at_its_push(home, landed=landed)
        if not landed:
            self._survivors.append(survivor)

    def _late(self, home: Home, number: int, step: int) -> None:
        if self._survivors:
            self._end(self._survivors.pop(self._random.randrange(len(self._survivors))))

    def _end(self, survivor: Callable[[], Any]) -> None:
        with contextlib.suppress(SkillLearnerError):  # its copy may be gone meanwhile
            survivor()

    def _forget(self, home: Home, number: int, step: int) -> None:
        shutil.rmtree(home.config.paths.remotes_dir, ignore_errors=True)

    def _damage(self, home: Home, number: int, step: int) -> None:
        objects = sorted(home.config.paths.remotes_dir.glob("*.git/objects/??/*"))
        for path in self._random.sample(objects, min(3, len(objects))):
            path.unlink()


_HARMLESS = ("sent", "new", "updated", "merged", "the same")
