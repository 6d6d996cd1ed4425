"""A giant session is reviewed in parts, each within the reviewer's window."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from session_builder import SessionBuilder

from skill_learner.models import Review
from skill_learner.pipeline import PipelineServices
from skill_learner.pipeline.learn import learn_from
from skill_learner.pipeline.parts import joined
from skill_learner.reviewers.llm import LLMReviewer
from skill_learner.testing import ScriptedLLM

MakeServices = Callable[..., PipelineServices]
NOTHING = {"outcome": "done", "skills": [], "nothing_because": "known already"}
CHAPTERS = 12
LONG = "line of output\n" * 150


def giant(*, with_fix_in: int | None = None) -> SessionBuilder:
    session = SessionBuilder("giant")
    for chapter in range(CHAPTERS):
        session.human(f"chapter {chapter}")
        if chapter == with_fix_in:
            session.bash("make site", "SiteError: the manifest is missing", "failed")
            session.edit("site.yaml").bash("make site", "built 12 pages")
        for number in range(20):
            session.bash(f"./report --number {number}", LONG)
    return session


def requests(make_services: MakeServices, session: SessionBuilder, **more: Any) -> list[str]:
    llm = ScriptedLLM(*[NOTHING] * CHAPTERS)
    learn_from(make_services(LLMReviewer(llm, "scripted", "m")), session.session(), **more)
    return [str(request.messages[1]["content"]) for request in llm.requests]


def test_every_chapter_is_shown_in_some_part(make_services: MakeServices) -> None:
    shown = requests(make_services, giant(), review_when="always")
    assert len(shown) > 1
    for chapter in range(CHAPTERS):
        assert sum(f"HUMAN: chapter {chapter}\n" in text for text in shown) == 1


def test_only_the_part_with_something_non_obvious_is_sent(make_services: MakeServices) -> None:
    (shown,) = requests(make_services, giant(with_fix_in=7))
    assert "HUMAN: chapter 7\n" in shown
    assert "the manifest is missing" in shown


def test_reviews_of_parts_are_one_review() -> None:
    whole = joined([Review("a", (), "known"), Review("b", (), "known"), Review("c", (), "dull")])
    assert (whole.outcome, whole.nothing_because) == ("a; b; c", "known; dull")
