"""What is Claude Code's own: its Skill tool, its stream, and the reviewer that it lends."""

from __future__ import annotations

import copy
import subprocess
from typing import Any

import pytest
from claude_sandbox import ClaudeSandbox
from scripted_api import Body, Turn, request_text
from scripted_messages_api import tool
from site_build import PROMPT, failing_then_passing, learn_fix, make_project

pytestmark = [pytest.mark.client, pytest.mark.process]


@pytest.fixture
def project(claude: ClaudeSandbox) -> ClaudeSandbox:
    make_project(claude.project)
    claude.init()
    return claude


def test_the_user_is_told_the_news_and_the_model_loads_the_skill(project: ClaudeSandbox) -> None:
    name = learn_fix(project)
    load = Turn("There is a skill for this.", [tool("Skill", skill=name)])
    project.api.script(load, Turn("Read it; done."))
    shown = ("--output-format", "stream-json", "--verbose", "--include-hook-events")
    done = subprocess.run(
        project.client_command("The site build fails again, have a look.", *shown),
        cwd=project.project, env=project.environment(), stdin=subprocess.DEVNULL,
        capture_output=True, text=True, timeout=120, check=True,
    )  # fmt: skip
    opening, after_load = map(request_text, project.session_requests()[:2])
    assert f"skill-learner show {name}" in done.stdout
    assert f"skill-learner show {name}" not in opening
    assert "E417" in after_load
    assert "Base directory for this skill" in after_load
    (used,) = [row for row in project.json("stats")["skills"] if row["name"] == name]
    assert used["uses"] == 1


ANSWER: dict[str, Any] = {
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


def is_review(body: Body) -> bool:
    return any(offered["name"] == "StructuredOutput" for offered in body.get("tools") or [])


def test_the_claude_cli_provider_reviews_without_leaving_a_trace(project: ClaudeSandbox) -> None:
    answer = copy.deepcopy(ANSWER)
    answer["skills"][0]["evidence"] = [
        {"claim": "the build stops with E417", "steps": [2, 3]},
        {"claim": "the key was added and the build passed", "steps": [5, 6, 7, 8]},
        {"claim": "the check passes", "steps": [6, 7, 8, 9, 10, 11]},
    ]
    session = project.play(
        PROMPT,
        Turn(calls=[tool("StructuredOutput", **answer)], only_if=is_review),
        *failing_then_passing(project),
        SKILL_LEARNER_PROVIDER="claude-cli",
    )
    job = project.wait_for_review(session)
    assert job["status"] == "done", job

    reviews = [body for body in project.api.requests if is_review(body)]
    assert len(reviews) == 1, "one request, one structured answer"
    assert "E417" in request_text(reviews[0])
    (skill,) = project.json("list", "--all")
    assert (skill["name"], skill["state"]) == ("site-build-needs-manifest", "active")
    assert list(project.journals()) == [session], "the review fired no hook"
    transcripts = list((project.home / ".claude" / "projects").rglob("*.jsonl"))
    assert [path.stem for path in transcripts] == [session]
    spend = project.json("stats", "--spend")
    assert spend["today"]["reviews"] == 1
    assert spend["today"]["tokens"] > 0
