from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest

from skill_learner.hook_runtime import mac_paths
from skill_learner.hook_runtime import project_key as identity
from skill_learner.hook_runtime.project_key import (
    find_project,
    fnv1a,
    locate,
    project_key,
    resolve,
    safe_name,
)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", *arguments], cwd=folder, check=True, capture_output=True)


def as_bytes(path: Path) -> bytes:
    return os.fsencode(path.resolve())


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    root = tmp_path / "main"
    root.mkdir()
    git(root, "init", "-q")
    git(root, "commit", "-q", "--allow-empty", "-m", "x")
    return root


def test_folder_without_git_is_its_own_project(tmp_path: Path) -> None:
    assert find_project(os.fsencode(tmp_path)) == as_bytes(tmp_path)


def test_folder_that_does_not_exist_is_its_own_project() -> None:
    assert find_project(b"/no/such/folder") == b"/no/such/folder"


@pytest.mark.process
def test_sub_directory_belongs_to_its_repository(repository: Path) -> None:
    inner = repository / "a" / "b"
    inner.mkdir(parents=True)
    assert locate(os.fsencode(inner)) == (as_bytes(repository), as_bytes(repository))


@pytest.mark.process
def test_worktrees_share_the_main_worktree(repository: Path, tmp_path: Path) -> None:
    git(repository, "worktree", "add", "-q", str(tmp_path / "linked"))
    top, project = locate(os.fsencode(tmp_path / "linked"))
    assert (top, project) == (as_bytes(tmp_path / "linked"), as_bytes(repository))


@pytest.mark.process
def test_worktree_of_a_bare_repository_is_its_own_project(repository: Path, tmp_path: Path) -> None:
    git(tmp_path, "clone", "-q", "--bare", str(repository), "bare.git")
    git(tmp_path / "bare.git", "worktree", "add", "-q", str(tmp_path / "wt"))
    assert find_project(os.fsencode(tmp_path / "wt")) == as_bytes(tmp_path / "wt")


@pytest.mark.process
def test_submodule_is_its_own_project(repository: Path, tmp_path: Path) -> None:
    outer = tmp_path / "outer"
    outer.mkdir()
    git(outer, "init", "-q")
    source = str(repository)
    git(outer, "-c", "protocol.file.allow=always", "submodule", "add", "-q", source, "inner")
    assert find_project(os.fsencode(outer / "inner")) == as_bytes(outer / "inner")


def test_symlinked_start_is_resolved(tmp_path: Path) -> None:
    real = tmp_path / "real"
    real.mkdir()
    (tmp_path / "link").symlink_to(real)
    assert find_project(os.fsencode(tmp_path / "link")) == as_bytes(real)


def test_link_loops_end(tmp_path: Path) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    assert find_project(os.fsencode(tmp_path / "loop" / "x")).endswith(b"/x")


@pytest.mark.parametrize(
    ("path", "expected"),
    [(b"/a/./b//c/", b"/a/b/c"), (b"/a/../../b", b"/b"), (b"/", b"/"), (b"//", b"/")],
)
def test_resolve_normalises(path: bytes, expected: bytes) -> None:
    assert resolve(path) == expected


def stored(path: bytes) -> bytes:
    """As a file system has it that finds names by capitals or without."""
    found = b"/"
    for part in filter(None, path.split(b"/")):
        names = os.listdir(found) if os.path.isdir(found) else []
        same = (name for name in names if name.lower() == part.lower())
        found = os.path.join(found, part if part in names else next(same, part))
    return found


def test_two_spellings_of_a_folder_are_one_project_on_macos(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shop = tmp_path / "Shop"
    (shop / ".git").mkdir(parents=True)
    (shop / ".git" / "HEAD").touch()
    (shop / "inner").mkdir()
    other = os.fsencode(tmp_path / "shop" / "INNER")
    assert locate(other)[1] == other
    monkeypatch.setattr(identity, "IS_MAC", True)
    monkeypatch.setattr(identity, "as_stored", stored, raising=False)
    assert locate(other) == (as_bytes(shop), as_bytes(shop))
    assert project_key(locate(other)[1]) == project_key(locate(os.fsencode(shop))[1])


def test_macos_is_asked_for_the_stored_spelling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import fcntl

    def told(descriptor: int, command: int, buffer: bytes) -> bytes:
        assert (command, len(buffer)) == (50, 1024)
        return os.fsencode(os.readlink(f"/proc/self/fd/{descriptor}")).ljust(1024, b"\0")

    if not Path("/proc/self/fd").exists():
        pytest.skip("the played call asks Linux")
    monkeypatch.setattr(fcntl, "F_GETPATH", 50, raising=False)
    monkeypatch.setattr(fcntl, "fcntl", told)
    (tmp_path / "link").symlink_to(tmp_path)
    assert mac_paths.as_stored(os.fsencode(tmp_path / "link")) == as_bytes(tmp_path)
    assert mac_paths.as_stored(b"/no/such/folder") == b"/no/such/folder"


def test_fnv1a_reference_values() -> None:
    assert fnv1a(b"") == 0xCBF29CE484222325
    assert fnv1a(b"foobar") == 0x85944171F73967E8


def test_key_is_readable_and_distinct() -> None:
    assert project_key(b"/home/u/my app").startswith("my-app-")
    assert project_key(b"/a/x") != project_key(b"/b/x")
    assert project_key(b"/").startswith("project-")
    assert len(project_key(b"/" + b"y" * 400)) < 80


def test_ordinary_names_stay() -> None:
    assert safe_name(b"3f0e-AB_c.d") == b"3f0e-AB_c.d"


@pytest.mark.parametrize(
    "identifier",
    [
        b"",
        b".",
        b"..",
        b"...",
        b"../../etc/passwd",
        b"a/b",
        b"a\x00b",
        b"a\nb",
        b"\xff",
        b"x" * 5000,
    ],
)
def test_hostile_names_become_one_safe_component(identifier: bytes) -> None:
    name = safe_name(identifier)
    assert name
    assert name not in (b".", b"..")
    assert b"/" not in name
    assert len(name) <= 200
    assert name.isascii()
    assert name.isalnum() or set(name) - set(b"/\x00\n") == set(name)


def test_different_long_names_stay_different() -> None:
    assert safe_name(b"x" * 300 + b"1") != safe_name(b"x" * 300 + b"2")
