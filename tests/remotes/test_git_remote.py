"""What a git remote survives: other people, hostile content, protected branches, kills."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from git_daemon import git_daemon
from remote_homes import (
    MakeHome,
    both_with_deploy,
    empty_repository,
    git,
    home_maker,
    killed_while_syncing,
    outcome,
    proposal_branches,
    unsound,
    words,
)

from skill_learner.errors import RemoteError
from skill_learner.remote_wiring import build_sync
from skill_learner.remotes import open_remote
from skill_learner.remotes.settings import RemoteSettings

pytestmark = pytest.mark.process

Clone = Callable[[], Path]
SKILL = "---\nname: {0}\ndescription: Use when {0} is needed.\n---\n\n# {0}\n\nDo it.\n"


@pytest.fixture
def engine() -> str:
    return "git"


@pytest.fixture
def daemon(tmp_path: Path) -> Iterator[tuple[str, Path]]:
    """A git daemon on loopback that takes pushes: address and repository."""
    base = tmp_path / "served"
    bare = empty_repository(base / "team.git")
    git(bare, "config", "daemon.receivepack", "true")
    git(bare, "config", "http.receivepack", "true")
    with git_daemon(base, "--enable=receive-pack") as address:
        yield f"{address}team.git", bare


def write_skill(clone: Path, name: str, text: str = "") -> Path:
    folder = clone / "skills" / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "SKILL.md").write_text(text or SKILL.format(name))
    return folder


def commit(clone: Path, message: str = "by hand") -> None:
    git(clone, "add", "-A")
    git(clone, "commit", "--quiet", "-m", message)
    git(clone, "push", "--quiet", "origin", "HEAD:main")


# -- other people ---------------------------------------------------------------------------------


def test_the_repository_is_plain_text_that_a_person_can_edit(
    make_home: MakeHome, clone: Clone
) -> None:
    one = make_home("one")
    one.add("deploy")
    one.sync()
    folder = clone()
    files = sorted(p.relative_to(folder).as_posix() for p in (folder / "skills").rglob("*.*"))
    assert files == ["skills/deploy/.provenance.json", "skills/deploy/SKILL.md"]
    text = (folder / "skills/deploy/SKILL.md").read_text()
    assert "First step." in text
    assert "s-1" not in (folder / "skills/deploy/.provenance.json").read_text()
    (folder / "skills/deploy/SKILL.md").write_text(text.replace("First step.", "First, by hand."))
    commit(folder)
    assert words(one.sync()) == {"deploy": "updated"}
    assert "First, by hand." in one.library.get("deploy").body


def test_a_skill_that_a_person_wrote_arrives_and_line_ends_do_not_matter(
    make_home: MakeHome, clone: Clone
) -> None:
    one = make_home("one")
    one.add("deploy")
    one.sync()
    folder = clone()
    write_skill(folder, "by-hand", SKILL.format("by-hand").replace("\n", "\r\n"))
    commit(folder)
    assert words(one.sync()) == {"by-hand": "new"}
    assert "\r" not in one.library.get("by-hand").body
    assert one.sync().outcomes == []
    assert git(folder, "pull", "--quiet") == ""
    assert git(folder, "log", "--oneline").count("\n") == 2


def test_bytes_that_cannot_be_read_as_text_are_neither_taken_nor_sent(
    make_home: MakeHome, clone: Clone
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    write_skill(folder, "coffee", "---\ndescription: Use it.\n---\n\nA cafe.\n")
    file = folder / "skills" / "coffee" / "SKILL.md"
    file.write_bytes(file.read_bytes().replace(b"cafe", b"caf\xe9"))
    commit(folder)
    assert "line 5: bytes that are not UTF-8" in outcome(one.sync(), "coffee").detail
    assert one.names() == ["deploy"]
    home = Path(one.library.get("deploy").path)
    home.write_bytes(home.read_bytes().replace(b"First", b"Premi\xe8re"))
    assert "not UTF-8" in outcome(one.sync(), "deploy").detail
    git(folder, "pull", "--quiet")
    assert b"First" in (folder / "skills" / "deploy" / "SKILL.md").read_bytes()


def test_files_of_others_in_the_repository_stay(make_home: MakeHome, clone: Clone) -> None:
    one = make_home("one")
    one.add("deploy")
    one.sync()
    folder = clone()
    (folder / "ci.yaml").write_text("x: 1\n")
    commit(folder)
    one.add("other")
    one.sync()
    git(folder, "pull", "--quiet")
    assert (folder / "ci.yaml").read_text() == "x: 1\n"
    assert (folder / "skills/other/SKILL.md").is_file()


def test_a_skill_that_was_taken_out_is_archived(make_home: MakeHome, clone: Clone) -> None:
    one = make_home("one")
    one.add("deploy")
    one.add("keep")
    one.sync()
    folder = clone()
    shutil.rmtree(folder / "skills" / "deploy")
    commit(folder)
    one.sync()
    assert one.library.get("deploy").state == "archived"
    assert one.sync().outcomes == []
    assert "deploy" not in os.listdir(clone() / "skills")


def test_a_force_push_that_loses_skills_brings_them_back(make_home: MakeHome, clone: Clone) -> None:
    one, two = make_home("one"), make_home("two")
    one.add("first")
    one.sync()
    folder = clone()
    one.add("second")
    one.sync()
    two.sync()
    git(folder, "commit", "--quiet", "--amend", "-m", "rewritten")
    git(folder, "push", "--quiet", "--force", "origin", "HEAD:main")
    assert "second" not in os.listdir(clone() / "skills")
    assert words(one.sync(), "out") == {"second": "sent"}
    two.sync()
    assert one.names() == two.names() == ["first", "second"]
    assert "second" in os.listdir(clone() / "skills")


def test_a_force_push_that_loses_changes_brings_them_back(
    make_home: MakeHome, clone: Clone
) -> None:
    one, two = make_home("one"), make_home("two")
    one.add("deploy")
    one.sync()
    folder = clone()
    one.patch("deploy", "First step.", "First edit.")
    one.sync()
    two.sync()
    git(folder, "push", "--quiet", "--force", "origin", "HEAD:main")
    two.patch("deploy", "Third step.", "Third edit.")
    two.sync()
    one.sync()
    for home in (one, two):
        body = home.library.get("deploy").body
        assert "First edit." in body
        assert "Third edit." in body
    three = make_home("three")
    git(folder, "push", "--quiet", "--force", "origin", "HEAD:main")
    three.sync()
    three.patch("deploy", "Second step.", "Second by three.")
    three.sync()
    one.patch("deploy", "First edit.", "First again.")
    assert words(one.sync()) == {"deploy": "merged"}
    two.sync()
    body = two.library.get("deploy").body
    assert "First again.\n\nSecond by three.\n\nThird edit." in body
    git(folder, "fetch", "--quiet")
    git(folder, "reset", "--quiet", "--hard", "origin/main")
    path = folder / "skills/deploy/SKILL.md"
    path.write_text(path.read_text().replace("First again.", "First step."))
    commit(folder, "taken back by a commit")
    one.sync()
    assert "First step." in one.library.get("deploy").body


def test_somebody_pushes_between_pull_and_push(
    make_home: MakeHome, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = make_home("one"), make_home("two")
    one.add("mine")
    two.add("theirs")
    syncing = one.synchroniser()
    push = syncing._remote.push

    def late(*arguments: object) -> object:
        if "theirs" not in one.names():
            two.sync()
        return push(*arguments)  # type: ignore[arg-type]

    monkeypatch.setattr(syncing._remote, "push", late)
    report = syncing.sync()
    assert report.rounds == 2
    two.sync()
    assert one.names() == two.names() == ["mine", "theirs"]


def test_a_repository_with_a_dirty_tree_keeps_it(tmp_path: Path) -> None:
    """The branch that is checked out there takes no push, so the change waits on one of ours."""
    there = tmp_path / "work"
    there.mkdir()
    git(there, "init", "--quiet", "--initial-branch=main")
    (there / "README.md").write_text("hello\n")
    git(there, "add", "-A")
    git(there, "commit", "--quiet", "-m", "first")
    (there / "README.md").write_text("dirty\n")
    one = home_maker(str(there), tmp_path)("one")
    one.add("deploy")
    report = one.sync()
    assert "branch skill-learner/m-" in report.proposed
    assert (there / "README.md").read_text() == "dirty\n"
    assert one.sync().proposed == report.proposed
    branch = proposal_branches(there)
    git(there, "checkout", "--quiet", "--force", "main")
    git(there, "merge", "--quiet", branch)
    assert one.sync().proposed == ""
    assert one.sync().outcomes == []


# -- protected branches and hooks -----------------------------------------------------------------


def test_a_protected_branch_gets_a_branch_to_review(
    daemon: tuple[str, Path], tmp_path: Path
) -> None:
    url, bare = daemon
    make = home_maker(url, tmp_path)
    one, two = make("one"), make("two")
    one.add("deploy")
    one.sync()
    hook = bare / "hooks" / "update"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text('#!/bin/sh\ntest "$1" != refs/heads/main\n')
    hook.chmod(0o755)
    two.add("other")
    report = two.sync()
    assert "main is protected" in report.proposed
    assert "skill-learner/m-" in report.proposed
    assert words(report, "out") == {}
    before = git(bare, "for-each-ref")
    assert two.sync().proposed == report.proposed
    assert git(bare, "for-each-ref") == before
    hook.unlink()
    branch = proposal_branches(bare)
    git(bare, "update-ref", "refs/heads/main", f"refs/heads/{branch}")
    two.sync()
    one.sync()
    assert one.names() == two.names() == ["deploy", "other"]


def test_no_hook_of_a_repository_on_this_machine_is_run(
    make_home: MakeHome, bare: Path, tmp_path: Path
) -> None:
    mark = tmp_path / "ran"
    (bare / "hooks").mkdir(exist_ok=True)
    names = ("pre-receive", "update", "post-receive", "post-update", "reference-transaction")
    for name in names:
        hook = bare / "hooks" / name
        hook.write_text(f"#!/bin/sh\ntouch '{mark}'\n")
        hook.chmod(0o755)
    _, two = both_with_deploy(make_home)
    assert two.names() == ["deploy"]
    assert not mark.exists()


def test_the_daemon_serves_a_team(daemon: tuple[str, Path], tmp_path: Path) -> None:
    make = home_maker(daemon[0], tmp_path)
    one, two = make("one"), make("two")
    one.add("deploy")
    one.sync()
    two.sync()
    two.patch("deploy", "First step.", "First by two.")
    two.sync()
    one.sync()
    assert "First by two." in one.library.get("deploy").body


def test_a_repository_with_ids_of_sha256_serves_a_team(
    daemon: tuple[str, Path], tmp_path: Path
) -> None:
    """An empty one tells of it only by what it does not take, one with commits by their ids."""
    url, bare = daemon
    shutil.rmtree(bare)
    empty_repository(bare, "--object-format=sha256")
    git(bare, "config", "daemon.receivepack", "true")
    make = home_maker(url, tmp_path)
    one, two = both_with_deploy(make)
    two.patch("deploy", "First step.", "First by two.")
    assert words(two.sync(), "out") == {"deploy": "sent"}
    assert words(one.sync()) == {"deploy": "updated"}
    path = home_maker(str(bare), tmp_path)("three")
    assert words(path.sync()) == {"deploy": "new"}
    path.add("other")
    assert words(path.sync(), "out") == {"other": "sent"}
    assert words(one.sync()) == {"other": "new"}
    assert len(git(bare, "rev-parse", "main").strip()) == 64
    assert unsound(bare) == []


def test_a_repository_made_anew_with_other_ids_is_followed(make_home: MakeHome, bare: Path) -> None:
    one, two = both_with_deploy(make_home)
    shutil.rmtree(bare)
    empty_repository(bare, "--object-format=sha256")
    with pytest.raises(RemoteError, match="the branch main is gone"):
        one.sync()
    make_home("three").add("other")
    make_home("three").sync()
    one.sync()
    two.sync()
    one.sync()
    assert one.names() == two.names() == ["deploy", "other"]


# -- hostile content ------------------------------------------------------------------------------


def test_links_and_odd_names_are_refused_and_the_rest_is_taken(
    make_home: MakeHome, clone: Clone, bare: Path, tmp_path: Path
) -> None:
    make_home("zero").add("seed")
    zero = make_home("zero")
    zero.sync()
    folder = clone()
    os.symlink("/etc/passwd", write_skill(folder, "linked") / "secret")
    write_skill(folder, "Bad Name")
    os.symlink("/etc", folder / "skills" / "whole-link")
    (write_skill(folder, "huge") / "blob").write_bytes(b"x" * (6 * 1024 * 1024))
    (write_skill(folder, "device") / "con.txt").write_text("x")
    write_skill(folder, "empty", "   ")
    write_skill(folder, "fine")
    (folder / "counters" / "evil.json").parent.mkdir(exist_ok=True)
    (folder / "counters" / "evil.json").write_text('{"fine": {"uses": -5}, "x": [1]}')
    write_skill(folder, "../counters/folder.json")
    os.symlink("evil.json", folder / "counters" / "link.json")
    commit(folder)
    one = make_home("one")
    report = one.sync()
    assert words(report) == {
        "linked": "refused",
        "Bad Name": "refused",
        "whole-link": "refused",
        "huge": "refused",
        "device": "refused",
        "empty": "refused",
        "seed": "new",
        "fine": "new",
    }
    assert "link" in outcome(report, "linked").detail
    assert sorted(one.names()) == ["fine", "seed"]
    assert not list(tmp_path.glob("**/one/**/secret"))
    assert "linked" in one.state.note("refused")


def test_odd_counters_that_somebody_wrote_are_left_out(
    make_home: MakeHome, clone: Clone, bare: Path
) -> None:
    one, _ = both_with_deploy(make_home)
    folder = clone()
    (folder / "counters").mkdir(exist_ok=True)
    odd = {"s" * 201: {"uses": 1}, "a\x1b[31m": {"uses": 1}, "b": {"k" * 201: 1, "uses": True}}
    sums = json.dumps({**odd, "deploy": {"uses": 3}})
    for machine in ("m-00000002", "a\x1b[31m"):
        (folder / "counters" / f"{machine}.json").write_text(sums)
    commit(folder)
    one.sync()
    assert one.state.counters() == {("m-00000002", "deploy", "uses"): 3}


@pytest.mark.parametrize("earlier", [("deploy",), ("other",), ()])
def test_uses_that_a_branch_lost_are_counted_again_by_the_next_sync(
    earlier: tuple[str, ...], make_home: MakeHome, bare: Path
) -> None:
    one, _ = both_with_deploy(make_home)
    one.add("other")
    for name in earlier:
        one.use(name, "a")
    one.sync()
    before = git(bare, "rev-parse", "main").strip()
    for session in ("a", "b"):
        one.use("deploy", session)
    one.sync()
    git(bare, "update-ref", "refs/heads/main", before)
    one.sync()
    three = make_home("three")
    three.sync()
    uses = {skill: n for (_, skill, kind), n in three.state.counters().items() if kind == "uses"}
    assert uses["deploy"] == 2


def test_a_file_beside_the_folders_of_skills_is_no_skill(make_home: MakeHome, clone: Clone) -> None:
    one, two = both_with_deploy(make_home)
    folder = clone()
    for name in ("README.md", ".gitkeep", "LICENSE", "notes"):
        (folder / "skills" / name).write_text("of people\n")
    os.symlink("README.md", folder / "skills" / "link")
    commit(folder)
    assert words(one.sync()) == {"link": "refused"}
    one.add("notes")
    assert "not overwritten" in outcome(one.sync(), "notes").detail
    shutil.rmtree(folder / "skills" / "deploy")
    (folder / "skills" / "deploy").write_text("no folder any more\n")
    commit(folder)
    two.sync()
    assert two.names("archived") == ["deploy"]


def test_names_that_look_like_an_entry_of_git_stay_names(bare: Path, clone: Clone) -> None:
    folder = clone()
    posing = "100755 blob 0123456789abcdef 5\tskills"
    write_skill(folder, "good")
    for odd in (posing, f"x\n{posing}"):
        (write_skill(folder, odd) / "100644 blob 1 1\tx").write_text("x")
    (folder / "skills" / f"file {posing}").write_text("no folder")
    (folder / "skills" / "good" / f"a\n{posing}").write_text("y")
    commit(folder)
    remote = open_remote(RemoteSettings("team", str(bare)), folder.parent / "copy", "m-00000000")
    found = {skill.name: sorted(skill.files or {}) for skill in remote.pull("").skills}
    assert found == {
        "good": ["SKILL.md", f"a\n{posing}"],
        posing: ["100644 blob 1 1\tx", "SKILL.md"],
        f"x\n{posing}": ["100644 blob 1 1\tx", "SKILL.md"],
        f"file {posing}": [],
    }


def test_paths_that_leave_the_folder_never_reach_the_disk(
    make_home: MakeHome, bare: Path, tmp_path: Path
) -> None:
    """Trees with `..` and `.git` in them, as only a hostile writer makes them."""

    def blob(data: bytes) -> str:
        made = subprocess.run(
            ["git", "-C", str(bare), "hash-object", "-w", "--stdin"],
            input=data,
            capture_output=True,
            check=True,
        )
        return made.stdout.decode().strip()

    def tree(*entries: tuple[str, str, str]) -> str:
        raw = b"".join(
            f"{mode} {name}\0".encode() + bytes.fromhex(identity)
            for mode, name, identity in entries
        )
        made = subprocess.run(
            [
                *(
                    "git",
                    "-C",
                    str(bare),
                    "hash-object",
                    "--literally",
                    "-t",
                    "tree",
                    "-w",
                    "--stdin",
                )
            ],
            input=raw,
            capture_output=True,
            check=True,
        )
        return made.stdout.decode().strip()

    skill = ("100644", "SKILL.md", blob(SKILL.format("evil").encode()))
    up = tree(("40000", "..", tree(("100644", "escaped", blob(b"bad")))), skill)
    hidden = tree(("40000", ".git", tree(("100644", "config", blob(b"bad")))), skill)
    skills = tree(("40000", "climber", up), ("40000", "hider", hidden))
    root = tree(("40000", "skills", skills))
    made = git(bare, "commit-tree", "-m", "evil", root).strip()
    git(bare, "update-ref", "refs/heads/main", made)
    one = make_home("one")
    report = build_sync(one.config, one.settings).sync()
    assert not list(tmp_path.rglob("escaped"))
    assert report.error or "refused" in words(report).values()
    assert "climber" not in one.names()


def test_markers_of_ours_arrive_as_candidate(make_home: MakeHome, clone: Clone) -> None:
    zero = make_home("zero")
    zero.add("seed")
    zero.sync()
    folder = clone()
    text = SKILL.format("marked").replace("Do it.", "<!-- skill-learner:end -->\nDo it.")
    write_skill(folder, "marked", text)
    commit(folder)
    one = make_home("one")
    one.sync()
    assert one.library.get("marked").state == "candidate"


def test_a_remote_that_claims_an_approval_is_believed_only_by_trust(
    make_home: MakeHome, clone: Clone
) -> None:
    one = make_home("one", trust="reviewed")
    one.add("seed")
    one.sync()
    folder = clone()
    write_skill(folder, "by-hand")
    commit(folder)
    one.sync()
    assert one.library.get("by-hand").state == "candidate"


# -- faults ---------------------------------------------------------------------------------------


def test_an_unreachable_remote_is_a_note(make_home: MakeHome, bare: Path) -> None:
    one = make_home("one")
    one.add("deploy")
    one.sync()
    bare.rename(bare.with_name("elsewhere"))
    report = one.synchroniser().sync()
    assert "cannot be reached" in report.error
    assert "cannot be reached" in one.state.note("error")
    one.add("later")
    bare.with_name("elsewhere").rename(bare)
    one.sync()
    assert one.state.note("error") == ""


def test_a_branch_that_vanished_is_said_and_archives_nothing(
    make_home: MakeHome, bare: Path
) -> None:
    one = make_home("one")
    one.add("deploy")
    one.sync()
    git(bare, "update-ref", "-d", "refs/heads/main")
    with pytest.raises(RemoteError, match="is gone"):
        one.sync()
    assert one.names() == ["deploy"]
    assert "is gone" in one.state.note("error")


@pytest.mark.parametrize("damage", ["lock", "shallow", "truncated", "half"])
def test_a_copy_that_a_kill_left_behind_is_mended(
    make_home: MakeHome, damage: str, tmp_path: Path
) -> None:
    one, two = both_with_deploy(make_home)
    cache = two.config.paths.remotes_dir / "team.git"
    if damage == "lock":
        (cache / "shallow.lock").touch()
        (cache / "refs/remotes/origin").mkdir(parents=True, exist_ok=True)
        (cache / "refs/remotes/origin/shared.lock").touch()
        (cache / "packed-refs.lock").touch()
    elif damage == "shallow":
        (cache / "shallow").unlink(missing_ok=True)
    elif damage == "truncated":
        for path in cache.glob("objects/??/*"):
            path.chmod(0o600)
            path.write_bytes(path.read_bytes()[:5])
    else:
        shutil.rmtree(cache / "objects")
    one.patch("deploy", "First step.", "First by one.")
    one.sync()
    two.sync()
    assert "First by one." in two.library.get("deploy").body


def remove_locks(bare: Path) -> None:
    """What a sync tells a person to do whose git was killed while it held them, at the remote."""
    for lock in bare.rglob("*.lock"):
        lock.unlink()


def test_kills_at_any_moment_leave_old_or_new(
    make_home: MakeHome, bare: Path, tmp_path: Path
) -> None:
    one, two = make_home("one"), make_home("two")
    one.add("deploy")
    for number in range(20):
        one.add(f"extra-{number}")
    for delay in (0.05, 0.15, 0.3, 0.5, 0.7, 0.9, 1.2):
        for git_too in (False, True):
            killed_while_syncing(str(bare), tmp_path, delay, git_too=git_too)
            if git_too:
                remove_locks(bare)
            assert unsound(bare) == []
    assert one.sync().proposed == ""
    two.sync()
    one.sync()
    assert len(two.names()) == 21
    assert {s.name: s.body for s in one.library.list()} == {
        s.name: s.body for s in two.library.list()
    }
    assert one.sync().outcomes == two.sync().outcomes == []


def test_a_full_disk_on_push_is_a_note_and_nothing_is_lost(
    daemon: tuple[str, Path], tmp_path: Path
) -> None:
    """The server cannot write objects, as on a full disk."""
    url, bare = daemon
    one = home_maker(url, tmp_path)("one")
    one.add("deploy")
    one.sync()
    shutil.move(bare / "objects", bare / "objects.real")
    (bare / "objects").write_text("no folder")
    one.add("later")
    try:
        report = one.synchroniser().sync()
    finally:
        (bare / "objects").unlink()
        shutil.move(bare / "objects.real", bare / "objects")
    assert report.error
    assert words(one.sync(), "out") == {"later": "sent"}


def test_another_branch_is_another_library(make_home: MakeHome) -> None:
    one, two = make_home("one"), make_home("two", branch="staging")
    one.add("deploy")
    one.sync()
    assert two.sync().outcomes == []
    two.settings = replace(two.settings, branch="main")
    assert words(two.sync()) == {"deploy": "new"}
