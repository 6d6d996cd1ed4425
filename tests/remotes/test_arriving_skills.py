"""How what arrives is merged and written: pure rules, and files after kills."""

from __future__ import annotations

import os
import shutil
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

import pytest

from skill_learner.errors import LibraryError, SkillFormatError
from skill_learner.exchange.safe_files import SkillFileData
from skill_learner.models import CreateSkill, PatchSkill
from skill_learner.remotes.background import is_due
from skill_learner.remotes.merging import merge, merge_lines
from skill_learner.remotes.packed_skill import pack, unpack
from skill_learner.remotes.scope_names import ScopeNames, wanted
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import SharedChange, SharedSkill, read_shared
from skill_learner.skills.arriving_skill import SYNC, ArrivingSkill, NewSkill, made_ready
from skill_learner.skills.bulk import BulkIntake
from skill_learner.skills.history import content_hash, now
from skill_learner.skills.intake import SkillIntake
from skill_learner.skills.library import SkillLibrary
from skill_learner.skills.records import SkillRecord

BASE = SharedSkill("deploy", "Use when it fails.", "one\n\ntwo\n\nthree")


@pytest.mark.parametrize(
    ("home", "theirs", "merged"),
    [
        ("one\n\ntwo\n\nthree", "ONE\n\ntwo\n\nthree", "ONE\n\ntwo\n\nthree"),
        ("one\n\ntwo\n\nTHREE", "ONE\n\ntwo\n\nthree", "ONE\n\ntwo\n\nTHREE"),
        ("one\n\ntwo", "ONE\n\ntwo\n\nthree", "ONE\n\ntwo"),
        (
            "zero\none\n\ntwo\n\nthree",
            "one\n\ntwo\n\nthree\nfour",
            "zero\none\n\ntwo\n\nthree\nfour",
        ),
        ("one\n\nTWO\n\nthree", "one\n\nTWO\n\nthree", "one\n\nTWO\n\nthree"),
        ("one\n\nTWO\n\nthree", "one\n\nZWEI\n\nthree", None),
        ("one\n\ntwo\n\nthree\nhome", "one\n\ntwo\n\nthree\ntheirs", None),
        ("", "one\n\ntwo\n\nTHREE", None),
    ],
)
def test_lines_are_merged_three_ways(home: str, theirs: str, merged: str | None) -> None:
    assert merge_lines(BASE.body, home, theirs) == merged
    assert merge_lines(BASE.body, theirs, home) == merged


def test_fields_are_merged_each_for_itself() -> None:
    home = replace(BASE, description="Home.", sessions=("h:a",))
    theirs = replace(BASE, state="archived", sessions=("h:b",), metadata={"tags": "x"})
    merged = merge(BASE, home, theirs).skill
    assert merged is not None
    assert (merged.description, merged.state) == ("Home.", "archived")
    assert (merged.sessions, merged.metadata) == (("h:a", "h:b"), {"tags": "x"})


def test_what_both_changed_is_named() -> None:
    file, other = SkillFileData(b"1"), SkillFileData(b"2")
    home = replace(BASE, description="Home.", attachments={"x": file})
    theirs = replace(BASE, description="Theirs.", attachments={"x": other})
    assert merge(BASE, home, theirs).conflicts == ("description", "file x")


def test_a_file_that_one_side_took_out_stays_out() -> None:
    base = replace(BASE, attachments={"x": SkillFileData(b"1"), "y": SkillFileData(b"2")})
    home = replace(base, attachments={"y": SkillFileData(b"2")})
    merged = merge(base, home, replace(base, description="Theirs.")).skill
    assert merged is not None
    assert list(merged.attachments) == ["y"]


def test_a_skill_travels_without_loss() -> None:
    shared = replace(
        BASE,
        license="MIT",
        metadata={"tags": "a b", "x-y": "ä: 'quoted' --- \"and\""},
        attachments={"scripts/x": SkillFileData(b"\0\xff", True)},
        state="candidate",
        scope="project:shop",
        sessions=("h:0123456789abcdef",),
        trigger_key="t",
        unverified="yes",
        approved=True,
        history=(SharedChange(1, "create", "why", "m-1", "2026-01-01T00:00:00+00:00"),),
        lineage=("0" * 64,),
    )
    assert read_shared("deploy", shared.files()) == shared
    assert unpack(pack(shared)) == shared
    assert read_shared("deploy", shared.files()).digest == shared.digest


