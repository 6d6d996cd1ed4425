"""A name is one folder inside the library; nothing outside is read or written."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from skill_learner.errors import LibraryError
from skill_learner.models import PatchSkill, Skill
from skill_learner.skills.library import SkillLibrary

Create = Callable[..., Skill]

ATTACKS = [
    *("../outside", "..", ".", "", "/etc", "a/b", "a\\b", ".records", ".archive"),
    *("C:x", "x\0y", ".history/blobs", "nul"),
]


@pytest.fixture
def outside(tmp_path: Path) -> Path:
    folder = tmp_path / "outside"
    folder.mkdir()
    (folder / "SKILL.md").write_text("---\nname: outside\ndescription: Use it.\n---\nSecret.\n")
    return folder


@pytest.mark.parametrize("name", ATTACKS)
def test_names_that_are_paths_are_refused_everywhere(
    library: SkillLibrary, create: Create, outside: Path, name: str
) -> None:
    create("inside")
    patch = PatchSkill(name, "0", "Secret.", "x", ())
    for attempt in (
        lambda: library.get(name),
        lambda: library.history(name),
        lambda: library.patch(patch, origin="llm", session="s"),
        lambda: library.add_evidence(name, session="s", promote=True, why=""),
        lambda: library.archive(name, why="", actor="user"),
        lambda: library.undo(name or "..", 1),
        lambda: library.at(name),
        lambda: library.at(f".archive/{name}"),
    ):
        with pytest.raises(LibraryError):
            attempt()
    assert (outside / "SKILL.md").read_text().endswith("Secret.\n")


@pytest.mark.parametrize("name", ["../outside", "/etc/passwd", "..\\x", ".records", "a/../../b"])
def test_created_names_stay_inside(
    library: SkillLibrary, create: Create, outside: Path, name: str
) -> None:
    skill = create(name)
    assert Path(skill.path).parent.parent == library.skills_dir
    assert sorted(os.listdir(outside)) == ["SKILL.md"]


def test_a_linked_folder_that_leaves_the_library_is_not_followed(
    library: SkillLibrary, create: Create, outside: Path
) -> None:
    create("inside")
    os.symlink(outside, library.skills_dir / "linked")
    assert [skill.name for skill in library.list()] == ["inside"]
    assert "linked" not in library.stamps()
    with pytest.raises(LibraryError, match="leaves the library"):
        library.get("linked")
    with pytest.raises(LibraryError, match="leaves the library"):
        library.archive("linked", why="", actor="user")
    assert create("linked").name == "shop-linked"


def test_a_linked_file_that_leaves_the_library_is_not_followed(
    library: SkillLibrary, create: Create, outside: Path
) -> None:
    folder = library.skills_dir / "linked"
    folder.mkdir(parents=True)
    os.symlink(outside / "SKILL.md", folder / "SKILL.md")
    assert library.list() == []
    with pytest.raises(LibraryError, match="leaves the library"):
        library.get("linked")


def test_a_link_in_place_of_our_file_is_not_written_through(
    library: SkillLibrary, create: Create, outside: Path
) -> None:
    skill = create("inside")
    path = Path(skill.path)
    (outside / "copy.md").write_bytes(path.read_bytes())
    path.unlink()
    os.symlink(outside / "copy.md", path)
    with pytest.raises(LibraryError, match="leaves the library"):
        library.add_evidence("inside", session="s2", promote=True, why="")


def test_a_linked_library_works(library: SkillLibrary, create: Create, tmp_path: Path) -> None:
    create("inside")
    os.symlink(library.skills_dir, tmp_path / "alias")
    alias = SkillLibrary(tmp_path / "alias")
    assert alias.get("inside").ours
    os.symlink(library.skills_dir / "inside", library.skills_dir / "within")
    assert [skill.name for skill in library.list()] == ["inside", "within"]


def test_names_that_differ_in_case_only(
    library: SkillLibrary, create: Create, hand_write: Callable[..., Path]
) -> None:
    hand_write("Deploy")
    assert create("deploy").name == "shop-deploy"
    assert library.get("Deploy").body == "Mine.\n"
    with pytest.raises(LibraryError, match="no skill 'deploy'"):
        library.get("deploy")


def test_things_that_are_no_skills_are_passed_over(library: SkillLibrary, create: Create) -> None:
    create("inside")
    (library.skills_dir / "notes.txt").write_text("x")
    (library.skills_dir / "empty").mkdir()
    (library.skills_dir / "folder" / "SKILL.md").mkdir(parents=True)
    assert [skill.name for skill in library.list()] == ["inside"]
    assert library.problems() == []


def test_a_huge_file_is_not_read(library: SkillLibrary, create: Create) -> None:
    path = Path(create("inside").path)
    with path.open("r+b") as handle:
        handle.truncate(1 << 40)
    assert library.list() == []
    assert "more than" in library.problems()[0].message
