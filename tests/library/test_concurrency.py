"""Several processes change one library at once."""

from __future__ import annotations

import multiprocessing
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from skill_learner.models import CreateSkill, PatchSkill, Skill
from skill_learner.skills.library import SkillLibrary

pytestmark = [
    pytest.mark.process,
    pytest.mark.skipif(sys.platform == "win32", reason="starts its children by fork"),
]

Create = Callable[..., Skill]


def run_together(count: int, target: Callable[..., None], folder: Path) -> None:
    """Run `target(folder, number)` in `count` processes that start at the same moment."""
    fork = multiprocessing.get_context("fork")
    barrier = fork.Barrier(count)

    def child(number: int) -> None:
        barrier.wait()
        target(SkillLibrary(folder), number)

    children: list[Any] = [fork.Process(target=child, args=(n,)) for n in range(count)]
    for process in children:
        process.start()
    for process in children:
        process.join(60)
    assert [process.exitcode for process in children] == [0] * count


def test_patches_of_different_lines_both_survive(library: SkillLibrary, create: Create) -> None:
    lines = [[f"p{n} line {i}." for i in range(10)] for n in range(2)]
    skill = create(body="\n".join(lines[0] + lines[1]) + "\n")

    def patch_own_lines(library: SkillLibrary, number: int) -> None:
        for line in lines[number]:
            patch = PatchSkill(skill.name, skill.content_hash, line, line.upper(), ())
            library.patch(patch, origin="x", session="s", rebase=True)

    run_together(2, patch_own_lines, library.skills_dir)
    found = library.get(skill.name)
    assert found.body == "\n".join(lines[0] + lines[1]).upper() + "\n"
    assert (found.version, found.ours) == (21, True)


def test_evidence_of_eight_processes_is_all_counted(library: SkillLibrary, create: Create) -> None:
    create()

    def bring_evidence(library: SkillLibrary, number: int) -> None:
        for i in range(6):
            library.add_evidence("fix-build", session=f"p{number}-{i}", promote=i == 5, why="")

    run_together(8, bring_evidence, library.skills_dir)
    skill = library.get("fix-build")
    assert set(skill.sessions) == {"s1"} | {f"p{n}-{i}" for n in range(8) for i in range(6)}
    assert (skill.state, skill.ours, skill.version) == ("active", True, 49)
    assert [change.version for change in library.history("fix-build")] == list(range(1, 50))


def test_one_name_asked_for_by_eight_processes_gives_eight_skills(library: SkillLibrary) -> None:
    def create_same(library: SkillLibrary, number: int) -> None:
        library.create(
            CreateSkill("same", "Use when same", f"Text {number}.\n", ()),
            state="active",
            scope="p",
            project_slug="p",
            origin="x",
            session="s",
        )

    run_together(8, create_same, library.skills_dir)
    skills = library.list()
    assert len({skill.name for skill in skills}) == 8
    assert {skill.body for skill in skills} == {f"Text {n}.\n" for n in range(8)}
    assert all(skill.ours for skill in skills)