@pytest.mark.parametrize(
    "provenance",
    [b"", b"[]", b"{", b'{"version": -1, "sessions": "x", "history": [1, {"version": "x"}]}',
     b'{"state": "root", "scope": "/etc", "lineage": ["../x"], "approved": "yes"}'],
)  # fmt: skip
def test_damaged_provenance_tells_nothing(provenance: bytes) -> None:
    files = {**BASE.files(), ".provenance.json": SkillFileData(provenance)}
    read = read_shared("deploy", files)
    assert (read.state, read.scope, read.sessions) == ("active", "user", ())
    assert (read.history, read.lineage, read.approved) == ((), (), False)


@pytest.mark.parametrize(
    ("name", "path"),
    [("deploy", "../x"), ("deploy", "a/../../x"), ("deploy", "/etc/x"), ("deploy", "C:\\x"),
     ("deploy", "nul"), ("deploy", "sub/SKILL.md"), ("../deploy", "x"), ("De ploy", "x"),
     ("", "x"), ("nul", "x")],
)  # fmt: skip
def test_names_and_paths_that_leave_the_library_are_refused(name: str, path: str) -> None:
    with pytest.raises(SkillFormatError):
        read_shared(name, {**BASE.files(), path: SkillFileData(b"x")})


def test_control_characters_never_reach_the_ledger() -> None:
    files = {
        **BASE.files(),
        ".provenance.json": SkillFileData(b'{"by": "x\\u001b[2J\\n", "origin": "\\u202eevil"}'),
    }
    read = read_shared("deploy", files)
    assert (read.by, read.origin) == ("x [2J ", " evil")


def by_hand(front: str, body: bytes = b"Do it.\n") -> dict[str, SkillFileData]:
    return {"SKILL.md": SkillFileData(f"---\n{front}\n---\n".encode() + body)}


USE = "description: Use when it fails."


@pytest.mark.parametrize(
    ("files", "reason"),
    [
        (by_hand(USE, "Do caf\xe9.\n".encode("latin-1")), "line 4: bytes that are not UTF-8"),
        (by_hand(f"{USE}\n{USE}"), "line 3: key 'description' occurs twice"),
        (
            by_hand(f"{USE}\nmetadata:\n  a: b\n  a: c"),
            "line 5: key 'metadata.a' occurs twice; the last counts, so take the other out",
        ),
        (by_hand("description: &d Use when it fails."), "line 2: description is a YAML anchor"),
        (by_hand(f"{USE}\nmetadata: &m\n  a: b"), "line 3: metadata is a YAML anchor"),
        (by_hand(f"name: &n deploy\n{USE}\nlicense: *n"), "line 4: license is a YAML anchor"),
        (by_hand(f"{USE}\nmetadata:\n  a: b: c"), "metadata is not a map"),
        (by_hand(f"{USE}\nmetadata: [a]"), "metadata is not a map"),
        (by_hand(f"- a\n{USE}"), "line 2: not YAML"),
    ],
)
def test_a_file_of_which_something_would_be_lost_is_refused(
    files: dict[str, SkillFileData], reason: str
) -> None:
    with pytest.raises(SkillFormatError, match="mend its SKILL") as raised:
        read_shared("deploy", files)
    assert reason in raised.value.message


@pytest.mark.parametrize(
    "files",
    [
        by_hand(USE.replace(" ", " *Note*: ", 1)),
        by_hand(f"{USE}\nmetadata:\nlicense: MIT & more"),
        by_hand("description: |\n  Use when\n  it fails."),
        by_hand("allowed-tools: Read"),
        {"SKILL.md": SkillFileData("\ufeffDo it when it fails.\r\n".encode())},
        {"SKILL.md": SkillFileData(f"---\n{USE}\n---\nDo it.\n".encode("utf-16"))},
    ],
)
def test_a_file_that_only_looks_unlike_ours_is_taken(files: dict[str, SkillFileData]) -> None:
    assert "it" in read_shared("deploy", files).body


def test_tags_are_words_or_a_list() -> None:
    settings = RemoteSettings("team", "/x", tags=("db", "two words"))
    for line in ("deploy db", "deploy,db", "[deploy, db]", "\n  - x\n  - db", '["two words"]'):
        files = by_hand(f"{USE}\nmetadata:\n  tags: {line}".replace("\n  -", "\n    -"))
        assert wanted(read_shared("deploy", files), settings)
    for line in ("deploy", "[deploy]", "two words", "[{a: db}]", "[db"):
        files = by_hand(f"{USE}\nmetadata: {{}}")
        shared = replace(read_shared("deploy", files), metadata={"tags": line})
        assert not wanted(shared, settings)


