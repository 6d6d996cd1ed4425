from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import Result

from skill_learner.config import SkillLearnerConfig
from skill_learner.project import project_key, project_root

Run = Callable[..., Result]
RunJson = Callable[..., Any]

BUILD = "python3 tools/build.py"
ERROR = "Exit code 1\nbuild: error: missing line for 'pricing.md' in site/manifest.txt"


@pytest.fixture(autouse=True)
def unmarked_process() -> Iterator[None]:
    """A review marks its process, so that nothing it starts asks for a review; this one goes on."""
    yield
    os.environ.pop("SKILL_LEARNER_REVIEW", None)


def edit(project: Path) -> dict[str, Any]:
    file = str(project / "site" / "manifest.txt")
    return {"file_path": file, "old_string": "home.md\n", "new_string": "home.md\npricing.md\n"}


def write_journal(project: Path, session: str) -> None:
    """A build that fails twice, an edit, a pass: as the hooks write it."""
    root = project_root(project)
    common = {"session_id": session, "cwd": str(root), "transcript_path": "/nowhere/x.jsonl"}

    def tool(number: int, name: str, given: dict[str, Any], **more: Any) -> dict[str, Any]:
        return {"tool_name": name, "tool_input": given, "tool_use_id": f"t{number}", **more}

    passed = {"stdout": "build: wrote out/site.html", "stderr": "", "interrupted": False}
    edited = {"filePath": edit(root)["file_path"], "originalFile": "home.md\n"}
    events = [
        ("SessionStart", {"source": "startup"}),
        ("UserPromptSubmit", {"prompt": "Add a pricing page and build the site."}),
        ("PostToolUseFailure", tool(1, "Bash", {"command": BUILD}, error=ERROR)),
        ("PostToolUseFailure", tool(2, "Bash", {"command": BUILD}, error=ERROR)),
        ("PostToolUse", tool(3, "Edit", edit(root), tool_response=edited)),
        ("PostToolUse", tool(4, "Bash", {"command": BUILD}, tool_response=passed)),
        ("Stop", {"stop_hook_active": False, "last_assistant_message": "It builds."}),
        ("SessionEnd", {"reason": "other"}),
    ]
    folder = SkillLearnerConfig.load().paths.journal_dir
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / f"{session}.jsonl").open("w", encoding="utf-8") as handle:
        for number, (name, payload) in enumerate(events):
            record = {
                "v": 1, "t": 1_790_000_000 + number, "e": name, "ed": "claude-code",
                "k": project_key(root), "p": str(root), "c": 0,
                "d": {**common, "hook_event_name": name, **payload},
            }  # fmt: skip
            handle.write("\n" + json.dumps(record))


def write_transcript(file: Path, project: Path, session: str) -> Path:
    """The same session as the client's own transcript tells it."""
    steps: list[dict[str, Any]] = []

    def line(role: str, content: Any, **more: Any) -> None:
        steps.append(
            {
                "type": role, "message": {"role": role, "content": content},
                "uuid": f"{session}-{len(steps)}", "timestamp": "2026-11-30T10:00:00.000Z",
                "cwd": str(project), "sessionId": session, "version": "2.1.332",
                "isSidechain": False, "userType": "external", **more,
            }
        )  # fmt: skip

    def call(number: int, name: str, given: dict[str, Any], text: str, failed: bool) -> None:
        used = {"type": "tool_use", "id": f"t{number}", "name": name, "input": given}
        line("assistant", [used])
        result = {"type": "tool_result", "tool_use_id": f"t{number}", "content": text}
        if failed:
            line("user", [{**result, "is_error": True}], toolUseResult=f"Error: {text}")
        else:
            line("user", [result], toolUseResult={"stdout": text, "stderr": ""})

    line("user", "Add a pricing page and build the site.")
    call(1, "Bash", {"command": BUILD}, ERROR, True)
    call(2, "Bash", {"command": BUILD}, ERROR, True)
    call(3, "Edit", edit(project), "The file has been updated.", False)
    call(4, "Bash", {"command": BUILD}, "build: wrote out/site.html", False)
    line("assistant", [{"type": "text", "text": "It builds."}])
    file.write_text("".join(json.dumps(step) + "\n" for step in steps), encoding="utf-8")
    return file


