from __future__ import annotations

import contextlib
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from skill_learner.config import SkillLearnerConfig
from skill_learner.consent import consent_text
from skill_learner.jobs import JobStore, Wish
from skill_learner.ledger import Ledger
from skill_learner.models import Skill, Usage
from skill_learner.paths import StatePaths

Run = Callable[..., Result]
RunJson = Callable[..., Any]
Add = Callable[..., Skill]


def test_an_empty_library_is_no_error(run: Run, run_json: RunJson, hermetic_home: Path) -> None:
    assert "no active skills" in run("list").stdout
    assert "no candidates" in run("list", "--candidates").stdout
    assert run_json("list", "--all") == []
    assert not (hermetic_home / ".skill_learner").exists()


def test_list_by_state(run: Run, run_json: RunJson, add_skill: Add) -> None:
    add_skill("build-site")
    add_skill("maybe", "candidate")
    assert [row["name"] for row in run_json("list")] == ["build-site"]
    assert [row["name"] for row in run_json("list", "--candidates")] == ["maybe"]
    rows = {row["name"]: row for row in run_json("list", "--all")}
    assert rows["maybe"]["state"] == "candidate"
    assert rows["build-site"]["uses"] == 0
    lines = run("list", "--all").stdout.splitlines()
    assert lines[0].split()[:2] == ["name", "state"]
    assert lines[1].startswith("build-site  active")


@pytest.mark.parametrize("command", ["list", "stats", "show build-site"])
def test_no_command_that_shows_uses_fails_when_they_cannot_be_had(
    command: str, run: Run, add_skill: Add, state: StatePaths, monkeypatch: pytest.MonkeyPatch
) -> None:
    add_skill("build-site")
    state.journal_dir.mkdir()
    run("list")
    monkeypatch.setattr("skill_learner.usage._BUSY_SECONDS", 0.05)
    with contextlib.closing(sqlite3.connect(state.usage_db, isolation_level=None)) as holder:
        holder.execute("BEGIN EXCLUSIVE")
        told = run(*command.split())
        refused = run("curate", code=4)  # what was never used would be proposed for retirement
    assert "uses are not known" in told.stderr
    assert ("build-site" in told.stdout) == (command != "stats")
    assert "locked" in refused.stderr


def test_list_refuses_contradiction(run: Run) -> None:
    assert "exclude each other" in run("list", "--all", "--candidates", code=2).stderr


def test_show_tells_text_and_history(run: Run, run_json: RunJson, add_skill: Add) -> None:
    add_skill("build-site", body="Add the page to the manifest.\n")
    shown = run("show", "build-site").stdout
    assert "Add the page to the manifest." in shown
    assert "create" in shown
    data = run_json("show", "build-site")
    assert data["body"].strip() == "Add the page to the manifest."
    assert data["history"][0]["action"] == "create"


def test_show_of_an_unknown_name_helps(run: Run, add_skill: Add) -> None:
    add_skill("build-site")
    result = run("show", "build-sit", code=4)
    assert "build-site" in result.stderr


def test_approve_then_reject_then_approve_again(
    run: Run, run_json: RunJson, add_skill: Add
) -> None:
    add_skill("maybe", "candidate")
    run("approve", "maybe")
    assert run_json("show", "maybe")["state"] == "active"
    run("reject", "maybe", "--why", "too special")
    data = run_json("show", "maybe")
    assert data["state"] == "archived"
    assert data["history"][-1]["why"] == "too special"
    run("approve", "maybe")
    assert run_json("show", "maybe")["state"] == "active"


@pytest.mark.parametrize("decision", ["approve", "reject"])
def test_one_wrong_name_changes_nothing(
    decision: str, run: Run, run_json: RunJson, add_skill: Add
) -> None:
    add_skill("maybe", "candidate")
    run(decision, "maybe", "no-such-skill", code=4)
    assert run_json("show", "maybe")["state"] == "candidate"


def test_remember_writes_a_candidate_of_this_project(
    run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch, add_skill: Add
) -> None:
    monkeypatch.setenv("CLAUDE_CODE_SESSION_ID", "session-7")
    run("remember", "Run the migrations before the tests.", "--when", "Use before the tests.")
    (row,) = run_json("list", "--candidates")
    assert (row["origin"], row["sessions"]) == ("remember", ["session-7"])
    assert row["description"] == "Use before the tests."
    assert row["scope"] == add_skill("other").scope
    assert run_json("list", "--candidates")[0]["state"] == "candidate"


def test_remember_says_once_what_it_knows(run: Run, run_json: RunJson) -> None:
    run("remember", "Run the migrations before the tests.")
    again = run("remember", "Run the migrations before the tests.").stdout
    assert "says that already" in again
    known = run_json("remember", "Run the migrations before the tests.")
    assert known == run_json("list", "--candidates")[0]
    assert len(run_json("list", "--candidates")) == 1


