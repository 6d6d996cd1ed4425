"""Proposals that only the user may decide, and what they rejected, over several reviews."""

from __future__ import annotations

import re
from typing import Any

from currency_fix import FIX, Journal, MakeServices, run

from skill_learner.pipeline import run_jobs
from skill_learner.reviewers.llm import LLMReviewer
from skill_learner.testing import ScriptedLLM, ScriptedRequest
from skill_learner.user_decisions import reject_skill


def answer(*skills: dict[str, Any]) -> dict[str, Any]:
    return {"outcome": "done", "skills": list(skills), "nothing_because": ""}


def test_a_patch_without_a_proved_fix_waits_for_the_user(
    make_services: MakeServices, journal: Journal
) -> None:
    run(make_services, journal, "s1", answer(FIX))

    def patch(request: ScriptedRequest) -> dict[str, Any]:
        base_hash = re.search(r"base_hash: ([0-9a-f]{64})", request.messages[1]["content"])
        assert base_hash is not None
        change = {
            "action": "patch",
            "name": "set-shop-currency",
            "base_hash": base_hash[1],
            "old": "prints `1 passed`.",
            "new": "prints `1 passed` for the currency settings.",
            "evidence": [{"claim": "it passed", "steps": [4]}],
            "confidence": 0.9,
        }
        return answer(change)

    job = run(make_services, journal, "s2", patch)
    library = make_services().library
    (parked,) = library.proposals.all()
    assert (parked.kind, parked.skill) == ("patch", "set-shop-currency")
    assert "a proved fix or the human's word" in parked.why[0]
    assert [proof.step for proof in parked.proofs] == [4]
    assert "a proposal for set-shop-currency waits" in job.detail
    assert job.result["parked"] == ["set-shop-currency"]
    assert "for the currency" not in library.get("set-shop-currency").body


def test_what_the_user_rejected_is_not_made_again(
    make_services: MakeServices, journal: Journal
) -> None:
    run(make_services, journal, "s1", answer(FIX))
    library = make_services().library
    assert [proof.step for proof in library.proofs.of("set-shop-currency")] == [2, 3, 4]
    reject_skill(library, library.get("set-shop-currency"), "not us")
    job = run(make_services, journal, "s2", answer({**FIX, "name": "another-name"}))
    assert [one.state for one in library.list(("active", "candidate", "archived"))] == ["archived"]
    assert "the user rejected this before" in job.result["decisions"][0]["reasons"][0]


def test_the_cap_makes_candidates(make_services: MakeServices, journal: Journal) -> None:
    run(make_services, journal, "s1", answer(FIX))
    other = {
        **FIX,
        "name": "bread",
        "description": "Use when baking in settings.toml.",
        "body": "## Steps\n1. Write `settings.toml` by hand.\n",
    }
    journal.fixed_failure("s2")
    journal.request("session_end", "s2")
    reviewer = LLMReviewer(ScriptedLLM(answer(other)), "scripted", "m")
    run_jobs(make_services(reviewer, max_active_skills=1))
    skill = make_services().library.get("bread")
    assert skill.state == "candidate"
    assert "the cap" in make_services().library.history("bread")[0].why


def test_a_pinned_candidate_is_retired_by_the_user_only(
    make_services: MakeServices, journal: Journal
) -> None:
    waiting = {**FIX, "evidence": [{"claim": "the test passed", "steps": [4]}]}
    run(make_services, journal, "s1", answer(waiting))
    library = make_services().library
    assert library.get("set-shop-currency").state == "candidate"
    library.pins.set("set-shop-currency", True)
    wish = {
        "action": "archive",
        "name": "set-shop-currency",
        "reason": "the key is gone",
        "evidence": [{"claim": "it passed", "steps": [4]}],
        "confidence": 0.9,
    }
    run(make_services, journal, "s2", answer(wish))
    assert library.get("set-shop-currency").state == "candidate"
    assert [one.kind for one in library.proposals.all()] == ["archive"]
