"""Pushes whose end nobody saw: killed, cut off, or gone on alone in a git that outlived a sync."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from remote_homes import (
    Home,
    MakeHome,
    both_with_deploy,
    git,
    killed_at_its_push,
    proposal_branches,
    words,
)

from skill_learner.exchange.safe_files import SkillFileData
from skill_learner.remotes.git_program import GitProgram
from skill_learner.remotes.protocol import OutgoingSkill
from skill_learner.remotes.shared_skill import PROVENANCE_FILE
from skill_learner.remotes.sync import Synchroniser, SyncReport

pytestmark = pytest.mark.process

Push = Callable[..., Any]


def before_its_push(home: Home, act: Callable[[], Any], *, number: int = 1) -> SyncReport:
    """A sync before whose first (or another) push something happens."""
    syncing: Synchroniser = home.synchroniser()
    push: Push = syncing._remote.push
    pushes: list[Any] = []

    def late(*arguments: Any) -> Any:
        pushes.append(arguments)
        if len(pushes) == number:
            act()
        return push(*arguments)

    syncing._remote.push = late  # type: ignore[assignment,method-assign]
    return syncing.sync()


def both_have(home: Home, other: Home, text: str) -> bool:
    bodies = {home.library.get("deploy").body, other.library.get("deploy").body}
    return len(bodies) == 1 and text in bodies.pop()


def test_what_landed_unseen_is_no_change_by_somebody_else(make_home: MakeHome) -> None:
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "First edit.")
    killed_at_its_push(one, landed=True)
    one.patch("deploy", "First edit.", "Second edit.")
    assert words(one.sync(dry_run=True)) == {}
    report = one.sync()
    assert words(report) == {}
    assert words(report, "out") == {"deploy": "sent"}
    two.sync()
    assert both_have(one, two, "Second edit.")
    assert one.names() == ["deploy"]
    assert one.state.sent() == {}


def test_a_new_skill_that_landed_unseen_keeps_its_name(make_home: MakeHome) -> None:
    one, two = make_home("one"), make_home("two")
    one.add("deploy")
    killed_at_its_push(one, landed=True)
    one.patch("deploy", "First step.", "First edit.")
    one.sync()
    two.sync()
    assert both_have(one, two, "First edit.")
    assert one.names() == two.names() == ["deploy"]


def test_a_push_that_goes_on_alone_lands_before_the_next_one(make_home: MakeHome) -> None:
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "First edit.")
    survivor = killed_at_its_push(one, landed=False)
    one.patch("deploy", "First edit.", "Second edit.")
    report = before_its_push(one, survivor)
    assert (report.error, words(report)) == ("", {})
    two.sync()
    assert both_have(one, two, "Second edit.")


def test_a_push_that_goes_on_alone_is_refused_after_the_next_one(make_home: MakeHome) -> None:
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "First edit.")
    survivor = killed_at_its_push(one, landed=False)
    one.patch("deploy", "First edit.", "Second edit.")
    one.sync()
    assert survivor().accepted == {}
    two.sync()
    assert both_have(one, two, "Second edit.")
    assert one.sync().outcomes == []


def test_what_landed_unseen_meets_a_change_by_somebody_else(make_home: MakeHome) -> None:
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "First edit.")
    killed_at_its_push(one, landed=True)
    two.sync()
    two.patch("deploy", "Third step.", "Third by two.")
    two.sync()
    one.patch("deploy", "Second step.", "Second by one.")
    one.sync()
    two.sync()
    assert both_have(one, two, "First edit.\n\nSecond by one.\n\nThird by two.")


def test_what_landed_unseen_was_gone_on_from_by_somebody_else(make_home: MakeHome) -> None:
    """Home's next edit is of the same line as the one that landed: no stranger changed that."""
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "First edit.")
    killed_at_its_push(one, landed=True)
    two.patch("deploy", "Third step.", "Third by two.")
    two.sync()
    one.patch("deploy", "First edit.", "Second edit.")
    assert words(one.sync()) == {"deploy": "merged"}
    two.sync()
    assert both_have(one, two, "Second edit.\n\nSecond step.\n\nThird by two.")


