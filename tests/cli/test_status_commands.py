from __future__ import annotations

import json
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from skill_learner.config import SkillLearnerConfig
from skill_learner.install.launcher_file import launcher_path
from skill_learner.jobs import JobStore, Wish
from skill_learner.models import Skill
from skill_learner.project import project_key, project_root
from skill_learner.skills.folder import Place
from skill_learner.skills.reader import SkillReader, StoredSkill

Run = Callable[..., Result]
RunJson = Callable[..., Any]
Add = Callable[..., Skill]


@pytest.fixture
def installed(run: Run, project: Path) -> Path:
    run("init", "--target", "claude-code")
    return project


def journal_event(project: Path, session: str, at: float) -> None:
    """One event as the hooks write it."""
    folder = SkillLearnerConfig.load().paths.journal_dir
    folder.mkdir(parents=True, exist_ok=True)
    root = project_root(project)
    record = {
        "v": 1, "t": at, "e": "PostToolUse", "ed": "claude-code", "k": project_key(root),
        "p": str(root), "c": 0,
        "d": {"session_id": session, "hook_event_name": "PostToolUse", "tool_name": "Bash"},
    }  # fmt: skip
    with (folder / f"{session}.jsonl").open("a") as handle:
        handle.write("\n" + json.dumps(record, separators=(",", ":")))


def failed_job(session: str, why: str) -> None:
    store = JobStore(SkillLearnerConfig.load().paths)
    wish = Wish(session=session, project="", project_key="", editor="claude-code", reason="manual")
    store.queue(wish)
    job = store.take()
    assert job is not None
    store.finish(job, "failed", why)


def test_status_of_nothing(run: Run, run_json: RunJson, hermetic_home: Path) -> None:
    data = run_json("status")
    assert data["installs"] == []
    assert data["jobs"] == []
    assert data["journals"]["last_event"] is None
    assert "init --target" in data["warnings"][0]
    assert "never" in run("status").stdout
    assert not (hermetic_home / ".skill_learner").exists()


def test_status_of_an_install(run: Run, run_json: RunJson, installed: Path) -> None:
    (row,) = run_json("status")["installs"]
    assert (row["target"], row["scope"], row["root"]) == ("claude-code", "project", str(installed))
    assert row["last_fired"] is None
    journal_event(installed, "s1", time.time())
    data = run_json("status")
    assert data["installs"][0]["last_fired"] == pytest.approx(time.time(), abs=30)
    assert data["journals"]["count"] == 1
    assert "complete" in run("status").stdout


def test_status_names_installs_of_other_projects(
    run_json: RunJson, installed: Path, tmp_path: Path
) -> None:
    other = tmp_path / "other"
    other.mkdir()
    data = run_json("status", "--project-dir", str(other))
    assert data["installs"] == []
    assert [row["root"] for row in data["installs_elsewhere"]] == [str(installed)]
    assert "no editor is set up here" in data["warnings"][0]


def test_an_event_elsewhere_does_not_count_here(
    run_json: RunJson, installed: Path, tmp_path: Path
) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    journal_event(elsewhere, "s1", time.time())
    assert run_json("status")["installs"][0]["last_fired"] is None


def test_status_warns_in_a_sub_directory(run: Run, run_json: RunJson, installed: Path) -> None:
    below = installed / "src"
    below.mkdir()
    assert run_json("status")["warnings"] == []
    (warning,) = run_json("status", "--project-dir", str(below))["warnings"]
    assert "--user" in warning
    assert str(installed) in warning


def test_status_names_the_reason_of_a_failure(run: Run, run_json: RunJson) -> None:
    failed_job("s9", "the provider said no")
    (job,) = run_json("status")["jobs"]
    assert (job["session"], job["status"]) == ("s9", "failed")
    assert "the provider said no" in run("status").stdout


def findings(run_json: RunJson, run: Run, code: int = 0) -> dict[str, dict[str, str]]:
    result = run("doctor", "--json", code=code)
    return {row["check"]: row for row in json.loads(result.stdout)}


def test_doctor_on_a_healthy_install(run: Run, run_json: RunJson, installed: Path) -> None:
    found = findings(run_json, run)
    assert found["claude-code, project"]["result"] == "ok"
    assert "complete" in found["claude-code, project"]["what"]
    assert found["claude-code, project: events"]["result"] == "note"
    journal_event(installed, "s1", time.time())
    assert findings(run_json, run)["claude-code, project: events"]["result"] == "ok"


def test_doctor_without_an_install_gives_the_next_step(run: Run, run_json: RunJson) -> None:
    assert "skill-learner init" in findings(run_json, run)["place"]["what"]


