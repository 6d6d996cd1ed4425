"""Digests of the shared recorded sessions keep the facts that matter."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from skill_learner.learning.digest import build_digest, split_session
from skill_learner.learning.redaction import Redactor
from skill_learner.transcripts import read_transcript

_NAMED = os.environ.get("SKILL_LEARNER_SHARED")
SHARED = Path(_NAMED) if _NAMED else Path(__file__).resolve().parents[2].parent / "shared"
FACTS = {
    "go-cli-slow-exit": [
        "ENTIRE_TELEMETRY_OPTOUT=1",
        "ShutdownTimeout",
        "BatchUploadTimeout: 200",
        "ResponseHeaderTimeout",
        "go doc github.com/posthog/posthog-go Logger",
        "missing method",
    ],
    "markdownlint-mdx-windows": [
        "front_matter_title",
        "[System.IO.File]::WriteAllText",
        'npx -y markdownlint-cli2 --config .markdownlint-cli2.yaml "website/**/*.mdx"',
        "npm run build",
        "MD053",
        "1589",
    ],
    "goreleaser-homebrew-tap": [
        "actions/create-github-app-token",
        "{{ .Env.TAP_GITHUB_TOKEN }}",
        "directory: Formula",
        "have you make it up",
    ],
    "lint-todo-closed-wrongly": [
        "pnpm api:generate",
        "eslint . --fix",
        "pnpm --filter api test -- auth.controller.spec",
        "No tests found, exiting with code 0",
        "warnings are still there",
    ],
    "delete-nul-file-windows": [r"Remove-Item -LiteralPath '\\?\<project>\nul' -Force"],
    "nothing-invented-option": ["retry"],
    "nothing-licence-file": ["REJECTED BY HUMAN: Entire Inc."],
}

pytestmark = pytest.mark.skipif(
    not (SHARED / "transcripts").is_dir(), reason="the shared transcripts are not here"
)


@pytest.mark.parametrize("name", FACTS)
def test_facts_survive_within_the_budget(name: str) -> None:
    session = read_transcript(SHARED / "transcripts" / f"{name}.jsonl")
    digest = build_digest(session, redactor=Redactor())
    assert digest.tokens <= 24_000
    assert [fact for fact in FACTS[name] if fact not in digest.text] == []
    assert digest.shown == {step.number for step in session.steps}
    assert split_session(session) == (session,)


@pytest.mark.parametrize("name", FACTS)
def test_homes_and_users_are_gone(name: str) -> None:
    session = read_transcript(SHARED / "transcripts" / f"{name}.jsonl")
    text = build_digest(session, redactor=Redactor()).text
    assert re.findall(r"/(?:home|Users)/\w+|[A-Z]:\\Users\\\w+", text) == []
    assert re.findall(r"\w@[\w-]*(?:MacBook|Mac|Machine)", text) == []
