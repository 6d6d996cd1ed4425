"""State folders of earlier versions, kept as they were left: opened, read, and used on."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox

from skill_learner.paths import StatePaths
from skill_learner.skills.library import SkillLibrary
from skill_learner.state_format import FORMAT, open_state

Run = Callable[..., Any]
FIXTURES = sorted((Path(__file__).resolve().parents[1] / "fixtures").glob("state-*.zip"))
LEARNED = "pytest-currency-missing-settings-toml"
PROJECT = "/home/dev/life/project"


@pytest.fixture(params=FIXTURES, ids=lambda path: path.stem)
def state(request: pytest.FixtureRequest, hooks: HookSandbox) -> Path:
    with zipfile.ZipFile(request.param) as archive:
        archive.extractall(hooks.state)
    return hooks.state


def test_there_is_a_state_of_an_earlier_version() -> None:
    assert FIXTURES


def skills_of(library: SkillLibrary) -> dict[str, str]:
    return {s.name: s.state for s in library.list(("active", "candidate", "archived"))}


def test_what_was_learned_recorded_and_spent_is_there(state: Path, run: Run, run_json: Run) -> None:
    library = SkillLibrary(state / "skills")
    expected = {LEARNED: "active", "retired": "archived", "waiting": "candidate"}
    assert skills_of(library) == expected
    assert all(skill.ours for skill in library.list(("active", "candidate", "archived")))
    assert library.problems() == []
    data = run_json("status")
    assert data["journals"]["count"] == 2
    assert {job["status"] for job in data["jobs"]} == {"done", "failed"}
    assert [row["root"] for row in data["installs_elsewhere"]] == [PROJECT]
    assert "0.50" in run("stats", "--spend").output
    assert [row["name"] for row in run_json("search", "currency", "--all-projects")] == [LEARNED]
    assert (state / "format").read_text() == f"{FORMAT}\n"
    stations = run_json("why", "session-0")["stations"]
    assert {"journal", "review", "gate"} <= {station["step"] for station in stations}
    assert len(run_json("history", LEARNED)) >= 3


def test_it_is_used_on(state: Path, run: Run, run_json: Run, hooks: HookSandbox) -> None:
    run("approve", "waiting")
    run("undo", "waiting")
    run("reindex")
    run("remember", "deploys need a VPN")
    run("review")
    names = skills_of(SkillLibrary(state / "skills"))
    assert len(names) == 4
    assert names["waiting"] == "candidate"
    run("project", "relink", PROJECT, str(hooks.project))
    run("init", "--target", "claude-code", "--provider", "offline")
    assert (hooks.project / ".claude" / "skills" / LEARNED / "SKILL.md").is_file()


@pytest.mark.parametrize("name", ["index.sqlite", "usage.sqlite", "jobs", "marks", "tally"])
def test_a_part_that_is_gone_or_damaged_takes_nothing_else_with_it(
    state: Path, run: Run, run_json: Run, name: str
) -> None:
    path = state / name
    if path.is_dir():
        for file in path.rglob("*.json"):
            file.write_bytes(b"\0not json")
    else:
        path.write_bytes(b"not a database" * 100)
        for side in ("-wal", "-shm"):
            path.with_name(name + side).unlink(missing_ok=True)
    assert [row["name"] for row in run_json("search", "currency", "--all-projects")] == [LEARNED]
    assert len(json.loads(run("list", "--all", "--json").stdout)) == 3
    run("review")


def test_opening_twice_changes_nothing(state: Path) -> None:
    open_state(StatePaths(state))
    before = {path: path.read_bytes() for path in state.rglob("*") if path.is_file()}
    open_state(StatePaths(state))
    assert {path: path.read_bytes() for path in state.rglob("*") if path.is_file()} == before
