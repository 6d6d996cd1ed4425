"""Repositories that are damaged, or made to do harm: what git finds in them, and what we do."""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import zlib
from pathlib import Path

import pytest
from remote_homes import Home, MakeHome, both_with_deploy, git, words

from skill_learner.remotes import git_program, git_reading

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "git"


def with_skills(home: Home, *names: str) -> None:
    for name in names or ("deploy", "rollback"):
        home.add(name)
    home.sync()


def made(bare: Path, *arguments: str, data: str = "") -> str:
    done = subprocess.run(
        ["git", "-C", str(bare), "-c", "user.name=a", "-c", "user.email=a@b", *arguments],
        input=data.encode(),
        capture_output=True,
        check=True,
    )
    return done.stdout.decode().strip()


def add_endless_skill(bare: Path) -> None:
    """Ten million files of the skill `endless`, in a few small trees."""
    tree = made(bare, "hash-object", "-w", "--stdin", data="x")
    kind = "100644 blob"
    for _ in range(7):
        tree = made(bare, "mktree", data="".join(f"{kind} {tree}\t{n}\n" for n in range(10)))
        kind = "040000 tree"
    rest = made(bare, "ls-tree", "main:skills")
    skills = made(bare, "mktree", data=f"{rest}\n040000 tree {tree}\tendless\n")
    root = made(bare, "mktree", data=f"040000 tree {skills}\tskills\n")
    commit = made(bare, "commit-tree", root, "-p", "main", "-m", "x")
    git(bare, "update-ref", "refs/heads/main", commit)


@pytest.mark.parametrize("few", [2, 200])
def test_a_skill_of_endless_files_is_refused_and_keeps_no_other_from_coming(
    make_home: MakeHome, bare: Path, monkeypatch: pytest.MonkeyPatch, few: int
) -> None:
    monkeypatch.setattr(git_reading, "_FEW", few)
    monkeypatch.setattr(git_reading, "_MOST_CHECKED_BYTES", 100_000)
    one, two = make_home("one"), make_home("two")
    names = ["a", "b", "deploy", "rollback", "zoom"]
    with_skills(one, *names)
    add_endless_skill(bare)
    report = two.sync()
    assert words(report)["endless"] == "refused"
    assert two.names() == names
    one.sync()
    for name in names[1:]:
        one.patch(name, "First step.", "First by one.")
    one.sync()
    report = two.sync()
    assert words(report) == dict.fromkeys(names[1:], "updated")


def loose_objects(bare: Path) -> dict[str, Path]:
    found = {}
    for path in bare.glob("objects/??/*"):
        found[zlib.decompress(path.read_bytes()).decode("latin-1")] = path
    return found


def test_an_object_that_holds_what_another_is_called_by_is_not_taken(
    make_home: MakeHome, bare: Path
) -> None:
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    was, path = next((text, p) for text, p in loose_objects(bare).items() if "# Deploy" in text)
    sound = path.read_bytes()
    text = was.partition("\0")[2].replace("First step.", "Wrong step.")
    path.chmod(0o600)
    path.write_bytes(zlib.compress(f"blob {len(text)}\0{text}".encode("latin-1")))
    report = two.synchroniser().sync()
    assert "could not be fetched" in report.error
    assert two.names() == []
    path.write_bytes(sound)
    assert hashlib.sha1(zlib.decompress(sound)).hexdigest() == path.parent.name + path.name
    two.sync()
    assert two.names() == ["deploy", "rollback"]


def test_a_remote_that_is_damaged_gives_nothing_until_it_is_sound(
    make_home: MakeHome, bare: Path, tmp_path: Path
) -> None:
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    sound = shutil.copytree(bare, tmp_path / "sound.git")
    git(bare, "repack", "-adq")
    for path in bare.glob("objects/pack/*.pack"):
        path.chmod(0o600)
        data = path.read_bytes()
        path.write_bytes(data[:40] + bytes(byte ^ 0xFF for byte in data[40:-40]) + data[-40:])
    report = two.synchroniser().sync()
    assert "could not be" in report.error
    assert two.names() == []
    shutil.rmtree(bare)
    sound.rename(bare)
    two.sync()
    assert two.names() == ["deploy", "rollback"]


def test_a_push_runs_no_command_that_a_folder_names_for_its_lenders(
    make_home: MakeHome, bare: Path, tmp_path: Path
) -> None:
    one, two = both_with_deploy(make_home)
    lender = tmp_path / "lender.git"
    git(tmp_path, "clone", "--quiet", "--bare", str(bare), str(lender))
    (bare / "objects" / "info").mkdir(exist_ok=True)
    (bare / "objects" / "info" / "alternates").write_text(f"{lender}/objects\n")
    told = tmp_path / "told"
    git(bare, "config", "core.alternateRefsCommand", f"touch {told}; true")
    two.patch("deploy", "First step.", "First by two.")
    two.sync()
    one.sync()
    assert "First by two." in one.library.get("deploy").body
    assert not told.exists()


def test_a_file_in_place_of_the_copy_is_taken_away(make_home: MakeHome) -> None:
    one, two = make_home("one"), make_home("two")
    with_skills(one)
    two.config.paths.remotes_dir.mkdir(parents=True)
    (two.config.paths.remotes_dir / "team.git").write_text("no repository")
    two.sync()
    assert two.names() == ["deploy", "rollback"]


def test_a_folder_for_remotes_that_cannot_be_is_an_error_of_the_sync(make_home: MakeHome) -> None:
    one = make_home("one")
    with_skills(one)
    keeps = one.synchroniser()
    keeps.close()
    shutil.rmtree(one.config.paths.remotes_dir)
    one.config.paths.remotes_dir.write_text("no folder")
    report = keeps.sync()
    assert "this machine" in report.error


def test_of_what_git_says_the_part_is_told_that_helps() -> None:
    said = (
        b"fatal: detected dubious ownership in repository at '/srv/team.git'\n"
        b"To add an exception for this directory, call:\n\n"
        b"\tgit config --global --add safe.directory /srv/team.git\x00\n"
        b"fatal: Could not read from remote repository.\n\n"
        b"Please make sure you have the correct access rights\nand the repository exists.\n"
    )
    told = git_program._last_words(said)
    assert told.startswith("fatal: detected dubious ownership in repository at '/srv/team.git'")
    assert told.endswith("git config --global --add safe.directory /srv/team.git")
    alone = b"fatal: Could not read from remote repository.\n"
    assert git_program._last_words(alone) == alone.decode().strip()
