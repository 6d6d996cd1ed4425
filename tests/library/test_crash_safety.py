"""A change that is cut off at any step leaves the old skill or the new one, and both are ours."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from skill_learner.models import CreateSkill, PatchSkill, Skill
from skill_learner.skills.library import SkillLibrary

Create = Callable[..., Skill]
Operation = Callable[[SkillLibrary], Any]


class Crash(BaseException):
    """Stands for the end of the process: no handler of the product catches it."""


def create_other(library: SkillLibrary) -> Skill:
    draft = CreateSkill("other", "Use when other", "Text.\n", ())
    return library.create(
        draft, state="active", scope="p", project_slug="p", origin="llm", session="s5"
    )


def patch(library: SkillLibrary) -> Skill:
    skill = library.get("fix-build")
    change = PatchSkill(skill.name, skill.content_hash, "Run second.", "Run both.", ())
    return library.patch(change, origin="llm", session="s5")


OPERATIONS: dict[str, Operation] = {
    "create": create_other,
    "patch": patch,
    "evidence": lambda lib: lib.add_evidence("fix-build", session="s5", promote=True, why=""),
    "state": lambda lib: lib.set_state("fix-build", "active", why="", actor="user"),
    "archive": lambda lib: lib.archive("fix-build", why="", actor="user"),
    "restore": lambda lib: lib.restore("retired"),
    "undo": lambda lib: lib.undo("fix-build"),
    "undo of archive": lambda lib: lib.undo("retired", 1),
}
STEPS = ("replace", "rename", "fsync", "mkdir", "chmod", "open")


def snapshot(library: SkillLibrary) -> dict[str, tuple[bytes, str, bool]]:
    skills = library.list(("active", "candidate", "archived"))
    return {s.name: (Path(s.path).read_bytes(), s.state, s.ours) for s in skills}


@pytest.fixture
def prepared(library: SkillLibrary, create: Create) -> SkillLibrary:
    create("fix-build")
    library.add_evidence("fix-build", session="s2", promote=False, why="")
    create("retired")
    library.archive("retired", why="", actor="user")
    return library


@pytest.fixture
def crash_at(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[int], None]]:
    """Let the process die at the nth call that touches the disk (before it, for odd n after it)."""
    originals = {name: getattr(os, name) for name in STEPS}
    counter = {"left": -1}

    def dying(name: str) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            counter["left"] -= 1
            if counter["left"] == 0:
                raise Crash
            return originals[name](*arguments, **options)

        return call

    def arm(number: int) -> None:
        counter["left"] = number
        for name in STEPS:
            monkeypatch.setattr(os, name, dying(name) if number else originals[name])

    yield arm
    arm(0)


@pytest.mark.parametrize("name", OPERATIONS)
def test_every_step_may_be_the_last(
    prepared: SkillLibrary, crash_at: Callable[[int], None], tmp_path: Path, name: str
) -> None:
    import shutil

    pristine = tmp_path / "pristine"
    shutil.copytree(prepared.skills_dir, pristine)
    before = snapshot(prepared)
    OPERATIONS[name](prepared)
    after = {key: value[:2] for key, value in snapshot(prepared).items()}
    assert after != {key: value[:2] for key, value in before.items()}

    for number in range(1, 60):
        shutil.rmtree(prepared.skills_dir)
        shutil.copytree(pristine, prepared.skills_dir)
        library = SkillLibrary(prepared.skills_dir)
        crash_at(number)
        try:
            OPERATIONS[name](library)
        except Crash:
            crash_at(0)
        else:
            crash_at(0)
            break
        reopened = SkillLibrary(prepared.skills_dir)
        assert_old_or_new(reopened, before, set(after))
        assert reopened.problems() == []
        assert_usable(reopened, name)
    assert number > 3, "the operation must have been cut at several steps"


def assert_old_or_new(
    library: SkillLibrary, before: dict[str, tuple[bytes, str, bool]], names_after: set[str]
) -> None:
    found = snapshot(library)
    assert set(before) <= set(found) <= names_after
    assert all(ours for _, _, ours in found.values()), "no crash makes a skill of ours the user's"
    for name, (data, _, _) in found.items():
        changes = library.history(name)
        assert changes
        assert data.endswith(b"\n")
        assert changes[-1].after == library.get(name).content_hash


def assert_usable(library: SkillLibrary, name: str) -> None:
    """The cut operation, or the next one, goes through on the library as it was left."""
    states = {
        skill.name: skill.state for skill in library.list(("active", "candidate", "archived"))
    }
    if states["fix-build"] != "archived":
        library.add_evidence("fix-build", session=f"after-{name}", promote=False, why="")
        library.undo("fix-build")
    created = create_other(library)
    assert created.name == ("p-other" if "other" in states else "other")
    assert library.get(created.name).ours


# -- kill -9 -----------------------------------------------------------------------------------


def change_for_ever(folder: str) -> None:  # pragma: no cover - runs in a child until it is killed
    library = SkillLibrary(Path(folder))
    for number in range(1_000_000):
        library.add_evidence("fix-build", session=f"{os.getpid()}-{number}", promote=False, why="")
        skill = library.get("fix-build")
        old, new = ("first", "1st") if "first" in skill.body else ("1st", "first")
        library.patch(
            PatchSkill(skill.name, skill.content_hash, old, new, ()), origin="x", session="x"
        )
        library.archive("fix-build", why="", actor="user")
        library.restore("fix-build")
        library.undo("fix-build")


@pytest.mark.process
@pytest.mark.skipif(sys.platform == "win32", reason="needs fork and SIGKILL")
def test_fifty_kills_leave_whole_skills_of_ours(prepared: SkillLibrary) -> None:
    fork = multiprocessing.get_context("fork")
    dice = random.Random(7)
    versions = set()
    for _ in range(50):
        child = fork.Process(target=change_for_ever, args=(str(prepared.skills_dir),))
        child.start()
        time.sleep(0.02 + dice.random() * 0.06)
        assert child.pid is not None
        os.kill(child.pid, signal.SIGKILL)
        child.join()
        library = SkillLibrary(prepared.skills_dir)
        skill = library.get("fix-build")
        assert skill.ours
        assert skill.body.startswith("# Fix")
        assert skill.body.endswith("Run second.\n")
        assert library.history("fix-build")[-1].after == skill.content_hash
        assert library.problems() == []
        if skill.state == "archived":
            library.restore("fix-build")
        versions.add(skill.version)
    assert len(versions) > 10, "the children must have got to write"