def sync_telling_lineage_backwards(home: Home) -> None:
    """As a machine may whose merge lists the texts of one side after those of the other."""
    syncing: Synchroniser = home.synchroniser()
    push: Push = syncing._remote.push

    def turned(skills: Sequence[OutgoingSkill], counters: Any) -> Any:
        sent = []
        for skill in skills:
            told = json.loads(skill.files[PROVENANCE_FILE].data)
            told["lineage"].reverse()
            provenance = SkillFileData(json.dumps(told).encode())
            sent.append(replace(skill, files={**skill.files, PROVENANCE_FILE: provenance}))
        return push(sent, counters)

    syncing._remote.push = turned  # type: ignore[assignment,method-assign]
    assert words(syncing.sync(), "out") == {"deploy": "sent"}


@pytest.mark.parametrize("landed", [1, 2])
def test_somebody_went_on_from_one_of_two_that_nobody_saw_land(
    make_home: MakeHome, landed: int
) -> None:
    """Which of them landed does not hang on the order in which its lineage comes back."""
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "First edit.")
    first = killed_at_its_push(one, landed=False)
    one.patch("deploy", "First edit.", "Second edit.")
    second = killed_at_its_push(one, landed=False)
    (first, second)[landed - 1]()
    two.sync()
    two.patch("deploy", "Third step.", "Third by two.")
    sync_telling_lineage_backwards(two)
    one.patch("deploy", "Second edit.", "Third edit.")
    assert words(one.sync()) == {"deploy": "merged"}
    two.sync()
    assert both_have(one, two, "Third edit.\n\nSecond step.\n\nThird by two.")


@pytest.mark.parametrize("landed", [False, True])
def test_a_text_that_was_taken_up_again_and_never_landed_is_still_to_be_sent(
    make_home: MakeHome, landed: bool
) -> None:
    """The remote had that text before, too: its lineage alone does not tell what landed."""
    one, two = both_with_deploy(make_home)
    one.patch("deploy", "First step.", "First edit.")
    one.sync()
    two.sync()
    one.patch("deploy", "First edit.", "First step.")
    killed_at_its_push(one, landed=landed)
    if landed:
        two.sync()
    two.patch("deploy", "Third step.", "Third by two.")
    two.sync()
    assert words(one.sync()) == {"deploy": "updated" if landed else "merged"}
    two.sync()
    assert both_have(one, two, "First step.\n\nSecond step.\n\nThird by two.")


def test_a_remote_that_is_only_pushed_to_goes_on_after_a_push_that_landed_unseen(
    make_home: MakeHome,
) -> None:
    one, two = make_home("one", direction="push"), make_home("two")
    one.add("deploy")
    one.sync()
    one.patch("deploy", "First step.", "First edit.")
    killed_at_its_push(one, landed=True)
    one.patch("deploy", "First edit.", "Second edit.")
    assert words(one.sync(), "out") == {"deploy": "sent"}
    two.sync()
    assert both_have(one, two, "Second edit.")


# -- the copy of a git remote ----------------------------------------------------------------------


def after_git(monkeypatch: pytest.MonkeyPatch, command: str, act: Callable[[], Any]) -> None:
    """Something happens each time when a git command has just ended: what a git does that outlived
    an earlier sync."""
    run = GitProgram.run

    def and_act(self: GitProgram, *arguments: str, data: bytes = b"") -> bytes:
        out = run(self, *arguments, data=data)
        if arguments[0] == command:
            act()
        return out

    monkeypatch.setattr(GitProgram, "run", and_act)


