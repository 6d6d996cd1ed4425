"""A session goes in, a proved skill comes out, the next session uses it: on the real client."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest
from client_sandbox import Sandbox, wait_until
from scripted_messages_api import Turn, bash, request_text

pytestmark = [pytest.mark.client, pytest.mark.process]

BUILD = "python3 tools/build.py"
BROKEN = "assets: public\n"
FIXED = "assets: public\nmanifest: public/manifest.json\n"


def make_project(project: Path) -> None:
    """A build that fails for a reason one has to find once: the manifest key is missing."""
    (project / "tools").mkdir(exist_ok=True)
    (project / "tools" / "build.py").write_text(
        "import sys, pathlib\n"
        "config = pathlib.Path('site.yaml').read_text()\n"
        "if 'manifest:' not in config:\n"
        "    sys.exit('BuildError: E417 asset pipeline has no manifest:'\n"
        "             ' set `manifest` in site.yaml')\n"
        "print('built 12 pages')\n"
    )
    (project / "site.yaml").write_text(BROKEN)


def failing_then_passing(project: Path) -> list[Turn]:
    config = str(project / "site.yaml")
    return [
        Turn("Building.", [bash(BUILD)]),
        Turn("Once more.", [bash(BUILD)]),
        Turn("Looking at the configuration.", [("Read", {"file_path": config})]),
        Turn("Adding it.", [("Edit", {
            "file_path": config, "old_string": BROKEN.strip(), "new_string": FIXED.strip(),
        })]),
        Turn("Again.", [bash(BUILD)]),
        Turn("The build passes now."),
    ]  # fmt: skip


def play_fix(sandbox: Sandbox, **environment: str) -> str:
    (sandbox.project / "site.yaml").write_text(BROKEN)
    sandbox.api.script(*failing_then_passing(sandbox.project))
    result = sandbox.ask("Please get the site build to work.", **environment)
    assert not result["is_error"], result
    assert FIXED.strip() in (sandbox.project / "site.yaml").read_text()
    return str(result["session_id"])


def tree(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and ".git" not in path.relative_to(folder).parts[:1]
    }


def main_requests(sandbox: Sandbox) -> list[dict[str, Any]]:
    return [body for body in sandbox.api.requests if body.get("tools")]


@pytest.fixture
def project(sandbox: Sandbox) -> Sandbox:
    make_project(sandbox.project)
    sandbox.run("init", "--target", "claude-code")
    return sandbox


@pytest.fixture
def learned(project: Sandbox) -> tuple[Sandbox, str]:
    """A project in which two sessions have proved the same fix."""
    project.wait_for_review(play_fix(project))
    project.wait_for_review(play_fix(project))
    (skill,) = project.json("list")
    return project, skill["name"]


def test_two_sessions_prove_a_skill(project: Sandbox) -> None:
    first = play_fix(project)
    project.wait_for_review(first)
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "candidate"
    assert not (project.project / ".claude" / "skills" / skill["name"]).exists()

    second = play_fix(project)
    project.wait_for_review(second)
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "active"

    text = (project.project / ".claude" / "skills" / skill["name"] / "SKILL.md").read_text()
    assert "E417" in text
    assert BUILD in text
    assert "site.yaml" in text
    assert str(project.home) not in text
    git_status = subprocess.run(
        ["git", "status", "--porcelain", "-uall"],
        cwd=project.project, capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    assert skill["name"] not in git_status


def test_the_next_session_is_shown_the_skill_and_its_use_is_counted(
    learned: tuple[Sandbox, str],
) -> None:
    sandbox, name = learned
    sandbox.api.script(
        Turn("There is a skill for this.", [("Skill", {"skill": name})]),
        Turn("Read it; done."),
    )
    sandbox.ask("The site build fails again, have a look.")
    opening, after_load = main_requests(sandbox)[:2]
    listing = request_text(opening)
    assert f"- {name}:" in listing, "the client's own skill listing"
    assert "skill-learner search" in listing, "the index block of CLAUDE.md"
    assert listing.count(name) >= 2, "listed by the client and by CLAUDE.md"
    assert "E417" in request_text(after_load)
    assert "Base directory for this skill" in request_text(after_load)

    (used,) = [row for row in sandbox.json("stats")["skills"] if row["name"] == name]
    assert used["uses"] == 1


def test_the_start_of_a_session_tells_the_user_not_the_model(learned: tuple[Sandbox, str]) -> None:
    sandbox, name = learned
    sandbox.api.script(Turn("Hello."))
    done = subprocess.run(
        sandbox.client_command(
            "-p", "hello", "--output-format", "stream-json", "--verbose", "--include-hook-events"
        ),
        cwd=sandbox.project, env=sandbox.environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    assert f"skill-learner show {name}" in done.stdout
    assert f"skill-learner show {name}" not in request_text(main_requests(sandbox)[0])


ANSWER = {
    "outcome": "The build failed for want of a manifest key and passes with it (done and checked).",
    "skills": [
        {
            "action": "create",
            "name": "site-build-needs-manifest",
            "description": "Use when `python3 tools/build.py` stops with BuildError E417, asset "
            "pipeline has no manifest.",
            "body": "## When\n`python3 tools/build.py` prints `BuildError: E417 asset pipeline has "
            "no manifest`.\n\n## Steps\n1. Add `manifest: public/manifest.json` to `site.yaml`.\n\n"
            "## Check\n`python3 tools/build.py` prints `built 12 pages`.\n",
            "evidence": [],
            "confidence": 0.9,
        }
    ],
    "nothing_because": "",
}


def reviewer_answer(body: dict[str, Any]) -> bool:
    return any(tool["name"] == "StructuredOutput" for tool in body.get("tools") or [])


def test_the_claude_cli_provider_reviews_without_leaving_a_trace(project: Sandbox) -> None:
    steps = {"failed": [2, 3], "changed": [5], "passed": [6]}
    answer = json.loads(json.dumps(ANSWER))
    answer["skills"][0]["evidence"] = [
        {"claim": "the build stops with E417", "steps": steps["failed"]},
        {"claim": "the key was added and the build passed", "steps": [*steps["changed"], 6, 7, 8]},
        {"claim": "the check passes", "steps": [6, 7, 8, 9, 10, 11]},
    ]
    (project.project / "site.yaml").write_text(BROKEN)
    project.api.script(
        Turn(tools=[("StructuredOutput", answer)], only_if=reviewer_answer),
        *failing_then_passing(project.project),
    )
    result = project.ask("Please get the site build to work.", SKILL_LEARNER_PROVIDER="claude-cli")
    job = project.wait_for_review(str(result["session_id"]))
    assert job["status"] == "done", job

    reviews = [body for body in project.api.requests if reviewer_answer(body)]
    assert len(reviews) == 1, "one request, one structured answer"
    assert "E417" in request_text(reviews[0])
    (skill,) = project.json("list", "--all")
    assert (skill["name"], skill["state"]) == ("site-build-needs-manifest", "active")
    assert list(project.journals()) == [result["session_id"]], "the review fired no hook"
    transcripts = list((project.home / ".claude" / "projects").rglob("*.jsonl"))
    assert [path.stem for path in transcripts] == [result["session_id"]]
    spend = project.json("stats", "--spend")
    assert spend["today"]["reviews"] == 1
    assert spend["today"]["tokens"] > 0


def test_a_killed_client_is_recovered_by_the_next_session(project: Sandbox) -> None:
    (project.project / "site.yaml").write_text(BROKEN)
    turns = failing_then_passing(project.project)
    project.api.script(
        *turns[:-1], Turn("Waiting.", [bash("python3 -c 'import time; time.sleep(60)'")])
    )
    client = subprocess.Popen(
        project.client_command("-p", "Please get the site build to work."),
        cwd=project.project, env=project.environment(), stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True,
    )  # fmt: skip

    def sleeping() -> bool:
        journals = project.journals().values()
        return any(b"built 12 pages" in path.read_bytes() for path in journals)

    try:
        wait_until(sleeping, 60, project.state_report)
        time.sleep(0.5)  # the sleep must be under way: that is what "in mid-tool" means
    finally:
        os.killpg(client.pid, signal.SIGKILL)
        client.wait(timeout=10)
    (killed,) = project.journals()
    assert b'"SessionEnd"' not in project.journals()[killed].read_bytes()

    project.api.script(Turn("Hello."))
    project.ask("hello")
    job = project.wait_for_review(killed)
    assert job["status"] == "done", job
    (skill,) = project.json("list", "--all")
    assert skill["state"] == "candidate"


def test_two_sessions_at_once_keep_every_event(project: Sandbox) -> None:
    counts = [f"echo session-{who} step-{n}" for who in "ab" for n in range(5)]

    def mine(who: str) -> Any:
        return lambda body: bool(body.get("tools")) and f"worker-{who}" in request_text(body)

    turns = [Turn(tools=[bash(command)], only_if=mine(command[13])) for command in counts]
    project.api.script(*turns, Turn("done a", only_if=mine("a")), Turn("done b", only_if=mine("b")))
    clients = [
        subprocess.Popen(
            project.client_command("-p", f"worker-{who}", "--output-format", "json"),
            cwd=project.project, env=project.environment(), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for who in "ab"
    ]  # fmt: skip
    sessions = [json.loads(client.communicate(timeout=120)[0])["session_id"] for client in clients]
    assert len(set(sessions)) == 2
    for who, session in zip("ab", sessions, strict=True):
        job = project.wait_for_review(session)
        assert job["status"] == "done", job
        journal = project.journals()[session].read_text()
        records = [json.loads(line) for line in journal.splitlines() if line]
        used = [r["d"]["tool_input"]["command"] for r in records if r["e"] == "PostToolUse"]
        assert used == [f"echo session-{who} step-{n}" for n in range(5)]
        assert [r["e"] for r in records if r["e"] in {"SessionStart", "Stop", "SessionEnd"}] == [
            "SessionStart", "Stop", "SessionEnd",
        ]  # fmt: skip


def test_uninstall_leaves_a_session_without_a_trace(sandbox: Sandbox) -> None:
    make_project(sandbox.project)
    (sandbox.project / "CLAUDE.md").write_bytes(b"# House rules\r\nNo final newline")
    settings = sandbox.project / ".claude" / "settings.json"
    settings.parent.mkdir()
    settings.write_bytes(b'{\r\n\t"env": {"A": "1"}\r\n}')
    before = tree(sandbox.project)
    sandbox.run("init", "--target", "claude-code")
    sandbox.wait_for_review(play_fix(sandbox))
    sandbox.wait_for_review(play_fix(sandbox))
    sandbox.run("uninstall", "--target", "claude-code")
    (sandbox.project / "site.yaml").write_text(BROKEN)
    assert tree(sandbox.project) == before

    sandbox.api.script(Turn("Hello."))
    journals = len(sandbox.journals())
    sandbox.ask("hello")
    assert len(sandbox.journals()) == journals
    assert "skill-learner" not in request_text(main_requests(sandbox)[0])
