"""Bytes that we wrote last are ours; anything else is the user's and is not written."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from skill_learner.errors import LibraryError
from skill_learner.models import PatchSkill, Skill
from skill_learner.skills.library import SkillLibrary

Create = Callable[..., Skill]


def edit(skill: Skill) -> bytes:
    path = Path(skill.path)
    path.write_bytes(path.read_bytes() + b"My own line.\n")
    return path.read_bytes()


def record_file(library: SkillLibrary, name: str) -> Path:
    return library.skills_dir / ".records" / f"{name}.json"


def changes(library: SkillLibrary, name: str) -> list[Callable[[], object]]:
    """Every change that may come from a review."""
    current = library.get(name)
    patch = PatchSkill(name, current.content_hash, current.body.strip().splitlines()[-1], "x", ())
    return [
        lambda: library.patch(patch, origin="llm", session="s9"),
        lambda: library.patch(patch, origin="llm", session="s9", rebase=True),
        lambda: library.add_evidence(name, session="s9", promote=True, why=""),
        lambda: library.set_state(name, "active", why="", actor="gate"),
        lambda: library.set_state(name, "archived", why="", actor="gate"),
    ]


def assert_untouched_by_reviews(library: SkillLibrary, name: str) -> None:
    path = Path(library.get(name).path)
    before = path.read_bytes()
    for change in changes(library, name):
        with pytest.raises(LibraryError, match="written or edited by the user"):
            change()
    assert path.read_bytes() == before
    assert not library.get(name).ours


def test_a_hand_written_skill_is_the_users(
    library: SkillLibrary, hand_write: Callable[..., Path]
) -> None:
    hand_write("mine")
    skill = library.get("mine")
    assert (skill.ours, skill.state, skill.scope, skill.origin) == (False, "active", "user", "user")
    assert_untouched_by_reviews(library, "mine")


@pytest.mark.parametrize("metadata", ["", "metadata:\n  skill-learner-state: candidate\n"])
def test_the_users_own_skill_is_moved_without_a_change_of_its_file(
    library: SkillLibrary, metadata: str
) -> None:
    path = library.skills_dir / "mine" / "SKILL.md"
    path.parent.mkdir(parents=True)
    path.write_text(f"---\nname: mine\ndescription: Use when asked\n{metadata}---\nDo it.\n")
    before, data = library.get("mine"), path.read_bytes()
    moved = library.set_scope("mine", "a-project")
    assert (moved.scope, moved.state, moved.ours) == ("a-project", before.state, False)
    assert not library.is_approved(moved)
    assert path.read_bytes() == data
    path.write_bytes(data + b"More.\n")
    assert (library.get("mine").scope, library.get("mine").state) == ("a-project", before.state)
    assert library.set_scope("mine", "user").scope == "user"
    assert [change.action for change in library.history("mine")] == ["scope", "scope"]


def test_an_edited_skill_becomes_the_users_and_keeps_what_is_known(
    library: SkillLibrary, create: Create
) -> None:
    skill = create()
    edit(skill)
    edited = library.get(skill.name)
    assert edited.body.endswith("My own line.\n")
    assert (edited.sessions, edited.trigger_key, edited.scope) == (("s1",), "trigger", "shop-1")
    assert_untouched_by_reviews(library, skill.name)


def test_an_edit_taken_back_makes_it_ours_again(library: SkillLibrary, create: Create) -> None:
    skill = create()
    before = Path(skill.path).read_bytes()
    edit(skill)
    Path(skill.path).write_bytes(before)
    assert library.get(skill.name) == skill


def test_going_back_to_an_older_version_by_hand_is_an_edit(
    library: SkillLibrary, create: Create
) -> None:
    skill = create()
    before = Path(skill.path).read_bytes()
    library.add_evidence(skill.name, session="s2", promote=True, why="")
    Path(skill.path).write_bytes(before)
    assert not library.get(skill.name).ours


@pytest.mark.parametrize("damage", [None, b"", b"{", b"null", b"[]", b'{"hash": 3}', b"\xff\xfe"])
def test_a_missing_and_a_damaged_record_behave_the_same(
    library: SkillLibrary, create: Create, damage: bytes | None
) -> None:
    def lose_record() -> None:
        if damage is None:
            record_file(library, skill.name).unlink()
        else:
            record_file(library, skill.name).write_bytes(damage)

    skill = create()
    lose_record()
    assert library.get(skill.name) == skill  # the ledger knows these bytes
    edit(skill)
    lose_record_again = damage
    if lose_record_again is not None:
        record_file(library, skill.name).write_bytes(lose_record_again)
    assert_untouched_by_reviews(library, skill.name)


def test_without_record_and_ledger_a_learned_file_is_the_users(
    library: SkillLibrary, create: Create, tmp_path: Path
) -> None:
    skill = create(state="active")
    elsewhere = SkillLibrary(tmp_path / "elsewhere")
    target = elsewhere.skills_dir / skill.name
    target.mkdir(parents=True)
    (target / "SKILL.md").write_bytes(Path(skill.path).read_bytes())
    copied = elsewhere.get(skill.name)
    assert (copied.ours, copied.state, copied.scope) == (False, "active", "shop-1")
    assert (copied.sessions, copied.origin) == (("s1",), "offline")
    assert_untouched_by_reviews(elsewhere, skill.name)


def test_creating_beside_a_users_skill_takes_another_name(
    library: SkillLibrary, create: Create, hand_write: Callable[..., Path]
) -> None:
    path = hand_write("fix-build")
    before = path.read_bytes()
    assert create("fix-build").name == "shop-fix-build"
    assert path.read_bytes() == before


def test_the_user_may_approve_and_archive_their_file_and_its_bytes_stay(
    library: SkillLibrary, create: Create
) -> None:
    skill = create()
    data = edit(skill)
    assert library.get(skill.name).state == "candidate"
    approved = library.set_state(skill.name, "active", why="fine", actor="user")
    assert (approved.state, approved.ours) == ("active", False)
    assert Path(approved.path).read_bytes() == data
    archived = library.archive(skill.name, why="", actor="user")
    assert Path(archived.path).read_bytes() == data
    assert Path(library.restore(skill.name).path).read_bytes() == data
    assert [change.action for change in library.history(skill.name)] == [
        "create",
        "state",
        "archive",
        "restore",
    ]


def test_a_state_written_by_hand_counts(library: SkillLibrary, create: Create) -> None:
    skill = create()
    path = Path(skill.path)
    path.write_text(path.read_text().replace('state: "candidate"', 'state: "active"'))
    assert library.get(skill.name).state == "active"


def test_an_unfinished_hand_written_skill_is_not_active(
    library: SkillLibrary, hand_write: Callable[..., Path]
) -> None:
    hand_write("draft", "---\nname: draft\ndescription:\n---\nText.\n")
    assert library.get("draft").state == "candidate"


def test_the_folder_is_the_identity(library: SkillLibrary, hand_write: Callable[..., Path]) -> None:
    text = "---\nname: same\ndescription: Use it.\n---\nText.\n"
    hand_write("one", text)
    hand_write("two", text, file="skill.md")
    assert [skill.name for skill in library.list()] == ["one", "two"]
    assert any("differs from its folder" in warning for warning in library.get("two").warnings)
