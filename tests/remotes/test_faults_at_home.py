"""What goes wrong on this machine during a sync is made up for by the next one, and is said."""

from __future__ import annotations

import shutil
import sqlite3
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from remote_homes import MakeHome, both_with_deploy, outcome, words

from skill_learner.cli.check_remotes import check_remotes
from skill_learner.cli.group import cli
from skill_learner.errors import RemoteError
from skill_learner.exchange.safe_files import SkillFileData
from skill_learner.remotes import open_remote
from skill_learner.remotes.last_syncs import last_syncs
from skill_learner.remotes.protocol import OutgoingSkill
from skill_learner.remotes.sync_state import SyncState
from skill_learner.skills.intake import SkillIntake
from skill_learner.skills.library import SkillLibrary


def test_a_change_that_could_not_be_written_is_asked_for_again(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "Better step.")
    one.sync()

    def no_room(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(SkillIntake, "update", no_room)
        assert outcome(two.sync(), "deploy").outcome == "refused"
    assert "No space left" in _last(two).refused["deploy"]
    two.add("other")
    two.sync()
    assert "Better step." in two.library.get("deploy").body
    assert _last(two).refused == {}


def test_an_edit_at_home_waits_for_a_remote_that_cannot_be_taken(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "Better step.")
    one.sync()
    two.patch("deploy", "Third step.", "Last step.")

    def no_room(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as broken:
        broken.setattr(SkillIntake, "update", no_room)
        report = two.sync()  # asserts that nobody is said to be faster than we are
        assert report.rounds == 2
    two.sync()
    assert {"Better step.", "Last step."} <= set(two.library.get("deploy").body.split("\n"))


def test_what_was_refused_is_said_until_the_remote_changes_it(make_home: MakeHome) -> None:
    one, two = both_with_deploy(make_home)
    there = open_remote(one.settings, one.config.paths.remotes_dir / "by-hand", "m-hand")
    there.pull("")
    bad = {"SKILL.md": SkillFileData(b"---\nname: odd\ndescription: Use when odd.\n---\n")}
    tokens = there.push([OutgoingSkill("odd", bad, "")], {}).accepted
    for more in ("", "more", "and-more"):
        if more:
            two.add(more)
        two.sync()
        assert "a text are needed" in _last(two).refused["odd"]
    there.pull("")
    good = {"SKILL.md": SkillFileData(b"---\nname: odd\ndescription: Use when odd.\n---\n\nDo.\n")}
    there.push([OutgoingSkill("odd", good, tokens["odd"])], {})
    there.close()
    assert words(two.sync()) == {"odd": "new"}
    assert _last(two).refused == {}


def test_what_waits_is_listed_by_every_sync(make_home: MakeHome) -> None:
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "One's step.")
    one.sync()
    two.patch("deploy", "First step.", "Two's step.")
    assert words(two.sync()) == {"deploy": "waits for you"}
    for dry_run in (True, False):
        assert words(two.sync(dry_run=dry_run), "stays") == {"deploy": "waits for you"}


def test_a_damaged_memory_of_remotes_is_set_aside_and_made_anew(make_home: MakeHome) -> None:
    one, two = both_with_deploy(make_home)
    two.use("deploy", "s-1")
    two.sync()
    machine = two.state.machine
    folder = two.config.paths.remotes_dir
    for file in folder.glob("state.sqlite-*"):
        file.unlink()
    (folder / "state.sqlite").write_bytes(b"no database" * 1000)
    assert "set aside" in _last(two).error
    assert words(two.sync()) == {"deploy": "the same"}
    assert _last(two).error == ""
    assert len(list(folder.glob("state.sqlite.damaged-*"))) == 1
    one.sync()
    assert _last(one).uses == {"deploy": 1}  # it is the machine that it was
    assert two.state.machine == machine


def test_a_memory_of_remotes_that_is_gone_as_a_whole_doubles_nothing(make_home: MakeHome) -> None:
    """Neither the uses that were counted nor skills whose names were taken on the other side."""
    one, two = make_home("one"), make_home("two")
    one.add("deploy")
    two.add("deploy", "# Other\n\nQuite another thing.\n", description="Use when paint dries.")
    for home in (one, two, one):
        home.sync()
    two.use("deploy", "s-1")
    two.use("team-deploy", "s-1")
    two.sync()
    names, machine = (one.names(), two.names()), two.state.machine
    assert len(names[0]) == len(names[1]) == 2
    shutil.rmtree(two.config.paths.remotes_dir)
    assert set(words(two.sync(dry_run=True)).values()) == {"the same"}
    assert set(words(two.sync()).values()) == {"the same"}
    two.use("deploy", "s-2")
    for home in (two, one):
        home.sync()
        assert sum(_last(home).uses.values()) == 3
        assert home.sync().outcomes == []
    assert (one.names(), two.names()) == names
    assert two.state.machine == machine


def test_a_damaged_store_of_arrivals_is_noted_again(make_home: MakeHome) -> None:
    one, two = make_home("one"), make_home("two", trust="reviewed")
    for name in ("deploy", "edited"):
        one.add(name)
    one.sync()
    two.sync()
    two.edit("edited", "First step.", "By hand.")
    (two.config.skills_dir / ".history" / "arrived.sqlite").write_bytes(b"no database" * 1000)
    assert not SkillLibrary(two.config.skills_dir).get("deploy").ours
    config = replace(two.config, remotes={"team": two.settings.url})
    (said,) = [one for one in check_remotes(config) if one.result == "fault"]
    assert "count as yours" in said.what
    report = two.sync()
    assert "deploy" not in words(report, "out")  # nobody here has approved it
    again = SkillLibrary(two.config.skills_dir)
    assert again.get("deploy").ours
    assert again.get("deploy").sessions
    assert [change.action for change in again.history("deploy")] == ["sync"]
    assert not again.get("edited").ours
    assert [one.result for one in check_remotes(config)] == ["ok"]
    one.patch("deploy", "First step.", "Better step.")
    one.sync()
    two.sync(trust="all")
    assert "Better step." in again.get("deploy").body


def test_a_dry_run_decides_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("SKILL_LEARNER_REMOTES", '{"team": {"url": "/nowhere/team.git"}}')
    done = CliRunner().invoke(cli, ["sync", "team", "--dry-run", "--take", "deploy"])
    assert done.exit_code == 2
    assert "--dry-run" in done.output


def test_a_dry_run_leaves_what_is_remembered_as_it_was(make_home: MakeHome) -> None:
    one, _ = both_with_deploy(make_home)
    before = _remembered(one)
    one.sync(dry_run=True, tags=("x",))
    assert _remembered(one) == before


def _remembered(home: Any) -> list[str]:
    return [home.state.note(key) for key in ("settings", "cursor", "synced_at")]


def _last(home: Any) -> Any:
    return last_syncs(home.config.paths.remotes_dir / "state.sqlite", ["team"])[0]


def test_who_only_reads_waits_for_nobody_who_writes(tmp_path: Path) -> None:
    state, other = (SyncState(tmp_path / "state.sqlite", "team") for _ in range(2))
    state.save_notes({"cursor": "before"})
    assert other.note("cursor") == "before"
    with state.at_once():
        state.save_notes({"cursor": "now"})
        assert other.note("cursor") == "before"
    assert other.note("cursor") == "now"


@pytest.mark.parametrize(
    ("error", "step"),
    [
        (sqlite3.OperationalError("database or disk is full"), "Make room"),
        (sqlite3.OperationalError("attempt to write a readonly database"), "may write that file"),
        (sqlite3.OperationalError("database is locked"), "try again"),
        (sqlite3.OperationalError("unable to open database file"), "that folder"),
        (sqlite3.DatabaseError("file is not a database"), "set aside"),
    ],
)
def test_each_fault_of_what_is_remembered_has_its_next_step(
    error: sqlite3.Error, step: str, tmp_path: Path
) -> None:
    state = SyncState(tmp_path / "state.sqlite", "team")
    with pytest.raises(RemoteError) as raised, state.at_once():
        raise error
    assert step in raised.value.hint
    assert (tmp_path / "state.sqlite").exists() == (step != "set aside")