@pytest.mark.parametrize("engine", ["git"], indirect=True)
class TestCopy:
    def test_a_lock_at_the_remote_is_named_and_nothing_is_proposed(
        self, make_home: MakeHome, bare: Path
    ) -> None:
        """A `receive-pack` that was killed leaves its locks, as git has it; who may remove them is
        a person. Nothing is taken for sent meanwhile."""
        one, two = both_with_deploy(make_home)
        one.patch("deploy", "First step.", "First edit.")
        lock = bare / "refs/heads/main.lock"
        lock.touch()
        report = one.synchroniser().sync()
        assert f"{lock} is in the way" in report.error
        assert "remove that file" in report.error
        assert (report.proposed, report.outcomes) == ("", [])
        assert proposal_branches(bare) == ""
        lock.unlink()
        assert words(one.sync(), "out") == {"deploy": "sent"}
        two.sync()
        assert both_have(one, two, "First edit.")

    def test_a_lock_that_goes_meanwhile_costs_a_round(
        self, make_home: MakeHome, bare: Path
    ) -> None:
        one, _ = both_with_deploy(make_home)
        one.patch("deploy", "First step.", "First edit.")
        lock = bare / "refs/heads/main.lock"
        lock.touch()
        report = before_its_push(one, lock.unlink, number=2)
        assert (report.error, report.rounds) == ("", 2)
        assert words(report, "out") == {"deploy": "sent"}

    @pytest.mark.parametrize(
        "name",
        ["refs/heads/outgoing", "refs/outgoing", "refs/remotes/origin/shared", "packed-refs"],
    )
    def test_a_lock_that_a_kill_left_in_the_copy_is_in_no_pushs_way(
        self, make_home: MakeHome, name: str
    ) -> None:
        one, two = both_with_deploy(make_home)
        one.patch("deploy", "First step.", "First edit.")
        lock = one.config.paths.remotes_dir / "team.git" / f"{name}.lock"
        lock.parent.mkdir(parents=True, exist_ok=True)
        lock.touch()
        assert words(one.sync(), "out") == {"deploy": "sent"}
        two.sync()
        two.patch("deploy", "First edit.", "Second edit.")
        two.sync()
        one.sync()
        assert both_have(one, two, "Second edit.")

    def test_the_commit_that_another_git_makes_meanwhile_is_not_sent(
        self, make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one, two = both_with_deploy(make_home)
        copy = one.config.paths.remotes_dir / "team.git"
        earlier = git(copy, "rev-parse", "refs/remotes/origin/shared").strip()
        one.patch("deploy", "First step.", "First edit.")

        def survivor() -> None:
            for ref in ("refs/heads/outgoing", "refs/outgoing"):
                git(copy, "update-ref", ref, earlier)

        after_git(monkeypatch, "fast-import", survivor)
        one.sync()
        two.sync()
        assert both_have(one, two, "First edit.")

    def test_a_fetch_that_goes_on_alone_brings_no_older_text_back(
        self, make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        one, two = both_with_deploy(make_home)
        copy = two.config.paths.remotes_dir / "team.git"
        earlier = git(copy, "rev-parse", "refs/remotes/origin/shared").strip()
        one.patch("deploy", "First step.", "First edit.")
        one.sync()
        after_git(
            monkeypatch,
            "fetch",
            lambda: git(copy, "update-ref", "refs/remotes/origin/shared", earlier),
        )
        two.sync()
        assert both_have(one, two, "First edit.")

    @pytest.mark.parametrize("damage", ["gone", "text"])
    def test_a_copy_that_is_damaged_while_a_process_runs_is_made_again(
        self, make_home: MakeHome, damage: str
    ) -> None:
        one, two = both_with_deploy(make_home)
        copy = two.config.paths.remotes_dir / "team.git"
        syncing = two.synchroniser()
        syncing.sync()
        one.patch("deploy", "First step.", "First edit.")
        one.sync()
        if damage == "gone":
            shutil.rmtree(copy / "objects")
        else:
            syncing._remote.pull("")
            blob = git(copy, "rev-parse", "refs/remotes/origin/shared:skills/deploy/SKILL.md")
            path = copy / "objects" / blob[:2] / blob.strip()[2:]
            path.unlink()
        two.add("later")
        report = syncing.sync()
        assert report.error == ""
        assert words(report) == {"deploy": "updated"}
        assert words(report, "out") == {"later": "sent"}
        assert both_have(one, two, "First edit.")

    def test_a_copy_whose_refs_name_what_it_lacks_is_made_again(self, make_home: MakeHome) -> None:
        one, two = both_with_deploy(make_home)
        copy = two.config.paths.remotes_dir / "team.git"
        one.patch("deploy", "First step.", "First edit.")
        one.sync()
        two.synchroniser()._remote.pull("")
        tree = git(copy, "rev-parse", "refs/remotes/origin/shared^{tree}").strip()
        (copy / "objects" / tree[:2] / tree[2:]).unlink()
        two.sync()
        assert both_have(one, two, "First edit.")
        commit = git(copy, "rev-parse", "refs/remotes/origin/shared").strip()
        (copy / "objects" / commit[:2] / commit[2:]).unlink()
        two.patch("deploy", "First edit.", "Second edit.")
        assert words(two.sync(), "out") == {"deploy": "sent"}
        one.sync()
        assert both_have(one, two, "Second edit.")
