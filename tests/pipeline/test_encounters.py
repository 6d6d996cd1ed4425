"""What a session says about when its skills are wanted is kept with them."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from skill_learner.learning.redaction import Redactor
from skill_learner.learning.signatures import error_fragments
from skill_learner.models import (
    Claim,
    CreateSkill,
    Decision,
    Episode,
    Review,
    Session,
    Step,
    ToolCall,
)
from skill_learner.pipeline.encounters import remember_encounters
from skill_learner.pipeline.outcome import JobOutcome, SkillChange
from skill_learner.skills.library import SkillLibrary
from skill_learner.usage import OfferCount, UsageStore

SECRET = "q7Zp-Wv82-kLmN44-Rt0b"
ERROR = "BuildError: E417 asset pipeline has no manifest: set `manifest` in site.yaml"


def tool(number: int, name: str, status: Any, **given: str) -> Step:
    return Step(number, "tool", "", ToolCall(f"c{number}", name, given, "out", status))


def session(*steps: Step) -> Session:
    return Session("s1", "claude-code", "/p", steps)


def services(tmp_path: Path) -> Any:
    library = SkillLibrary(tmp_path / "skills")
    usage = UsageStore(tmp_path / "usage.sqlite")
    draft = CreateSkill("site-manifest", "Use when the site build fails", "Set it.\n", ())
    library.create(draft, state="active", scope="user", project_slug="p", origin="o", session="s0")
    return SimpleNamespace(library=library, usage=usage)


def nothing() -> JobOutcome:
    return JobOutcome(
        episodes=(), review=Review("", (), "x"), decisions=(), skills_written=(), detail=""
    )


def test_a_load_keeps_the_words_before_it_and_how_it_ended(tmp_path: Path) -> None:
    given = services(tmp_path)
    took_place = session(
        Step(1, "human", f"Publish the handbook with {SECRET}"),
        tool(2, "Bash", "failed", command="make site"),
        Step(3, "human", "Why does the page assembly stop half-way?"),
        tool(4, "Skill", "ok", skill="site-manifest"),
        tool(5, "Bash", "ok", command="make  site"),
        tool(6, "Skill", "ok", skill="not-ours"),
    )
    remember_encounters(given, took_place, nothing(), (), Redactor([SECRET]))
    asks = given.library.get("site-manifest").asks
    assert asks[0] == "Why does the page assembly stop half-way?"
    assert "Publish the handbook" in asks[1]
    assert SECRET not in asks[1]
    assert given.usage.offers() == {"site-manifest": OfferCount(helped=1)}


def test_a_load_after_which_the_check_still_fails_did_not_help(tmp_path: Path) -> None:
    given = services(tmp_path)
    took_place = session(
        tool(1, "Bash", "failed", command="make site"),
        tool(2, "Skill", "ok", skill="site-manifest"),
        tool(3, "Bash", "failed", command="make site"),
    )
    remember_encounters(given, took_place, nothing(), (), Redactor())
    assert given.usage.offers() == {"site-manifest": OfferCount(failed=1)}


def test_a_new_skill_keeps_its_asks_its_phrasings_and_its_error(tmp_path: Path) -> None:
    given = services(tmp_path)
    proposal = CreateSkill(
        "site-manifest", "d", "b", (Claim("c", (2, 3)),), asks=("assets vanish on release",)
    )
    outcome = JobOutcome(
        episodes=(),
        review=Review("", (proposal,)),
        decisions=(Decision(proposal, "active", ("proved",)),),
        skills_written=(SkillChange("site-manifest", "active", "created"),),
        detail="",
    )
    episode = Episode("fixed_failure", (2, 3), "t", "k", "r", error=ERROR)
    took_place = session(
        Step(1, "human", "Please get the site build to work."),
        tool(2, "Bash", "failed", command="make"),
        tool(3, "Bash", "ok", command="make"),
    )
    remember_encounters(given, took_place, outcome, (episode,), Redactor())
    known = given.library.encounters.of("site-manifest")
    assert known.asks == ("Please get the site build to work.", "assets vanish on release")
    assert known.errors == (
        ("builderror: e", "asset pipeline has no manifest: set", "in site.yaml"),
    )


def test_fragments_of_errors_leave_out_what_varies() -> None:
    told = error_fragments(["src/a.py:17: error: Name 'foo' is not defined at 0x7ffe"])
    assert "".join(told).find("foo") < 0
    assert any("is not defined" in part for part in told)
    assert error_fragments(["exit 3"]) == ()
    assert error_fragments([]) == ()


def test_the_same_check_counts_however_it_is_run(tmp_path: Path) -> None:
    given = services(tmp_path)
    took_place = session(
        tool(1, "Bash", "failed", command="npm test"),
        tool(2, "Skill", "ok", skill="site-manifest"),
        tool(3, "Bash", "ok", command="ls src"),
        tool(4, "Bash", "ok", command="cd web && npm test --silent"),
    )
    remember_encounters(given, took_place, nothing(), (), Redactor())
    assert given.usage.offers() == {"site-manifest": OfferCount(helped=1)}


def test_what_hides_its_exit_code_tells_no_outcome(tmp_path: Path) -> None:
    given = services(tmp_path)
    took_place = session(
        tool(1, "Bash", "failed", command="npm test"),
        tool(2, "Skill", "ok", skill="site-manifest"),
        tool(3, "Bash", "ok", command="npm test | tail -5"),
    )
    remember_encounters(given, took_place, nothing(), (), Redactor())
    assert given.usage.offers() == {}
