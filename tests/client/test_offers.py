"""What the real client sends on: suggestions where they fit, and a listing that fits."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from claude_sandbox import ClaudeSandbox
from scripted_api import Turn, request_text
from scripted_messages_api import bash

from skill_learner.models import CreateSkill
from skill_learner.project import project_key
from skill_learner.skills.library import SkillLibrary

pytestmark = [pytest.mark.client, pytest.mark.process]

OFFER = "skill-learner: learned from earlier sessions"
HINT = "skill-learner: this failure was met before"
SMALL_MODEL = "claude-sonnet-4-5"
"""A model with 200k tokens of context, whose listing has 8,000 characters."""

TOPICS = (
    ("pg-lock-timeout", "Use when a Postgres migration hangs on a lock in staging"),
    ("docker-layer-cache", "Use when docker build ignores the layer cache and reinstalls all"),
    ("grid-overflow", "Use when a CSS grid overflows its parent on narrow screens"),
    ("kafka-rebalance", "Use when Kafka consumers rebalance forever after a deploy"),
)


@pytest.fixture
def sandbox(claude: ClaudeSandbox) -> ClaudeSandbox:
    claude.init()
    return claude


def told_the_model(sandbox: ClaudeSandbox) -> str:
    """The last request's text with its line breaks."""
    return request_text(sandbox.api.requests[-1]).replace("\\n", "\n")


def fill(sandbox: ClaudeSandbox, skills: list[tuple[str, str]]) -> None:
    """Give the project skills; the last is approved by command, so that all are published."""
    library = SkillLibrary(sandbox.state / "skills")
    scope = project_key(Path(sandbox.project).resolve())
    for number, (name, description) in enumerate(skills, 1):
        library.create(
            CreateSkill(name, description, f"Do what {name} says.\n", ()),
            state="candidate" if number == len(skills) else "active",
            scope=scope,
            project_slug="p",
            origin="offline",
            session="s",
        )
    sandbox.run("approve", skills[-1][0])


def test_a_fitting_prompt_gets_a_suggestion_and_an_unrelated_one_nothing(
    sandbox: ClaudeSandbox,
) -> None:
    fill(sandbox, list(TOPICS))
    sandbox.play("Our Postgres migration hangs on a lock in staging again, why?", Turn("Looking."))
    told = told_the_model(sandbox)
    assert told.count(OFFER) == 1
    offered = told.partition(OFFER)[2]
    assert "- pg-lock-timeout: Use when a Postgres migration hangs" in offered
    assert "docker-layer-cache" not in offered.partition("\n- ")[2].partition("\n")[0]

    for unrelated in ("fix the typo in the README", "Write a short poem about the sea at night."):
        sandbox.play(unrelated, Turn("Fine."))
        assert OFFER not in told_the_model(sandbox)
    (row,) = [r for r in sandbox.json("stats")["skills"] if r["name"] == "pg-lock-timeout"]
    assert (row["offered"], row["loaded_when_offered"]) == (1, 0)


def test_a_known_failure_gets_a_hint_once(sandbox: ClaudeSandbox) -> None:
    fill(sandbox, list(TOPICS))
    library = SkillLibrary(sandbox.state / "skills")
    library.encounters.add(
        "kafka-rebalance", errors=[("commitfailederror: offset commit", "cannot be completed")]
    )
    sandbox.run("move", "grid-overflow", "--scope", "user")  # publishes the project anew
    fail = "echo 'CommitFailedError: Offset commit 17 cannot be completed' >&2; exit 3"
    sandbox.play(
        "Run the consumer.", Turn("One.", [bash(fail)]), Turn("Two.", [bash(fail)]), Turn("Done.")
    )
    told = told_the_model(sandbox)
    assert told.count(HINT) == 1
    assert "- kafka-rebalance: Use when Kafka consumers" in told.partition(HINT)[2]


def test_three_hundred_skills_keep_every_listed_description_whole(sandbox: ClaudeSandbox) -> None:
    described = [
        (f"lesson-{n}", f"Use when service number {n} of the fleet fails its start-up check {n}")
        for n in range(299)
    ]
    fill(sandbox, [*described, TOPICS[0]])
    sandbox.api.script(Turn("Hello."))
    sandbox.ask("hello", "--model", SMALL_MODEL)
    told = told_the_model(sandbox)
    listing = told.partition("available for use with the Skill tool")[2]
    descriptions = dict([*described, TOPICS[0]])
    listing = listing.partition("</system-reminder>")[0]
    entries = re.findall(r"^- ([\w-]+)(?:: (.*))?$", listing, re.M)
    listed = {name: text for name, text in entries if name in descriptions}
    assert len(listed) >= 5
    assert listed == {name: descriptions[name] for name in listed}
    (of_project, _) = sandbox.json("status")["listing"]
    assert {row["name"] for row in of_project["listed"]} == set(listed)
    assert len(of_project["left_out"]) == 300 - len(listed)
    assert all(row["why"] for row in of_project["left_out"])
