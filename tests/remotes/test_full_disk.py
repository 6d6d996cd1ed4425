"""Disks that are full, here and there: real small file systems, where the system lets us mount."""

from __future__ import annotations

import gc
import json
import random
import shutil
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from click.testing import CliRunner
from remote_homes import Home, empty_repository, home_maker, unsound, words
from small_disks import mount_small, unmount_small

from skill_learner.cli.group import cli
from skill_learner.config import user_settings_file
from skill_learner.errors import SkillLearnerError
from skill_learner.remotes.sync_state import SyncState

pytestmark = pytest.mark.process
WORDS = "first second third check deploy server branch again port step log read".split()


class SmallDisk:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def resize(self, size: str) -> None:
        _run("mount", "-o", f"remount,size={size}", str(self.folder))


def _run(*command: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode:
        raise OSError(done.stderr)


@pytest.fixture
def small_disk() -> Iterator[SmallDisk]:
    folder = Path(tempfile.mkdtemp(prefix="skl-disk-"))
    folder.chmod(0o755)  # a database server runs as another user
    if not mount_small(folder, "size=300k,mode=0777"):
        folder.rmdir()
        pytest.skip("no file system can be mounted here")
    try:
        yield SmallDisk(folder)
    finally:
        unmount_small(folder)
        folder.rmdir()


def with_skills(home: Home) -> None:
    chosen = random.Random(1)  # words in no order: a database presses repetitions small
    for number in range(12):
        text = " ".join(chosen.choices(WORDS, k=6_000))
        home.add(f"s-{number}", f"# S{number}\n\n{text}\n")
    home.add("attached")
    (home.config.skills_dir / "attached" / "data").write_bytes(bytes(range(256)) * 1000)


def told_by(home: Home) -> str:
    """What a sync says when it could not do all of its work."""
    try:
        return home.synchroniser().sync().error
    except SkillLearnerError as problem:
        return problem.message


@pytest.mark.parametrize("what", ["library", "everything"])
def test_a_full_disk_at_home_leaves_whole_skills_and_is_made_up_for(
    small_disk: SmallDisk, bare: Path, tmp_path: Path, what: str
) -> None:
    make = home_maker(str(bare), tmp_path)
    one, two = make("one"), home_maker(str(bare), small_disk.folder)("two")
    if what == "library":
        config = replace(make("two").config, skills_dir=small_disk.folder / "skills")
        two = replace(make("two"), config=config, library=type(two.library)(config.skills_dir))
    with_skills(one)
    one.sync()
    told = told_by(two)
    assert "space" in told or "full" in told
    assert all(skill.ours for skill in two.library.list(("active", "candidate")))
    assert two.library.problems() == []
    small_disk.resize("60m")
    two.sync()
    assert two.sync().outcomes == []
    assert len(two.names()) == 13
    assert all(s.ours and s.body == one.library.get(s.name).body for s in two.library.list())


def test_a_full_disk_at_a_repository_loses_nothing(small_disk: SmallDisk, tmp_path: Path) -> None:
    bare = empty_repository(small_disk.folder / "team.git")
    one = home_maker(str(bare), tmp_path)("one")
    one.add("deploy")
    one.sync()
    filler = small_disk.folder / "filler"
    _fill(filler)
    with_skills(one)
    assert told_by(one)
    assert one.state.note("error")
    assert unsound(bare) == []
    filler.unlink()
    small_disk.resize("60m")
    assert set(words(one.sync(), "out").values()) == {"sent"}
    assert unsound(bare) == []
    two = home_maker(str(bare), tmp_path)("two")
    two.sync()
    assert len(two.names()) == 14


def _fill(file: Path) -> None:
    with file.open("wb", buffering=0) as handle:
        try:
            while True:
                handle.write(bytes(4096))
        except OSError:
            return


def test_a_full_disk_at_a_database_loses_nothing(
    small_disk: SmallDisk, postgres_url: str, tmp_path: Path, own_by: Callable[[Path], None]
) -> None:
    import psycopg

    one = home_maker(postgres_url, tmp_path)("one")
    one.add("deploy")
    one.sync()
    own_by(small_disk.folder)
    with psycopg.connect(postgres_url, autocommit=True) as connection:
        connection.execute(f"CREATE TABLESPACE small LOCATION '{small_disk.folder}'")
        connection.execute("ALTER TABLE skill_learner.versions SET TABLESPACE small")
        filler = small_disk.folder / "filler"
        _fill(filler)
        with_skills(one)
        told = told_by(one)
        assert "space" in told or "full" in told
        assert one.state.note("error")
        filler.unlink()
        small_disk.resize("60m")
        one.sync()
        assert one.sync().outcomes == []
        two = home_maker(postgres_url, tmp_path)("two")
        two.sync()
        assert len(two.names()) == 14
        connection.execute("ALTER TABLE skill_learner.versions SET TABLESPACE pg_default")
        connection.execute("DROP TABLESPACE small")


@pytest.fixture
def own_by(postgres_server: object) -> Callable[[Path], None]:
    """Gives a folder to the user that the server runs as."""
    folder = Path(postgres_server.pgdata)  # type: ignore[attr-defined]

    def give(path: Path) -> None:
        status = folder.stat()
        shutil.chown(path, status.st_uid, status.st_gid)

    return give


def cli_run(*arguments: str, code: int = 0) -> str:
    result = CliRunner().invoke(cli, arguments)
    assert result.exit_code == code, result.output
    return result.output


def test_what_is_remembered_is_told_on_a_disk_that_cannot_be_written(
    small_disk: SmallDisk, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_disk.resize("4m")
    monkeypatch.setenv("HOME", str(small_disk.folder))
    one = home_maker(str(bare), tmp_path)("one")
    one.add("deploy")
    one.sync()
    cli_run("remote", "add", "team", str(bare), "--trust", "all")
    cli_run("sync")
    told = [cli_run("remote", "list"), cli_run("status")]
    settings = str(user_settings_file())
    filler = small_disk.folder / "filler"
    _fill(filler)
    assert [cli_run("remote", "list"), cli_run("status")] == told
    assert "nothing to do" in cli_run("sync", "--dry-run")
    assert "the disk may be full" in cli_run("sync", code=8)
    for command in (("remove", "team"), ("add", "other", str(bare))):
        output = cli_run("remote", *command, code=1)
        assert f"No space left on device: {settings}\nhint: make room" in output
    filler.unlink()
    gc.collect()  # what a command left open would be in the way
    _run("mount", "-o", "remount,ro", str(small_disk.folder))
    assert [cli_run("remote", "list"), cli_run("status")] == told
    assert f"Read-only file system: {settings}" in cli_run("remote", "remove", "team", code=1)


def test_a_dry_run_in_a_home_that_cannot_be_written_tells_what_a_sync_would_do(
    small_disk: SmallDisk, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    small_disk.resize("8m")
    monkeypatch.setenv("HOME", str(small_disk.folder))
    one = home_maker(str(bare), tmp_path)("one")
    one.add("deploy")
    one.sync()
    cli_run("remote", "add", "team", str(bare), "--trust", "all")
    cli_run("remote", "add", "new", str(bare), "--trust", "all")
    cli_run("sync", "team")
    cli_run("status")  # the state folder is there by now, and is told its format
    one.patch("deploy", "First step.", "First by one.")
    one.add("other")
    one.sync()
    gc.collect()  # what a command left open would be in the way
    _run("mount", "-o", "remount,ro", str(small_disk.folder))
    told = json.loads(CliRunner().invoke(cli, ["sync", "--dry-run", "--json"]).stdout)
    found = {(r["remote"], o["name"], o["outcome"]) for r in told for o in r["outcomes"]}
    assert found >= {
        ("team", "deploy", "would be updated"),
        ("team", "other", "would be new"),
        ("new", "other", "would be new"),
    }
    assert [report["error"] for report in told] == ["", ""]
    assert "Read-only file system" in cli_run("sync", "team", code=8)


def test_a_dry_run_needs_no_state_folder_and_makes_none_that_it_may_not(
    small_disk: SmallDisk, bare: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = home_maker(str(bare), tmp_path)("one")
    one.add("deploy")
    one.sync()
    monkeypatch.setenv("HOME", str(small_disk.folder))
    monkeypatch.setenv("SKILL_LEARNER_REMOTES", json.dumps({"team": str(bare)}))
    _run("mount", "-o", "remount,ro", str(small_disk.folder))
    assert "would be new" in cli_run("sync", "--dry-run")


def test_what_a_killed_process_left_to_be_put_in_place_is_read_on_a_full_disk(
    small_disk: SmallDisk,
) -> None:
    small_disk.resize("4m")
    db = small_disk.folder / "state.sqlite"
    state = SyncState(db, "team")
    state.save_notes({"error": "none"})
    state.save_notes({"error": "of the log"})
    left = {end: db.with_name(f"state.sqlite{end}").read_bytes() for end in ("", "-wal")}
    state.close()
    for end, data in left.items():
        db.with_name(f"state.sqlite{end}").write_bytes(data)
    _fill(small_disk.folder / "filler")
    assert SyncState(db, "team").note("error") == "of the log"