def test_scopes_are_names_on_the_way() -> None:
    names = ScopeNames({"shop-1234": "shop"})
    assert names.shared("shop-1234") == "project:shop"
    assert names.home("project:shop") == "shop-1234"
    assert names.home("project:bank") == "shared:bank"
    assert names.shared("shared:bank") == "project:bank"
    assert names.shared("user") == names.home("user") == "user"


@pytest.mark.parametrize(
    ("said", "every", "due"),
    [("", 60, True), ("990", 60, False), ("930", 60, True), ("5000", 60, True), ("1", 0, False)],
)
def test_a_clock_that_was_set_back_does_not_stop_syncs(said: str, every: int, due: bool) -> None:
    assert is_due(said, every, 1000.0) is due


# -- on disk -----------------------------------------------------------------------------------


def arriving(body: str = "Do it.", **files: bytes) -> ArrivingSkill:
    record = SkillRecord(hash="", state="active", scope="user", origin="a via team")
    attachments = {name.replace("__", "/"): (data, False) for name, data in files.items()}
    return ArrivingSkill("Use when needed.", body, "", {}, attachments, record)


def create_many(intake: SkillIntake, new: Mapping[str, NewSkill], actor: str) -> dict[str, int]:
    """New skills under names that are free, written at once, as a pull does."""
    known, at = intake.may_know(), now()
    with intake.bulk() as bulk:
        for name, skill in new.items():
            version = intake.next_version(name) if known(name) else 1
            bulk.put(made_ready(name, skill, actor, version, at))
        return bulk.commit()


def test_many_arrive_as_ours_and_can_be_undone(tmp_path: Path) -> None:
    intake, library = SkillIntake(tmp_path), SkillLibrary(tmp_path)
    new = {f"s-{n}": NewSkill(arriving(f"Do {n}."), "from team") for n in range(20)}
    with intake.locked():
        assert set(create_many(intake, new, "remote:team")) == set(new)
    skills = library.list()
    assert [s.name for s in skills] == sorted(new)
    assert all(s.ours and s.state == "active" and s.version == 1 for s in skills)
    first = library.get("s-1")
    Path(first.path).write_text(Path(first.path).read_text().replace("Do 1.", "Mine."))
    assert not library.get("s-1").ours
    assert "Do 1." in library.undo("s-1", to_version=1, overwrite_edits=True).body
    assert library.get("s-1").ours


