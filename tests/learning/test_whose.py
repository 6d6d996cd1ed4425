"""Whose a new skill is, told by what it names."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from session_builder import SessionBuilder

from skill_learner.learning.gate import GatePolicy, decide
from skill_learner.learning.whose import whose
from skill_learner.models import Claim, CreateSkill, Decision, Review, Session

KEY = "shop-1"
LLM = GatePolicy("evidence", "llm:test", KEY)


def _session(human: str = "make it pass") -> Session:
    return (
        SessionBuilder("one", "/srv/acme-billing")
        .human(human)
        .bash("npm test && npm run gen:prices && make ledger", "error: EADDRINUSE", "failed")
        .bash("./scripts/seed --all && git fetch origin/main", "ok")
        .bash("go get github.com/acme/tool && cat package.json src/main.ts", "ok")
        .edit("src/tax/rates.ts")
        .bash("npm test && npm run gen:prices && make ledger", "12 passed")
        .session()
    )


def _draft(text: str, **changes: Any) -> CreateSkill:
    fix = (Claim("it fails and then passes", (2, 5, 6)),)
    return replace(CreateSkill("a-lesson", "Use when a port is in use.", text, fix), **changes)


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("Look at `src/tax/rates.ts` first.", "src/tax/rates.ts"),
        ("Look at `rates.ts` first.", "rates.ts"),
        ("Run `./scripts/seed --all`.", "./scripts/seed"),
        ("Run `npm run gen:prices` before.", "gen:prices"),
        ("Then `make ledger` passes.", "ledger"),
        ("In acme-billing the port is fixed.", "acme-billing"),
        ("In this repository the port is fixed.", "says so itself"),
    ],
)
def test_what_names_files_or_tools_of_the_project_is_the_projects(text: str, named: str) -> None:
    scope, why = whose(_draft(text), _session(), KEY)
    assert (scope, named in why) == (KEY, True), why


@pytest.mark.parametrize(
    "text",
    [
        "Free the port: `lsof -ti :3000 | xargs kill`, then `npm test`.",
        "Set the port in `package.json`, and look at `src/main.ts`.",
        "`go get github.com/acme/tool` pins it; rebase on `origin/main`.",
        "Make sure that nothing listens, and run `make test`.",
        "Look at `lib/tax/other.py` of the framework.",
    ],
)
def test_what_any_project_has_makes_it_nobodys_own(text: str) -> None:
    scope, why = whose(_draft(text), _session(), KEY)
    assert (scope, "no file and no tool" in why) == ("user", True), why


@pytest.mark.parametrize(
    ("words", "scope"),
    [
        ("Remember: always use pnpm, never npm.", KEY),
        ("Remember: in all my projects use pnpm, never npm.", "user"),
    ],
)
def test_a_persons_word_stays_in_the_project_unless_they_speak_of_all(
    words: str, scope: str
) -> None:
    draft = _draft("Use pnpm, never npm.", evidence=(Claim("said", (1,)),))
    assert whose(draft, _session(words), KEY)[0] == scope


def test_without_a_project_it_is_the_users() -> None:
    session = replace(_session(), project="")
    assert whose(_draft("Look at `rates.ts`."), session, "user") == ("user", "")


# -- the gate says it, and puts descriptions in order --------------------------------------------


def _decided(**changes: Any) -> tuple[CreateSkill, Decision]:
    session = (
        SessionBuilder()
        .human("make it build")
        .bash("cargo build", "error: linker `cc` not found", "failed")
        .bash("apt-get install -y gcc", "done")
        .bash("cargo build", "Finished in 3.1 s")
        .session()
    )
    draft = CreateSkill(
        "linker-missing",
        "Use when `cargo build` fails with linker `cc` not found.",
        "1. `apt-get install -y gcc`\n\n## Check\n`cargo build` passes.\n",
        (Claim("fails, then passes", (2, 3, 4)),),
        0.9,
    )
    (decision,) = decide(Review("", (replace(draft, **changes),)), session, (), LLM)
    assert isinstance(decision.proposal, CreateSkill)
    return decision.proposal, decision


def test_the_gate_tells_whose_it_is_and_why() -> None:
    skill, decision = _decided()
    assert (decision.verdict, skill.scope) == ("active", "user")
    assert "for all projects" in skill.why
    assert any("for all projects" in reason for reason in decision.reasons)


def test_a_models_description_is_put_in_order() -> None:
    skill, _ = _decided(
        description="Installs gcc. Use when `cargo build` fails with linker `cc` not found."
    )
    assert skill.description.startswith("Use when `cargo build` fails")
    skill, decision = _decided(description="The linker is no part of the toolchain.")
    assert skill.description.startswith("Use when `cargo build` fails with: error: linker")
    assert skill.description.endswith("The linker is no part of the toolchain.")
    assert any("put in order" in reason for reason in decision.reasons)
    assert decision.verdict == "active"


def test_what_cannot_be_mended_holds_it_and_is_told() -> None:
    words = "Use when the linker is missing, " + "which cargo build needs, " * 20
    skill, decision = _decided(description=words.rstrip(", "))
    assert decision.verdict == "candidate"
    assert "its description may not trigger: it has" in skill.why