def test_review_of_nothing(run: Run) -> None:
    assert "nothing to review" in run("review").stdout


def test_review_of_a_session_nobody_saw(run: Run) -> None:
    assert "no journal of a session 'ghost'" in run("review", "--session", "ghost", code=6).stderr


def test_review_in_the_foreground_learns_and_says_so(
    run: Run, run_json: RunJson, project: Path
) -> None:
    write_journal(project, "s1")
    result = run("review", "--session", "s1")
    assert "s1" in result.stdout
    assert "done" in result.stdout
    assert "started" in result.stderr
    (skill,) = run_json("list", "--candidates")
    assert "site/manifest.txt" in run_json("show", skill["name"])["body"]
    (job,) = run_json("status")["jobs"]
    assert (job["session"], job["status"]) == ("s1", "done")
    assert skill["name"] in job["detail"]


def test_a_second_session_proves_it(run: Run, run_json: RunJson, project: Path) -> None:
    run("init", "--target", "claude-code")
    for session in ("s1", "s2"):
        write_journal(project, session)
        run("review", "--session", session)
    (skill,) = run_json("list")
    assert skill["sessions"] == ["s1", "s2"]
    assert (project / ".claude" / "skills" / skill["name"] / "SKILL.md").is_file()
    assert run_json("stats")["reviews"] == {"done": 2}


def test_detached_review_tells_its_log_what_nobody_sees(
    run: Run, hermetic_home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SKILL_LEARNER_NUDGE_INTERVAL", "often")
    run("review", "--detached", code=2)
    log = (hermetic_home / ".skill_learner" / "review.log").read_text()
    assert "SKILL_LEARNER_NUDGE_INTERVAL" in log


def test_learn_from_a_transcript(
    run: Run, run_json: RunJson, project: Path, tmp_path: Path
) -> None:
    file = write_transcript(tmp_path / "s1.jsonl", project, "s1")
    (learned,) = run_json("learn", str(file))
    assert learned["session"] == "s1"
    assert [item["kind"] for item in learned["episodes"]] == ["fixed_failure"]
    assert [item["change"] for item in learned["skills"]] == ["created"]
    (skill,) = run_json("list", "--candidates")
    assert skill["name"] == learned["skills"][0]["name"]


def test_learn_says_what_and_why(run: Run, project: Path, tmp_path: Path) -> None:
    file = write_transcript(tmp_path / "s1.jsonl", project, "s1")
    shown = run("learn", str(file)).stdout
    assert "1 episode;" in shown
    assert "fixed_failure at steps" in shown
    assert "candidate" in shown


def test_learn_dry_run_leaves_the_library_alone(
    run: Run, run_json: RunJson, project: Path, tmp_path: Path, hermetic_home: Path
) -> None:
    file = write_transcript(tmp_path / "s1.jsonl", project, "s1")
    shown = run("learn", "--dry-run", str(file)).stdout
    assert "candidate" in shown
    assert "nothing was written" in shown
    assert not (hermetic_home / ".skill_learner").exists()


def test_learn_files_under_the_project_it_is_told(
    run_json: RunJson, project: Path, tmp_path: Path
) -> None:
    file = write_transcript(tmp_path / "s1.jsonl", Path("/home/dev/elsewhere"), "s1")
    run_json("learn", "--project-dir", str(project), str(file))
    (skill,) = run_json("list", "--candidates")
    assert skill["scope"] == project_key(project_root(project))


def test_one_unreadable_file_does_not_stop_the_others(
    run: Run, run_json: RunJson, project: Path, tmp_path: Path
) -> None:
    bad = tmp_path / "bad.jsonl"
    bad.write_bytes(b"\x00\x01 not a transcript")
    good = write_transcript(tmp_path / "s1.jsonl", project, "s1")
    result = run("learn", str(bad), str(good), code=6)
    assert "1 of 2 files failed" in result.stderr
    assert str(bad) in result.stdout
    assert len(run_json("list", "--candidates")) == 1
