"""Creating, patching, promoting, archiving: the everyday changes."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest
from skill_spec import spec_faults

from skill_learner.errors import LibraryError, SkillFormatError
from skill_learner.models import ENOUGH_SESSIONS, Claim, CreateSkill, PatchSkill, Skill
from skill_learner.skills.adopting import AdoptedSkill
from skill_learner.skills.library import SkillLibrary

Create = Callable[..., Skill]


def patch(skill: Skill, old: str, new: str) -> PatchSkill:
    return PatchSkill(skill.name, skill.content_hash, old, new, (Claim("because", (1,)),))


def test_an_empty_library_reads_as_empty_and_is_not_made(library: SkillLibrary) -> None:
    assert library.list() == []
    assert library.stamps() == {}
    assert not library.skills_dir.exists()


def test_created_skill(library: SkillLibrary, create: Create) -> None:
    skill = create("Fix: the build")
    assert (skill.name, skill.state, skill.scope, skill.ours) == (
        "fix-the-build",
        "candidate",
        "shop-1",
        True,
    )
    assert skill.body == "# Fix\n\nRun first.\nRun second.\n"
    assert (skill.sessions, skill.trigger_key, skill.remedy_key) == (("s1",), "trigger", "remedy")
    assert skill.warnings == ()
    assert skill.metadata == {
        "skill-learner-origin": "offline",
        "skill-learner-scope": "shop-1",
        "skill-learner-state": "candidate",
        "skill-learner-version": "1",
        "skill-learner-sessions": "s1",
        "skill-learner-trigger": "trigger",
    }
    assert spec_faults(Path(skill.path).parent) == []
    assert library.get("fix-the-build") == skill
    assert Path(skill.path).stat().st_mode & 0o077 == 0


def test_a_draft_that_breaks_the_format_writes_nothing(library: SkillLibrary) -> None:
    with pytest.raises(SkillFormatError, match="at most 1024"):
        library.create(
            CreateSkill("x", "d" * 1025, "b", ()),
            state="candidate",
            scope="p",
            project_slug="p",
            origin="o",
            session="s",
        )
    assert library.list() == []
    assert not (library.skills_dir / "x").exists()


def test_lists_by_state_and_scope(library: SkillLibrary, create: Create) -> None:
    create("a", state="active")
    create("b", scope="other-2")
    create("c")
    library.archive("c", why="old", actor="user")
    assert [skill.name for skill in library.list()] == ["a", "b"]
    assert [skill.name for skill in library.list(("active",))] == ["a"]
    assert [skill.name for skill in library.list(("archived",))] == ["c"]
    assert [skill.name for skill in library.list(scope="other-2")] == ["b"]


def test_a_name_that_is_held_gets_the_project_then_a_number(create: Create) -> None:
    assert create("fix").name == "fix"
    assert create("fix", scope="blog-2").name == "blog-fix"
    assert create("fix", scope="blog-2").name == "blog-fix-2"
    assert create("x" * 64).name == "x" * 64
    assert len(create("x" * 64).name) <= 64


def test_the_name_of_an_archived_skill_stays_taken(library: SkillLibrary, create: Create) -> None:
    create("fix")
    library.archive("fix", why="", actor="user")
    assert create("fix").name == "shop-fix"


def test_an_unknown_name_brings_near_ones(library: SkillLibrary, create: Create) -> None:
    create("fix-build")
    with pytest.raises(LibraryError) as caught:
        library.get("fix-bild")
    assert "fix-build" in caught.value.hint


def test_patch(library: SkillLibrary, create: Create) -> None:
    skill = create()
    changed = library.patch(patch(skill, "Run second.", "Run both."), origin="llm", session="s2")
    assert changed.body == "# Fix\n\nRun first.\nRun both.\n"
    assert (changed.version, changed.ours, changed.name) == (2, True, skill.name)
    assert library.history(skill.name)[-1].why == "because"


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("Run ", "Do ", "stands there 2 times, at lines 4, 5"),
        ("Walk", "Run", "does not stand in its body"),
        ("", "x", "names no text"),
        ("Run first.", "Run first.", "changes nothing"),
        ("\n# Fix\n\nRun first.\nRun second.\n", "", "without a text"),
        ("skill-learner-state", "x", "does not stand in its body"),
    ],
)
def test_patches_that_are_refused(
    library: SkillLibrary, create: Create, old: str, new: str, message: str
) -> None:
    skill = create()
    with pytest.raises(LibraryError, match=message):
        library.patch(patch(skill, old, new), origin="llm", session="s2")
    assert library.get(skill.name) == skill


def test_a_stale_patch_is_refused_with_the_text_or_rebased(
    library: SkillLibrary, create: Create
) -> None:
    skill = create()
    library.patch(patch(skill, "Run first.", "Run one."), origin="llm", session="s2")
    stale = patch(skill, "Run second.", "Run two.")
    with pytest.raises(LibraryError, match="Run one"):
        library.patch(stale, origin="llm", session="s3")
    assert (
        "Run one.\nRun two." in library.patch(stale, origin="llm", session="s3", rebase=True).body
    )
    with pytest.raises(LibraryError, match="has changed"):
        library.patch(patch(skill, "Run first.", "Run 1."), origin="llm", session="s3", rebase=True)


def test_evidence_in_between_does_not_make_a_patch_stale(
    library: SkillLibrary, create: Create
) -> None:
    skill = create()
    library.add_evidence(skill.name, session="s2", promote=True, why="again")
    patched = library.patch(patch(skill, "Run first.", "Run 1."), origin="llm", session="s3")
    assert (patched.state, patched.sessions) == ("active", ("s1", "s2"))


def test_evidence_counts_a_session_once_and_promotes(library: SkillLibrary, create: Create) -> None:
    skill = create()
    assert library.add_evidence(skill.name, session="s1", promote=False, why="") == skill
    second = library.add_evidence(skill.name, session="s2", promote=True, why="seen again")
    assert (second.state, second.sessions) == ("active", ("s1", "s2"))
    assert second.metadata["skill-learner-state"] == "active"
    assert library.history(skill.name)[-1].action == "evidence"


def test_a_proof_that_comes_again_and_again_is_noted_only_so_often(
    library: SkillLibrary, create: Create
) -> None:
    skill = create()
    for number in range(ENOUGH_SESSIONS + 5):
        library.add_evidence(skill.name, session=f"more-{number}", promote=False, why="")
    entries = library.history(skill.name)
    assert len(entries) == ENOUGH_SESSIONS  # the first session made it, 49 proved it
    known = library.get(skill.name)
    assert len(known.sessions) == ENOUGH_SESSIONS
    late = library.add_evidence(skill.name, session="late", promote=True, why="")
    assert (late.state, len(late.sessions)) == ("active", ENOUGH_SESSIONS)


def test_states(library: SkillLibrary, create: Create) -> None:
    name = create().name
    assert library.set_state(name, "active", why="good", actor="user").state == "active"
    archived = library.set_state(name, "archived", why="old", actor="user")
    assert archived.state == "archived"
    assert ".archive" in archived.path
    assert library.list() == []
    assert library.get(name).state == "archived"
    assert library.restore(name).state == "active"
    library.archive(name, why="", actor="user")
    assert library.set_state(name, "candidate", why="", actor="user").state == "candidate"
    actions = [change.action for change in library.history(name)]
    assert actions == ["create", "state", "archive", "restore", "archive", "restore", "state"]


def test_archiving_takes_attachments_along_and_overwrites_nothing(
    library: SkillLibrary, create: Create, hand_write: Callable[..., Path]
) -> None:
    skill = create("fix")
    Path(skill.path).with_name("script.sh").write_text("echo 1")
    library.archive("fix", why="", actor="user")
    hand_write("fix")
    library.archive("fix", why="", actor="user")
    kept = list((library.skills_dir / ".archive" / ".superseded").rglob("script.sh"))
    assert [path.read_text() for path in kept] == ["echo 1"]
    hand_write("fix")
    with pytest.raises(LibraryError, match="cannot be restored"):
        library._writer.restore(library._reader.read(library._folder.at(".archive/fix")), "u", "")


def test_a_moved_project_takes_its_skills_along(library: SkillLibrary, create: Create) -> None:
    create("a")
    create("b", scope="other-2")
    assert library.change_scope("shop-1", "store-3") == 1
    assert {skill.name: skill.scope for skill in library.list()} == {"a": "store-3", "b": "other-2"}


def test_a_moved_project_takes_the_users_files_along_as_they_are(
    library: SkillLibrary, create: Create
) -> None:
    edited = Path(create("edited", state="active").path)
    edited.write_text(edited.read_text().replace("Run first.", "Run mine."))
    text = b"---\nname: theirs\ndescription: Use when it rains.\n---\nGo.\n"
    coming = AdoptedSkill("theirs", text, {}, "candidate", "shop-1")
    assert library.adopt([coming], project_slug="shop") == ["theirs"]
    adopted = library.get("theirs")
    before = [edited.read_bytes(), Path(adopted.path).read_bytes()]
    assert library.change_scope("shop-1", "store-3") == 2
    assert {skill.name: (skill.scope, skill.state) for skill in library.list()} == {
        "edited": ("store-3", "active"),
        "theirs": ("store-3", "candidate"),
    }
    assert [edited.read_bytes(), Path(adopted.path).read_bytes()] == before
    assert not any(skill.ours for skill in library.list())


@pytest.mark.parametrize("state", ["active", "candidate"])
@pytest.mark.parametrize("edited", [False, True])
def test_what_is_archived_goes_along_with_its_project_and_comes_back_as_it_was(
    library: SkillLibrary, create: Create, state: str, edited: bool
) -> None:
    file = Path(create("old", state=state).path)
    if edited:
        file.write_text(file.read_text().replace("Run first.", "Run mine."))
    library.archive("old", why="", actor="user")
    assert library.change_scope("shop-1", "store-3") == 1
    assert (library.get("old").state, library.get("old").scope) == ("archived", "store-3")
    assert [change.action for change in library.history("old")][-2:] == ["archive", "scope"]
    back = library.undo("old")
    assert (back.state, back.scope, back.ours) == (state, "store-3", not edited)


def test_an_archived_skill_of_the_same_name_stays_out_of_the_way(
    library: SkillLibrary, create: Create, hand_write: Callable[..., Path]
) -> None:
    create("fix")
    library.archive("fix", why="", actor="user")
    hand_write("fix")
    assert library.change_scope("shop-1", "store-3") == 1
    assert (library.get("fix").scope, library.get("fix").ours) == ("store-3", False)


def test_unusable_files_are_left_out_and_named(
    library: SkillLibrary, create: Create, hand_write: Callable[..., Path]
) -> None:
    create("good")
    hand_write("bad", "---\nname: bad\n")
    hand_write("empty", "\n")
    assert [skill.name for skill in library.list()] == ["good"]
    assert [error.message.split("skills/")[-1][:10] for error in library.problems()] == [
        "bad/SKILL.",
        "empty/SKIL",
    ]


def test_a_busy_library_says_so(library: SkillLibrary, create: Create) -> None:
    from skill_learner.files import locked

    create("a")
    impatient = SkillLibrary(library.skills_dir, lock_timeout=0)
    with (
        locked(library.skills_dir / ".lock"),
        pytest.raises(LibraryError, match="busy in another process"),
    ):
        impatient.add_evidence("a", session="s", promote=False, why="")


def test_a_skill_is_found_without_a_look_at_all_the_others(
    library: SkillLibrary, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = create()
    listed: list[object] = []
    names = os.listdir
    monkeypatch.setattr(os, "listdir", lambda place: (listed.append(place), names(place))[1])
    assert library.history(skill.name)
    assert not [place for place in listed if Path(str(place)) == library.skills_dir]


def test_where_case_is_ignored_another_spelling_finds_nothing(
    library: SkillLibrary, create: Create, monkeypatch: pytest.MonkeyPatch
) -> None:
    skill = create()
    other = library.skills_dir / skill.name.swapcase()
    other.symlink_to(library.skills_dir / skill.name)  # what such a file system would answer
    names = os.listdir
    monkeypatch.setattr(os, "listdir", lambda place: [n for n in names(place) if n.islower()])
    assert library.get(skill.name).name == skill.name
    with pytest.raises(LibraryError):
        library.get(skill.name.swapcase())
