"""Every change is told, and every version comes back byte for byte."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from datetime import date, datetime, timezone
from pathlib import Path

import pytest

from skill_learner.errors import LibraryError
from skill_learner.models import PatchSkill, Skill
from skill_learner.skills.history import Change, Entry, History
from skill_learner.skills.library import SkillLibrary
from skill_learner.skills.records import SkillRecord

Create = Callable[..., Skill]


def content(library: SkillLibrary, name: str = "fix-build") -> bytes:
    return Path(library.get(name).path).read_bytes()


@pytest.fixture
def versions(library: SkillLibrary, create: Create) -> list[bytes]:
    """The bytes of versions 1 (created), 2 (evidence) and 3 (patched) of `fix-build`."""
    skill = create()
    found = [content(library)]
    library.add_evidence(skill.name, session="s2", promote=True, why="second session")
    found.append(content(library))
    now = library.get(skill.name)
    patch = PatchSkill(skill.name, now.content_hash, "Run second.", "Run both.", ())
    library.patch(patch, origin="llm", session="s3")
    return [*found, content(library)]


def test_history_tells_who_why_and_when(library: SkillLibrary, versions: list[bytes]) -> None:
    changes = library.history("fix-build")
    assert [(c.version, c.action, c.actor, c.session) for c in changes] == [
        (1, "create", "offline", "s1"),
        (2, "evidence", "gate", "s2"),
        (3, "patch", "llm", "s3"),
    ]
    assert changes[1].why == "second session"
    assert [c.before for c in changes][1:] == [c.after for c in changes][:-1]
    assert changes[0].before == ""
    assert changes[-1].after == library.get("fix-build").content_hash
    assert all(change.at.endswith("+00:00") for change in changes)


def test_undo_steps_back_and_ends_in_the_archive(
    library: SkillLibrary, versions: list[bytes]
) -> None:
    assert library.undo("fix-build").state == "active"
    assert content(library) == versions[1]
    assert library.undo("fix-build").state == "candidate"
    assert content(library) == versions[0]
    undone = library.undo("fix-build")
    assert (undone.state, content(library)) == ("archived", versions[0])


def test_undo_to_any_version_and_back(library: SkillLibrary, versions: list[bytes]) -> None:
    for number in (1, 3, 2, 3, 1):
        skill = library.undo("fix-build", number)
        assert content(library) == versions[number - 1]
        assert skill.ours
    assert library.history("fix-build")[-1].version == 8
    with pytest.raises(LibraryError, match="has no version 99"):
        library.undo("fix-build", 99)


def test_what_was_undone_can_be_changed_again(library: SkillLibrary, versions: list[bytes]) -> None:
    library.undo("fix-build", 1)
    skill = library.add_evidence("fix-build", session="s7", promote=False, why="")
    assert (skill.version, skill.sessions) == (5, ("s1", "s7"))


def test_undo_of_and_after_archive(library: SkillLibrary, versions: list[bytes]) -> None:
    library.archive("fix-build", why="", actor="user")
    assert (library.undo("fix-build").state, content(library)) == ("active", versions[2])
    library.archive("fix-build", why="", actor="user")
    skill = library.undo("fix-build", 1)
    assert (skill.state, content(library)) == ("candidate", versions[0])


def test_undo_of_restore_archives_again(library: SkillLibrary, versions: list[bytes]) -> None:
    library.archive("fix-build", why="", actor="user")
    library.restore("fix-build")
    assert library.undo("fix-build").state == "archived"


def test_undo_without_a_name_takes_the_last_change(library: SkillLibrary, create: Create) -> None:
    with pytest.raises(LibraryError, match="no change to undo"):
        library.undo()
    create("first")
    create("second")
    library.add_evidence("first", session="s2", promote=True, why="")
    undone = library.undo()
    assert (undone.name, undone.state) == ("first", "candidate")


def test_undo_keeps_a_users_edit_unless_asked_and_then_remembers_it(
    library: SkillLibrary, versions: list[bytes]
) -> None:
    path = Path(library.get("fix-build").path)
    edited = path.read_bytes() + b"Mine.\n"
    path.write_bytes(edited)
    with pytest.raises(LibraryError, match="edited by the user"):
        library.undo("fix-build", 2)
    assert path.read_bytes() == edited
    library.undo("fix-build", 2, overwrite_edits=True)
    assert path.read_bytes() == versions[1]
    kept = [c.version for c in library.history("fix-build") if c.action == "user-edit"]
    back = library.undo("fix-build", kept[0])
    assert path.read_bytes() == edited
    assert not back.ours


def test_undo_of_nothing_of_ours(library: SkillLibrary, hand_write: Callable[..., Path]) -> None:
    hand_write("mine")
    with pytest.raises(LibraryError, match="never changed by us"):
        library.undo("mine")


def test_a_torn_ledger_line_is_passed_over(library: SkillLibrary, versions: list[bytes]) -> None:
    ledger = library.skills_dir / ".history" / "fix-build.jsonl"
    with ledger.open("ab") as handle:
        handle.write(b'{"change": {"name": "fix-bu')
    assert len(library.history("fix-build")) == 3
    library.add_evidence("fix-build", session="s9", promote=False, why="")
    assert [c.version for c in library.history("fix-build")] == [1, 2, 3, 4]
    assert ledger.read_bytes().endswith(b"}\n")


def test_a_damaged_copy_is_refused(library: SkillLibrary, versions: list[bytes]) -> None:
    first = library.history("fix-build")[0].after
    (library.skills_dir / ".history" / "blobs" / first).write_bytes(b"changed")
    with pytest.raises(LibraryError, match="damaged"):
        library.undo("fix-build", 1)
    assert content(library) == versions[2]


def test_the_ledger_is_lines_of_json(library: SkillLibrary, versions: list[bytes]) -> None:
    lines = (library.skills_dir / ".history" / "fix-build.jsonl").read_text().splitlines()
    assert [json.loads(line)["record"]["version"] for line in lines] == [1, 2, 3]


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="a process cannot change its time zone")
@pytest.mark.parametrize("zone", ["EAST-11", "WEST+11", "UTC0"])
def test_patches_of_a_day_are_counted_by_the_day_of_this_machine(
    library: SkillLibrary, monkeypatch: pytest.MonkeyPatch, zone: str
) -> None:
    monkeypatch.setenv("TZ", zone)
    time.tzset()
    try:
        midnight = datetime.combine(date.today(), datetime.min.time()).timestamp()
        history = History(library.skills_dir / ".history")
        for version, moment in enumerate((midnight - 1, midnight + 1), 1):
            at = datetime.fromtimestamp(moment, timezone.utc).isoformat(timespec="seconds")
            change = Change("x", version, "patch", "offline", "", "s", "", "", at)
            history.write(Entry(change, SkillRecord("h", version=version)))
        assert library.patches_today() == 1
    finally:
        monkeypatch.undo()
        time.tzset()
