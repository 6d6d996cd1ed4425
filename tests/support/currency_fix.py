"""What a model makes of the fix that the journals of these tests hold, and its review."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from skill_learner.jobs import Job
from skill_learner.pipeline import PipelineServices, run_jobs
from skill_learner.reviewers.llm import LLMReviewer
from skill_learner.testing import ScriptedLLM

Journal = Any
MakeServices = Callable[..., PipelineServices]

FIX = {
    "action": "create",
    "name": "set-shop-currency",
    "description": "Use when pytest fails with ValueError: currency code missing in settings.toml.",
    "body": (
        "## When\n`ValueError: currency code missing in settings.toml`\n\n"
        '## Steps\n1. Add `currency = "EUR"` to `settings.toml`.\n\n'
        "## Check\n`pytest tests/test_cart.py` prints `1 passed`.\n"
    ),
    "evidence": [{"claim": "the test passed after the change", "steps": [2, 3, 4]}],
    "confidence": 0.9,
}


def run(make_services: MakeServices, journal: Journal, session: str, *script: Any) -> Job:
    journal.fixed_failure(session)
    journal.request("session_end", session)
    services = make_services(LLMReviewer(ScriptedLLM(*script), "scripted", "m"))
    (job,) = run_jobs(services)
    return job
