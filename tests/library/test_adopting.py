"""Skills that were written elsewhere, taken in many at once."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import pytest

from skill_learner.errors import LibraryError
from skill_learner.models import Skill
from skill_learner.skills import bulk as bulk_module
from skill_learner.skills.adopting import AdoptedSkill
from skill_learner.skills.bulk import BulkIntake
from skill_learner.skills.library import Adopted, SkillLibrary

Create = Callable[..., Skill]
ALL = ("active", "candidate", "archived")
SCRIPT = {"scripts/run.sh": (b"echo hi\n", True)}
STEPS = ("open", "mkdir", "replace", "fsync", "chmod")


class Kill(BaseException):
    """Stands for the end of the process: no handler of the product catches it."""


def skill(name: str, **changed: Any) -> AdoptedSkill:
    text = f"---\nname: {name}\ndescription: Use when {name} fails.\n---\nDo {name}.\n"
    given: dict[str, Any] = {"attachments": {}, "state": "active", "scope": "shop-1", **changed}
    return AdoptedSkill(name, text.encode(), **given)


def adopt(library: SkillLibrary, *skills: AdoptedSkill) -> Adopted:
    return library.adopt(skills, project_slug="shop")


def files_of(one: Skill) -> Mapping[str, bytes]:
    folder = Path(one.path).parent
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file() and not path.name.startswith(".")
    }


COMING = (
    skill("plain"),
    skill("with-a-script", attachments=SCRIPT),
    skill("waits", state="candidate"),
    skill("retired", attachments=SCRIPT, archived="archived in the export"),
)
STATES = {"plain": "active", "with-a-script": "active", "waits": "candidate"}


def assert_whole(library: SkillLibrary) -> set[str]:
    """The names of those that are there; each as it is to be."""
    there = {one.name: one for one in library.list(ALL)}
    for coming in COMING:
        one = there.get(coming.name)
        if one is not None:
            expected = "archived" if coming.archived else STATES[coming.name]
            assert (one.state, one.scope, one.origin) == (expected, "shop-1", "import")
            files = {path: data for path, (data, _) in coming.attachments.items()}
            assert files_of(one) == {"SKILL.md": coming.data, **files}
            assert not one.ours
            assert library.is_approved(one) == (coming.state == "active")
    assert library.problems() == []
    return set(there)


def test_each_gets_its_state_its_files_and_a_history(library: SkillLibrary) -> None:
    assert adopt(library, *COMING) == [one.name for one in COMING]
    assert assert_whole(library) == {one.name for one in COMING}
    assert [change.action for change in library.history("plain")] == ["import"]
    assert [change.action for change in library.history("retired")] == ["import", "archive"]
    assert library.restore("retired").state == "active"


@pytest.mark.parametrize("more", range(1, 60))
def test_a_kill_at_any_step_leaves_each_whole_or_not_there(
    library: SkillLibrary, create: Create, monkeypatch: pytest.MonkeyPatch, more: int
) -> None:
    mine = create("mine", state="active")
    real = {name: getattr(os, name) for name in STEPS}
    left = more

    def dying(name: str) -> Callable[..., Any]:
        def step(*arguments: Any, **options: Any) -> Any:
            nonlocal left
            left -= 1
            if left == 0:
                raise Kill
            return real[name](*arguments, **options)

        return step

    with monkeypatch.context() as patched:
        patched.setattr(BulkIntake, "abandon", lambda self: None)  # a kill tidies nothing
        for name in STEPS:
            patched.setattr(os, name, dying(name))
        try:
            adopt(library, *COMING)
        except Kill:
            pass
        else:
            return
    library = SkillLibrary(library.skills_dir)
    there = assert_whole(library)
    assert library.get("mine") == mine
    missing = [one for one in COMING if one.name not in there]
    assert adopt(library, *missing) == [one.name for one in missing]
    assert assert_whole(library) == {"mine", *(one.name for one in COMING)}


def test_two_of_a_name_get_a_name_each(library: SkillLibrary, create: Create) -> None:
    create("plain")
    assert adopt(library, skill("plain"), skill("plain"), skill("new"), skill("new")) == [
        "shop-plain",
        "shop-plain-2",
        "new",
        "shop-new",
    ]
    assert len(library.list(ALL)) == 5


def test_one_that_cannot_be_written_keeps_no_other_back(library: SkillLibrary) -> None:
    deep = {"/".join(["d" * 200] * 20): (b"x", False)}
    bad = skill("bad", attachments=deep)
    plain, refused, scripted = adopt(library, COMING[0], bad, COMING[1])
    assert (plain, scripted) == ("plain", "with-a-script")
    assert isinstance(refused, LibraryError)
    assert "'bad' could not be written" in refused.message
    assert assert_whole(library) == {"plain", "with-a-script"}
    assert not (library.skills_dir / "bad").exists()
    assert library.history("bad") == []


def test_where_the_disk_takes_nothing_nothing_is_left(
    library: SkillLibrary, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(_: str) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(bulk_module, "sync_file_system", full)
    with pytest.raises(LibraryError, match="No space left"):
        adopt(library, *COMING)
    assert library.list(ALL) == []
    assert not [path for path in library.skills_dir.iterdir() if path.name[0] != "."]


@pytest.mark.parametrize("coming", COMING[:2], ids=lambda one: one.name)
def test_what_a_kill_left_of_one_does_not_stand_in_the_way(
    library: SkillLibrary, coming: AdoptedSkill
) -> None:
    left = library.skills_dir / coming.name
    left.mkdir(parents=True)
    (left / ".SKILL.md.ab12.sl-draft").write_bytes(b"half")
    assert adopt(library, coming) == [coming.name]
    assert {path.name for path in left.iterdir()} == {
        "SKILL.md",
        *(path.partition("/")[0] for path in coming.attachments),
    }


def test_an_undo_takes_back_the_last_one(library: SkillLibrary) -> None:
    adopt(library, *(skill(name) for name in ("zebra", "ape", "bear")))
    assert library.undo().name == "bear"
    assert library.get("bear").state == "archived"
    assert {one.name for one in library.list()} == {"zebra", "ape"}


def test_states_and_scopes_outlive_the_store_of_arrivals(library: SkillLibrary) -> None:
    adopt(library, *COMING)
    (library.skills_dir / ".history" / "arrived.sqlite").write_bytes(b"no database at all" * 99)
    assert assert_whole(SkillLibrary(library.skills_dir)) == {one.name for one in COMING}


def test_four_times_the_skills_cost_four_times_the_calls_and_no_more_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    waits = 0

    def waiting(_: int) -> None:
        nonlocal waits
        waits += 1

    monkeypatch.setattr(os, "fsync", waiting)

    def cost(count: int) -> tuple[int, int]:
        nonlocal waits
        waits = made = 0

        def called(*_: object) -> None:
            nonlocal made
            made += 1

        library = SkillLibrary(tmp_path / f"{count}")
        skills = [skill(f"s-{number}") for number in range(count)]
        sys.setprofile(called)
        try:
            told = adopt(library, *skills)
        finally:
            sys.setprofile(None)
        assert len({*map(str, told)}) == count
        return made, waits

    cost(1)  # what is imported and compiled at first is no part of it
    few, waits_for_few = cost(30)
    many, waits_for_many = cost(120)
    assert many < 5 * few
    assert waits_for_many == waits_for_few
