"""The whole way of a review by a model: request, gate, library."""

from __future__ import annotations

import re
from typing import Any

from currency_fix import FIX, Journal, MakeServices, run

from skill_learner.models import CreateSkill
from skill_learner.pipeline import run_jobs
from skill_learner.reviewers.llm import LLMReviewer
from skill_learner.testing import ScriptedLLM, ScriptedRequest

ANSWER = {"outcome": "done and checked", "skills": [FIX], "nothing_because": ""}


def test_a_proved_fix_is_active_at_once(make_services: MakeServices, journal: Journal) -> None:
    job = run(make_services, journal, "s1", ANSWER)
    (skill,) = make_services().library.list()
    assert (skill.name, skill.state) == ("set-shop-currency", "active")
    assert skill.origin == "llm:scripted"
    assert job.detail == "created set-shop-currency (active)"


def test_a_later_session_patches_what_it_was_shown(
    make_services: MakeServices, journal: Journal
) -> None:
    run(make_services, journal, "s1", ANSWER)
    shown: list[str] = []

    def patch(request: ScriptedRequest) -> dict[str, Any]:
        text = request.messages[1]["content"]
        shown.append(text)
        base_hash = re.search(r"base_hash: ([0-9a-f]{64})", text)
        assert base_hash is not None
        change = {
            "action": "patch",
            "name": "set-shop-currency",
            "base_hash": base_hash[1],
            "old": "prints `1 passed`.",
            "new": "prints `1 passed in 0.02s`.",
            "evidence": [{"claim": "it failed, then the run printed it", "steps": [2, 4]}],
            "confidence": 0.9,
        }
        return {"outcome": "done", "skills": [change], "nothing_because": ""}

    job = run(make_services, journal, "s2", patch)

    (skill,) = make_services().library.list()
    assert "prints `1 passed in 0.02s`." in skill.body, job.result["decisions"]
    assert skill.version == 2
    assert 'Add `currency = "EUR"`' in shown[0]


def test_a_proposal_that_the_session_does_not_prove_is_not_written(
    make_services: MakeServices, journal: Journal
) -> None:
    body = "## Steps\n1. Run `make frobnicate --all`.\n2. Set `SHOP_MODE=legacy`.\n"
    invented = {**FIX, "body": body}
    job = run(make_services, journal, "s1", {**ANSWER, "skills": [invented]})
    assert make_services().library.list() == []
    (decision,) = job.result["decisions"]
    assert decision["verdict"] == "reject"
    assert job.detail == "1 proposal(s) rejected"


def test_secrets_in_existing_skills_stay_at_home(
    make_services: MakeServices, journal: Journal
) -> None:
    token = "ghp_" + "Q1w2E3r4T5y6U7i8O9p0A1s2D3f4G5h6J7k8"[:36]
    services = make_services()
    draft = CreateSkill(
        "settings-of-the-shop",
        "Use when pytest fails with ValueError: currency code missing in settings.toml.",
        f"Run `pytest tests/test_cart.py` with the token {token}.\n",
        (),
    )
    services.library.create(
        draft, state="active", scope=journal.key, project_slug="p", origin="user", session=""
    )
    reviewer = LLMReviewer(
        ScriptedLLM({"outcome": "x", "skills": [], "nothing_because": "known"}), "scripted", "m"
    )
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")

    run_jobs(make_services(reviewer))

    (request,) = reviewer._provider.requests  # type: ignore[attr-defined]
    assert "settings-of-the-shop" in request.messages[1]["content"]
    assert token not in str(request.messages)