def test_remember_refuses_a_secret(run: Run, run_json: RunJson) -> None:
    token = "ghp_" + "a1B2c3D4e5" * 3 + "f6G7h8"
    result = run("remember", f"Push with the token {token}.", code=4)
    assert "secret" in result.stderr
    assert token not in result.output
    assert run_json("list", "--all") == []


def test_remember_refuses_emptiness_and_floods(run: Run) -> None:
    run("remember", "  ", code=4)
    assert "too many" in run("remember", "x" * 9000, code=4).stderr


def test_stats_counts(run: Run, run_json: RunJson, add_skill: Add) -> None:
    add_skill("build-site")
    add_skill("maybe", "candidate")
    data = run_json("stats")
    assert data["counts"]["active skills"] == 1
    assert data["counts"]["candidates"] == 1
    assert {row["name"] for row in data["skills"]} == {"build-site", "maybe"}
    assert data["today"]["reviews"] == 0
    assert "active skills" in run("stats").stdout
    assert run_json("stats", "--spend") == {"today": data["today"], "days": []}
    assert "no LLM call yet" in run("stats", "--spend").stdout


def test_every_call_is_listed_as_the_consent_says(run: Run, run_json: RunJson) -> None:
    assert "`skill-learner stats --calls`" in consent_text("anthropic", "", 20, 1_000)
    assert "no LLM call yet" in run("stats", "--calls").stdout
    ledger = Ledger(SkillLearnerConfig.load().paths.ledger)
    for number in range(3):
        meter = ledger.meter(f"job-{number // 2}", "anthropic", "model-x", None)
        meter.begin(100)
        if number:
            meter.end(Usage("anthropic", "model-y", 90, 10, 0.01), "ok")
    listed = run_json("stats", "--calls")
    assert [one["job"] for one in listed] == ["job-0", "job-0", "job-1"]
    assert [one["result"] for one in listed] == ["unfinished", "ok", "ok"]
    assert run("stats", "--calls").stdout.count("anthropic") == 3
    assert "stats --calls" in run("stats").stdout
    run("stats", "--calls", "--spend", code=2)


def test_reviews_are_those_that_were_done_and_told_of_which(run: Run, run_json: RunJson) -> None:
    paths = SkillLearnerConfig.load().paths
    jobs = JobStore(paths, keep_closed=4)
    for number in range(6):
        jobs.queue(Wish(f"s{number}", "/p", "p-1", "claude-code", "nudge"))
        job = jobs.take()
        assert job is not None
        jobs.finish(job, "failed" if number == 5 else "done", "")
        meter = Ledger(paths.ledger).meter(job.id, "anthropic", "", None)
        meter.begin(10)
        meter.end(None, "ok")
    counts = run_json("stats")["counts"]
    assert (counts["reviews"], counts["LLM reviews"]) == (3, 6)
    assert "3 done, of the last 4 on record" in run("stats").stdout


def test_search_finds_active_skills(run: Run, run_json: RunJson, add_skill: Add) -> None:
    add_skill("build-site", description="Use when the site build fails with a missing manifest.")
    add_skill("deploy-candidate", "candidate", description="Use when the site build fails.")
    assert [row["name"] for row in run_json("search", "site build manifest")] == ["build-site"]
    names = {row["name"] for row in run_json("search", "--candidates", "site", "build")}
    assert names == {"build-site", "deploy-candidate"}
    add_skill("elsewhere", description="Use when the site build fails.", scope="another-project")
    add_skill("everywhere", description="Use when the site build fails.", scope="user")
    here = {row["name"] for row in run_json("search", "site build")}
    assert here == {"build-site", "everywhere"}
    assert len(run_json("search", "--all-projects", "site build")) == 3
    nothing = run("search", "zebra").stdout
    assert nothing == "no skill matches; wider: --candidates, --all-projects\n"
    widest = run("search", "zebra", "--candidates", "--all-projects").stdout
    assert widest == "no skill matches\n"


def test_config_shows_origins(run: Run, run_json: RunJson, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SKILL_LEARNER_NUDGE_INTERVAL", "7")
    shown = run_json("config", "--show-origin")
    assert shown["nudge_interval"] == {
        "value": 7,
        "origin": "environment SKILL_LEARNER_NUDGE_INTERVAL",
    }
    assert shown["model"]["origin"] == "default"
    assert run_json("config")["nudge_interval"] == 7
    assert "nudge_interval" in run("config").stdout


def test_a_project_file_cannot_choose_a_program(run: Run, project: Path) -> None:
    (project / "skill-learner.yaml").write_text("command: sh -c evil\nnudge_interval: 40\n")
    result = run("config")
    assert "`command` is ignored" in result.stderr
    assert "evil" not in result.stdout