def test_a_kill_between_the_renames_leaves_whole_skills(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    new = {f"s-{n}": NewSkill(arriving(f"Do {n}."), "from team") for n in range(4)}
    new["s-4"] = NewSkill(arriving("Do 4.", scripts__x=b"x"), "from team")
    real = os.replace
    for steps in range(6):
        folder = tmp_path / str(steps)
        left = [steps]

        def dying(source: str, target: str, left: list[int] = left) -> None:
            if not left[0]:
                raise KeyboardInterrupt
            left[0] -= 1
            real(source, target)

        monkeypatch.setattr(os, "replace", dying)
        monkeypatch.setattr(BulkIntake, "abandon", lambda self: None)  # a kill tidies nothing
        intake = SkillIntake(folder)
        with intake.locked():
            if steps < 5:
                with pytest.raises(KeyboardInterrupt):
                    create_many(intake, new, "remote:team")
            else:
                create_many(intake, new, "remote:team")
        monkeypatch.setattr(os, "replace", real)
        library = SkillLibrary(folder)
        assert all(skill.ours for skill in library.list())
        assert library.problems() == []
        with intake.locked():
            taken = intake.taken_names()
            missing = [name for name in new if intake.find(name) is None]
            assert [intake.plan_name(name, "team", taken) for name in missing] == missing
            create_many(intake, {name: new[name] for name in missing}, "remote:team")
        assert len(SkillLibrary(folder).list()) == 5


def test_links_in_a_skill_are_not_written_through(tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    intake = SkillIntake(tmp_path / "skills")
    with intake.locked():
        create_many(intake, {"a": NewSkill(arriving(), "x")}, "remote:team")
        stored = intake.find("a")
        assert stored is not None
        (stored.place.folder / "scripts").symlink_to(outside)
        with pytest.raises(LibraryError, match="link"):
            intake.update(
                "a",
                arriving(scripts__x=b"evil"),
                expected=stored.skill.content_hash,
                actor="remote:team",
                why="x",
            )
    assert list(outside.iterdir()) == []


def test_a_skill_that_changed_meanwhile_is_not_overwritten(tmp_path: Path) -> None:
    intake = SkillIntake(tmp_path)
    with intake.locked():
        create_many(intake, {"a": NewSkill(arriving(), "x")}, "remote:team")
        with pytest.raises(LibraryError, match="changed at home"):
            intake.update("a", arriving("New."), expected="0" * 64, actor="remote:team", why="x")


def test_what_an_update_overwrites_is_kept(tmp_path: Path) -> None:
    intake = SkillIntake(tmp_path)
    with intake.locked():
        create_many(intake, {"a": NewSkill(arriving(x=b"first"), "x")}, "remote:team")
        stored = intake.find("a")
        assert stored is not None
        changed = arriving("New.")._replace(dropped=("x",))
        intake.update(
            "a", changed, expected=stored.skill.content_hash, actor="remote:team", why="x"
        )
    assert not (tmp_path / "a" / "x").exists()
    assert (tmp_path / ".history" / "blobs" / content_hash(b"first")).read_bytes() == b"first"


def test_what_arrived_in_bulk_is_known_read_and_undone_like_any_other(tmp_path: Path) -> None:
    intake, library = SkillIntake(tmp_path), SkillLibrary(tmp_path)
    with intake.locked():
        create_many(intake, {n: NewSkill(arriving(), "from team") for n in "ab"}, "remote:team")
    assert [p.name for p in (tmp_path / ".history").glob("*.jsonl")] == []
    first = library.get("a")
    assert first.ours
    assert [(c.version, c.action, c.why) for c in library.history("a")] == [(1, SYNC, "from team")]
    library.patch(
        PatchSkill("a", first.content_hash, "Do it.", "Do more.", ()), origin="x", session="s"
    )
    assert [c.version for c in library.history("a")] == [1, 2]
    library.undo("a")
    assert "Do it." in library.get("a").body


def test_a_name_that_was_here_before_goes_on_with_its_versions(tmp_path: Path) -> None:
    intake, library = SkillIntake(tmp_path), SkillLibrary(tmp_path)
    draft = CreateSkill("a", "Use when a fails.", "# A\n\nText.\n", ())
    library.create(draft, state="active", project_slug="p", scope="user", origin="x", session="s")
    shutil.rmtree(tmp_path / "a")
    with intake.locked():
        create_many(intake, {"a": NewSkill(arriving(), "x")}, "remote:team")
    assert [c.action for c in intake.changes("a")] == ["create", SYNC]
    assert library.get("a").version == 2


def test_a_damaged_store_of_arrivals_costs_the_ledger_and_no_skill(tmp_path: Path) -> None:
    intake = SkillIntake(tmp_path)
    with intake.locked():
        create_many(intake, {"a": NewSkill(arriving(), "x")}, "remote:team")
    (tmp_path / ".history" / "arrived.sqlite").write_bytes(b"no database" * 1000)
    stored = SkillIntake(tmp_path).find("a")
    assert stored is not None
    assert not stored.skill.ours  # nothing tells any more that we wrote it: it is left alone
    with intake.locked():
        create_many(intake, {"b": NewSkill(arriving(), "x")}, "remote:team")
    assert SkillLibrary(tmp_path).get("b").ours
    assert len(list((tmp_path / ".history").glob("arrived.sqlite.damaged-*"))) == 1


def test_of_a_batch_that_cannot_be_noted_nothing_is_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise LibraryError("database or disk is full")

    intake = SkillIntake(tmp_path)
    monkeypatch.setattr("skill_learner.skills.arrivals.Arrivals.add", full)
    with intake.locked(), pytest.raises(LibraryError, match="full"):
        create_many(
            intake, {"a": NewSkill(arriving(x=b"1"), "x"), "b": NewSkill(arriving(), "x")}, "r"
        )
    monkeypatch.undo()
    assert SkillLibrary(tmp_path).list() == []
    with intake.locked():
        assert set(create_many(intake, {"b": NewSkill(arriving(), "x")}, "r")) == {"b"}