def test_doctor_sees_a_vanished_interpreter(run: Run, run_json: RunJson, installed: Path) -> None:
    hook_sh = launcher_path()
    lines = hook_sh.read_text().splitlines()
    lines = ["i='/nowhere/python'" if line.startswith("i=") else line for line in lines]
    hook_sh.write_text("\n".join(lines) + "\n")
    found = findings(run_json, run, code=1)["claude-code, project"]
    assert found["result"] == "fault"
    assert "/nowhere/python" in found["what"]
    hook_sh.unlink()
    assert findings(run_json, run, code=1)["claude-code, project"]["result"] == "fault"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{ // comment\n}", "settings.json"),
        ("{}", "hooks are gone"),
        ("[]", "settings.json"),
        ('{"hooks": {"Stop": [{"hooks": "x"}, 5]}}', ""),
    ],
)
def test_doctor_sees_settings_that_do_not_work(
    text: str, words: str, run: Run, run_json: RunJson, installed: Path
) -> None:
    (installed / ".claude" / "settings.json").write_text(text)
    found = findings(run_json, run, code=1)["claude-code, project"]
    assert found["result"] == "fault"
    assert words in found["what"]


def test_doctor_sees_hooks_switched_off_or_taken_out(
    run: Run, run_json: RunJson, installed: Path
) -> None:
    file = installed / ".claude" / "settings.json"
    settings = json.loads(file.read_text())
    file.write_text(json.dumps({**settings, "disableAllHooks": True}))
    off = findings(run_json, run, code=1)["claude-code, project"]
    assert "switched off" in off["what"]
    assert run_json("status")["installs"][0]["disabled_by"] == [str(file)]
    del settings["hooks"]["Stop"]
    file.write_text(json.dumps(settings))
    assert "Stop" in findings(run_json, run, code=1)["claude-code, project"]["what"]


def test_doctor_sees_failed_reviews_and_broken_skills(run: Run, run_json: RunJson) -> None:
    failed_job("s9", "the provider said no")
    skills = SkillLearnerConfig.load().skills_dir / "big"
    skills.mkdir(parents=True)
    (skills / "SKILL.md").write_bytes(b"x" * 3_000_000)
    found = findings(run_json, run, code=1)
    assert "the provider said no" in found["reviews"]["what"]
    assert found["library"]["result"] == "fault"


def test_status_why_and_doctor_say_that_nothing_is_recorded_and_how_to_change_it(
    run: Run, run_json: RunJson, installed: Path
) -> None:
    assert run_json("status")["warnings"] == []
    run("pause")
    (warning,) = run_json("status")["warnings"]
    assert warning == "recording is paused: skill-learner resume"
    assert "recording is paused" in run("status").stdout
    run("resume")
    (installed / ".skill-learner-off").touch()
    expected = f"{installed / '.skill-learner-off'} switches it off"
    assert run_json("status")["warnings"] == [expected]
    assert expected in [row["what"] for row in run_json("doctor")]
    assert expected in run("why").stdout


def test_numbers_agree_with_their_nouns(run: Run, add_skill: Callable[..., Any]) -> None:
    add_skill("one", state="candidate")
    assert "1 candidate, " in run("status").stdout
    add_skill("two", state="candidate")
    assert "2 candidates, " in run("status").stdout


def test_a_setting_that_is_ignored_is_told_once(run: Run, installed: Path) -> None:
    (installed / "skill-learner.yaml").write_text("provider: command\n")
    shown = run("status")
    assert shown.output.count("`provider` is ignored in a project's file") == 1


@pytest.mark.parametrize(
    ("command", "missing"),
    [("", "it needs the setting `command`"), ("no-such-program -x", "starts no-such-program")],
)
def test_doctor_says_what_a_chosen_provider_lacks(
    command: str, missing: str, run_json: RunJson, run: Run, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILL_LEARNER_PROVIDER", "command")
    monkeypatch.setenv("SKILL_LEARNER_COMMAND", command)
    rows = json.loads(run("doctor", "--json", code=1).stdout)
    (row,) = [row for row in rows if row["check"] == "reviewer"]
    assert row["result"] == "fault"
    assert missing in row["what"]


@pytest.mark.parametrize("command", ["status", "doctor", "stats", "list", "curate", "candidates"])
def test_no_skill_is_read_twice(
    run: Run, installed: Path, add_skill: Add, monkeypatch: pytest.MonkeyPatch, command: str
) -> None:
    for name in ("deploy", "release"):
        add_skill(name)
        add_skill(f"{name}-everywhere", scope="user")
    read: list[str] = []
    reading = SkillReader.read

    def counted(reader: SkillReader, place: Place) -> StoredSkill:
        read.append(place.name)
        return reading(reader, place)

    monkeypatch.setattr(SkillReader, "read", counted)
    run(command)
    assert sorted(read) == ["deploy", "deploy-everywhere", "release", "release-everywhere"]
