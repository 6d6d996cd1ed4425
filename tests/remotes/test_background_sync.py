"""Syncs beside a program: what one remote cannot do is no other's trouble."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from postgres_databases import execute
from remote_homes import MakeHome

from skill_learner import SkillEngine
from skill_learner.remotes.background import BackgroundSync
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.sync import SyncReport

pytestmark = pytest.mark.process


@pytest.fixture
def engine() -> str:
    return "postgres"


def until(holds: Callable[[], object], seconds: float = 15) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if holds():
            return True
        time.sleep(0.05)
    return False


def two_databases(first: str, second: str, home: Path) -> dict[str, Any]:
    remotes = {
        name: {"url": url, "trust": "all", "every": 3600}
        for name, url in (("a", first), ("b", second))
    }
    return {
        "skills_dir": str(home / "skills"),
        "state_dir": str(home / "state"),
        "remotes": remotes,
    }


def test_each_of_two_databases_gives_hints(
    make_home: MakeHome, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skill_learner.remotes.background._SHORTEST", 0.1)
    name = f"{execute(postgres_url, 'SELECT current_database()')[0][0]}_too"
    execute(postgres_url, f'CREATE DATABASE "{name}"')
    other = postgres_url.replace(name.removesuffix("_too"), name)
    with SkillEngine(two_databases(other, postgres_url, tmp_path)) as engine:
        home = make_home("one")
        for number, url in enumerate((other, postgres_url), 1):
            time.sleep(2.5)  # it listens by now
            home.add(f"skill-{number}")
            home.synchroniser(url=url, name=f"r{number}").sync()
            assert until(lambda count=number: engine.get_stats()["total_skills"] >= count, 8)


def test_a_remote_that_cannot_be_built_is_tried_again(
    make_home: MakeHome, postgres_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("skill_learner.remotes.background._BUILT_AGAIN", 0.2)
    monkeypatch.setattr("skill_learner.remotes.background._SHORTEST", 0.1)
    one = make_home("one")
    one.add("deploy")
    one.sync()
    home = tmp_path / "w"
    in_the_way = home / "skills" / ".state" / "remotes"
    in_the_way.parent.mkdir(parents=True)
    in_the_way.write_text("a file where a folder is to be")
    began = time.monotonic()
    settings = {
        "skills_dir": str(home / "skills"),
        "state_dir": str(home / "state"),
        "review_timeout": 30,
        "remotes": {"fleet": {"url": postgres_url, "trust": "all", "every": 3600}},
    }
    with SkillEngine(settings) as engine:
        assert time.monotonic() - began < 10
        assert engine.get_stats()["total_skills"] == 0
        in_the_way.unlink()
        assert until(lambda: engine.get_stats()["total_skills"] == 1)


def test_a_remote_that_cannot_be_built_stops_no_other(tmp_path: Path) -> None:
    synced = threading.Event()

    class Working:
        gives_hints = False

        def sync(self) -> SyncReport:
            synced.set()
            return SyncReport("b")

        def close(self) -> None: ...

    def build(settings: RemoteSettings) -> Any:
        if settings.name == "a":
            raise OSError("no space left on device")
        return Working()

    background = BackgroundSync([RemoteSettings("a", "x"), RemoteSettings("b", "y")], build)
    background.start(10)
    assert synced.is_set()
    background.close()
