"""What people do to a repository of skills beside the machines that share it."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from remote_homes import MakeHome, both_with_deploy, git, outcome, proposal_branches, words

from skill_learner.errors import RemoteError
from skill_learner.remote_wiring import propose_again

pytestmark = pytest.mark.process

Clone = Callable[[], Path]
OTHER = "---\nname: other\ndescription: Use when other fails.\n---\n\nDo it.\n"


@pytest.fixture
def engine() -> str:
    return "git"


def commit(clone: Path, branch: str = "main") -> None:
    git(clone, "add", "-A")
    git(clone, "commit", "--quiet", "-m", "by hand")
    git(clone, "push", "--quiet", "origin", f"HEAD:{branch}")


def write(clone: Path, path: str, text: str) -> None:
    (clone / path).parent.mkdir(parents=True, exist_ok=True)
    (clone / path).write_text(text)


# -- removed folders ------------------------------------------------------------------------------


@pytest.mark.parametrize("meanwhile", ["copy lost", "copy damaged", "other tags"])
def test_a_removed_skill_is_archived_whatever_happened_meanwhile(
    make_home: MakeHome, clone: Clone, meanwhile: str
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    shutil.rmtree(folder / "skills" / "deploy")
    write(folder, "skills/other/SKILL.md", OTHER)
    commit(folder)
    copy = one.config.library_paths.remotes_dir / "team.git"
    if meanwhile == "copy lost":
        shutil.rmtree(copy)
    elif meanwhile == "copy damaged":
        for pack in (copy / "objects").rglob("*"):
            if pack.is_file():
                pack.chmod(0o600)
                pack.write_bytes(b"")
    else:
        one.settings = replace(one.settings, tags=("none-has-it",))
    one.sync()
    assert one.library.get("deploy").state == "archived"
    assert one.sync().outcomes == []


# -- proposals ------------------------------------------------------------------------------------


def protect(bare: Path) -> None:
    git(bare, "config", "receive.denyCurrentBranch", "refuse")
    git(bare, "config", "core.bare", "false")  # its branch is checked out somewhere


def unprotect(bare: Path) -> None:
    git(bare, "config", "core.bare", "true")


def test_a_commit_of_somebody_else_on_a_proposal_is_kept(
    make_home: MakeHome, bare: Path, clone: Clone
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    protect(bare)
    one.add("other")
    assert "skill-learner/m-" in one.sync().proposed
    branch = proposal_branches(bare)
    git(folder, "fetch", "--quiet", "origin", f"{branch}:{branch}")
    git(folder, "checkout", "--quiet", branch)
    write(folder, "reviewed.txt", "by a person\n")
    commit(folder, branch)
    reviewed = git(bare, "rev-parse", branch)
    one.add("third")
    assert f"on branch {branch}-2:" in one.sync().proposed
    assert git(bare, "rev-parse", branch) == reviewed
    one.add("fourth")
    assert f"on branch {branch}-2:" in one.sync().proposed  # that one is nobody else's
    listed = git(bare, "ls-tree", "--name-only", f"{branch}-2", "skills/").split()
    assert listed == [f"skills/{name}" for name in ("deploy", "fourth", "other", "third")]


def test_a_proposal_that_was_deleted_is_told_as_declined_and_not_made_again(
    make_home: MakeHome, bare: Path, clone: Clone
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    protect(bare)
    one.add("other")
    one.use("deploy", "s-1")
    assert one.sync().proposed
    branch = proposal_branches(bare)
    git(bare, "branch", "-D", branch)
    for dry_run in (True, False, False):
        report = one.sync(dry_run=dry_run)
        assert (report.proposed, words(report, "out")) == ("", {})
        assert "declined" in outcome(report, "other").detail
    assert "declined" in one.state.note("held")
    one.use("deploy", "s-2")  # what it was used is no reason for another proposal
    unprotect(bare)
    write(folder, "README.md", "of people\n")
    commit(folder)  # nor what others do on the branch of the team
    protect(bare)
    assert one.sync().proposed == ""
    assert proposal_branches(bare) == ""
    one.add("third")  # is proposed, without what was declined
    assert one.sync().proposed
    assert git(bare, "ls-tree", "--name-only", branch, "skills/").split() == [
        "skills/deploy",
        "skills/third",
    ]
    one.edit("other", "First step.", "First, as they wished.")
    report = one.sync()
    assert (bool(report.proposed), words(report, "stays")) == (True, {})
    assert "skills/other" in git(bare, "ls-tree", "--name-only", branch, "skills/")


@pytest.mark.parametrize("how", ["merged", "squashed", "in part"])
def test_what_came_into_force_was_not_declined(
    how: str, make_home: MakeHome, bare: Path, clone: Clone
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    protect(bare)
    one.add("other")
    one.add("third")
    assert one.sync().proposed
    branch = proposal_branches(bare)
    unprotect(bare)
    git(folder, "fetch", "--quiet", "origin", f"{branch}:{branch}")
    if how == "merged":
        git(folder, "merge", "--quiet", branch)
        git(folder, "push", "--quiet", "origin", "HEAD:main")
    else:
        taken = "skills" if how == "squashed" else "skills/third"
        git(folder, "checkout", "--quiet", branch, "--", taken)
        commit(folder)
    protect(bare)
    git(bare, "branch", "-D", branch)
    report = one.sync()
    left = {"other": "held back"} if how == "in part" else {}
    assert (report.proposed, words(report, "stays")) == ("", left)


def test_what_was_declined_is_proposed_again_when_the_user_asks(
    make_home: MakeHome, bare: Path
) -> None:
    one, _ = both_with_deploy(make_home)
    protect(bare)
    one.add("other")
    one.sync()
    branch = proposal_branches(bare)
    git(bare, "branch", "-D", branch)
    one.sync()
    propose_again(one.config, one.settings)
    assert f"on branch {branch}:" in one.sync().proposed


def test_a_home_that_was_copied_overwrites_no_proposal_of_the_first(
    make_home: MakeHome, bare: Path, tmp_path: Path
) -> None:
    one, _ = both_with_deploy(make_home)
    shutil.copytree(tmp_path / "one", tmp_path / "copied")
    copied = make_home("copied")
    protect(bare)
    one.add("of-one")
    one.sync()
    copied.add("of-copied")
    copied.sync()
    branches = proposal_branches(bare).split()
    kept = [git(bare, "ls-tree", "--name-only", branch, "skills/") for branch in branches]
    assert ["of-one" in kept[0], "of-copied" in kept[1]] == [True, True]


# -- what is no folder of skills ------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["link", "file", "repository"])
def test_what_lies_in_place_of_the_folder_is_neither_read_nor_overwritten(
    make_home: MakeHome, bare: Path, clone: Clone, tmp_path: Path, kind: str
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    shutil.move(folder / "skills", folder / "elsewhere")
    if kind == "link":
        os.symlink("elsewhere", folder / "skills")
    elif kind == "file":
        write(folder, "skills", "a list of skills\n")
    else:
        commit(folder)  # git makes no repository of a folder that it has files of
        git(folder, "init", "--quiet", "skills")
        write(folder, "skills/x", "x\n")
        git(folder / "skills", "add", "-A")
        git(folder / "skills", "commit", "--quiet", "-m", "x")
    commit(folder)
    before = git(bare, "rev-parse", "main")
    one.add("other")
    told = f"`skills` in the repository is a.* {kind}, and must be a folder"
    with pytest.raises(RemoteError, match=told) as error:
        one.sync()
    assert "Move it away" in error.value.hint
    assert git(bare, "rev-parse", "main") == before
    assert one.library.get("deploy").state == "active"


def test_another_branch_than_the_one_that_is_set_is_named(
    make_home: MakeHome, bare: Path, clone: Clone
) -> None:
    both_with_deploy(make_home)
    git(bare, "branch", "-m", "main", "master")
    three = make_home("three")
    three.add("other")
    with pytest.raises(RemoteError, match="has no branch main, but master") as error:
        three.sync()
    assert "`branch:`" in error.value.hint
    three.settings = replace(three.settings, branch="master")
    assert words(three.sync()) == {"deploy": "new"}


# -- files of skills ------------------------------------------------------------------------------


def test_what_file_managers_leave_in_a_skill_is_no_part_of_it(
    make_home: MakeHome, bare: Path, clone: Clone
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    write(folder, "skills/deploy/.DS_Store", "x")
    commit(folder)
    before = git(bare, "rev-parse", "main")
    assert words(one.sync()) == {}
    assert one.sync().outcomes == []
    assert git(bare, "rev-parse", "main") == before
    three = make_home("three", trust="reviewed")
    three.sync()
    assert three.sync().outcomes == []
    assert git(bare, "rev-parse", "main") == before


@pytest.mark.parametrize("damage", ["removed", "conflict"])
def test_the_scope_that_a_skill_shows_holds_without_its_provenance(
    make_home: MakeHome, clone: Clone, damage: str
) -> None:
    one, two = both_with_deploy(make_home)
    one.library.change_scope("user", "project:shop")
    one.sync()
    two.sync()
    folder = clone()
    provenance = folder / "skills" / "deploy" / ".provenance.json"
    if damage == "removed":
        provenance.unlink()
    else:
        provenance.write_text(f"<<<<<<< HEAD\n{provenance.read_text()}=======\n{{}}\n>>>>>>> x\n")
    commit(folder)
    before = [home.library.get("deploy").scope for home in (one, two)]
    for home in (two, one, two):
        home.sync()
    assert [home.library.get("deploy").scope for home in (one, two)] == before
    assert "user" not in before


def test_a_person_moves_a_skill_by_what_its_file_shows(make_home: MakeHome, clone: Clone) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    file = folder / "skills" / "deploy" / "SKILL.md"
    shown = file.read_text()
    assert 'scope: "user"' in shown
    file.write_text(shown.replace('scope: "user"', 'scope: "project:shop"'))
    commit(folder)
    assert words(one.sync()) == {"deploy": "updated"}
    assert one.library.get("deploy").scope == "shared:shop"  # a project that is not here


# -- names and texts that are no text -------------------------------------------------------------

_HALF = "\\ud800"


@pytest.mark.parametrize(
    ("path", "data"),
    [
        (b"skills/odd/.provenance.json", f'{{"scope": "project:{_HALF}"}}'.encode()),
        (b"skills/odd/.provenance.json", f'{{"trigger_key": "{_HALF}"}}'.encode()),
        (b"skills/odd/.provenance.json", f'{{"by": "{_HALF}", "lineage": ["{_HALF}"]}}'.encode()),
        (b"skills/odd/caf\xe9.txt", b"x"),
        (b"skills/caf\xe9/SKILL.md", b"x"),
        (b"counters/caf\xe9.json", b'{"deploy": {"uses": 3}}'),
        (b"counters/m-00000000.json", f'{{"{_HALF}": {{"uses": 3}}}}'.encode()),
        (b"counters/m-00000000.json", f'{{"deploy": {{"{_HALF}": 3}}}}'.encode()),
    ],
)
def test_half_a_letter_stops_nothing_else(
    make_home: MakeHome, clone: Clone, path: bytes, data: bytes
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    write(folder, "skills/odd/SKILL.md", "---\nname: odd\ndescription: Use it.\n---\n\nDo it.\n")
    write(folder, "skills/sound/SKILL.md", "---\nname: sound\ndescription: Use.\n---\n\nDo.\n")
    odd = os.path.join(os.fsencode(folder), path)
    os.makedirs(os.path.dirname(odd), exist_ok=True)
    with open(odd, "wb") as file:
        file.write(data)
    commit(folder)
    one.add("mine")
    report = one.sync()
    assert words(report)["sound"] == "new"
    assert words(report, "out")["mine"] == "sent"
    one.sync()
    assert {"deploy", "mine", "sound"} <= set(one.names())


def test_a_file_of_home_whose_name_is_no_text_stays_here(make_home: MakeHome) -> None:
    one = make_home("one")
    one.add("deploy")
    one.add("other")
    folder = os.fsencode(one.config.skills_dir / "deploy")
    with open(os.path.join(folder, b"caf\xe9.txt"), "w") as file:
        file.write("x")
    for _ in range(2):
        report = one.sync()
        held = [o for o in report.outcomes if o.outcome == "held back"]
        assert [(o.name, "is not allowed in a skill" in o.detail) for o in held] == [
            ("deploy", True)
        ]
    make_home("two").sync()
    assert make_home("two").names() == ["other"]
