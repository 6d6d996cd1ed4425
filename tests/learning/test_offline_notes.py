"""Notes without a model: what they hold, and what never gets into one."""

from __future__ import annotations

import re

import pytest
from session_builder import SessionBuilder

from skill_learner.interfaces import ReviewRequest
from skill_learner.learning.episodes import find_episodes
from skill_learner.learning.gate import decide
from skill_learner.learning.gate_policy import GatePolicy
from skill_learner.models import CreateSkill, Digest, Review, Session
from skill_learner.reviewers.note_texts import TEXTS
from skill_learner.reviewers.offline import OfflineReviewer

ERROR = "Traceback (most recent call last):\nValueError: bad option 'x' in build.toml"


def review(session: Session) -> tuple[CreateSkill, ...]:
    request = ReviewRequest(session, Digest("", 0, frozenset()), find_episodes(session), ())
    found = OfflineReviewer().review(request)
    assert bool(found.proposals) != bool(found.nothing_because)
    assert all(isinstance(one, CreateSkill) for one in found.proposals)
    return found.proposals  # type: ignore[return-value]


def _fixed(human: str = "build it", error: str = ERROR) -> SessionBuilder:
    failing = SessionBuilder().human(human).bash("python build.py", error, "failed")
    again = failing.bash("python build.py", error, "failed")
    return again.edit("build.toml", 'mode = "x"', 'mode = "fast"').bash("python build.py", "ok")


def test_a_fixed_failure_says_what_failed_what_changed_and_what_passed() -> None:
    (note,) = review(_fixed().session())
    assert note.description.startswith("Use when `python build.py` fails with: ValueError: bad")
    assert len(note.description) <= 400
    for part in ("## When", "ValueError: bad option 'x' in build.toml", "## What worked",
                 "`build.toml`", 'mode = "fast"', "not verified", "## Check",
                 "`python build.py` passed."):  # fmt: skip
        assert part in note.body
    assert re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", note.name)
    assert not note.explicit
    assert all(claim.steps and claim.text in note.body for claim in note.evidence)


def test_the_humans_words_are_kept_letter_by_letter() -> None:
    words = "Always use pnpm in this repository, never npm"
    (rule,) = review(SessionBuilder().human(words).session())
    assert rule.explicit
    assert f"> {words}" in rule.body
    worked = SessionBuilder().human("add it").edit("web/page.ts").assistant("Done.")
    wrong = "That's wrong, the port is set in the env file"
    (note,) = review(worked.human(wrong).session())
    assert not note.explicit
    assert f"> {wrong}" in note.body
    assert "`web/page.ts`" in note.description


@pytest.mark.parametrize(
    ("human", "start", "heading"),
    [
        ("Bitte baue das Projekt, es ist nicht fertig", "Verwenden, wenn", "## Was geholfen hat"),
        ("Construis le projet et corrige les erreurs", "À utiliser quand", "## Ce qui a marché"),
        ("プロジェクトをビルドしてください", "`python build.py`", "## うまくいったこと"),
    ],
)
def test_notes_follow_the_humans_language(human: str, start: str, heading: str) -> None:
    (note,) = review(_fixed(human).session())
    assert note.description.startswith(start)
    assert heading in note.body
    assert note.name.isascii()


def test_every_language_has_every_text_with_the_same_fields() -> None:
    assert len(TEXTS) >= 10
    fields = {key: sorted(re.findall(r"\{\w+\}", text)) for key, text in TEXTS["en"].items()}
    for code, texts in TEXTS.items():
        own = {key: sorted(re.findall(r"\{\w+\}", text)) for key, text in texts.items()}
        lacking = {"failed_again"}  # some languages name the command there, some do not
        for key in fields.keys() - lacking:
            assert own[key] == fields[key], (code, key)


def test_machine_paths_ids_and_secrets_stay_out() -> None:
    token = "ghp_" + "a1B2c3D4e5" * 4
    sha = "9f86d081884c7d659a2feaa0c55ad015a3bf4f1b"
    error = (
        f"/home/jane.doe/shop/b.py:3: ValueError: bad token {token} of jane.doe@example.org"
        f" at {sha} in /tmp/build-8123/out 123e4567-e89b-12d3-a456-426614174000"
    )
    (note,) = review(_fixed(error=error).session())
    everything = note.name + note.description + note.body + "".join(c.text for c in note.evidence)
    for leak in (token, sha, "jane", "/tmp/build", "123e4567", "/work/shop"):
        assert leak not in everything, leak


@pytest.mark.parametrize(
    "error",
    [
        "main.go:19:13: G304: Potential file inclusion via variable (gosec)",
        "src/a.ts:1:2 warning Unexpected any @typescript-eslint/no-explicit-any",
        "README.md:3:81 error MD013/line-length Line length",
        "app.py:1:1: F401 'os' imported but unused",
    ],
)
def test_a_linters_finding_is_its_own_documentation(error: str) -> None:
    session = SessionBuilder().bash("make lint", f"{error}\n1 error", "failed").edit("a")
    assert review(session.bash("make lint", "0 issues").session()) == ()


def test_a_programs_own_error_number_is_no_linters_code() -> None:
    error = "BuildError: E417 the pipeline has no manifest"
    session = SessionBuilder().bash("make site", error, "failed").edit("site.yaml")
    (note,) = review(session.bash("make site", "built 12 pages").session())
    assert error in note.body


def test_a_red_test_made_green_by_one_edit_is_ordinary_work() -> None:
    red = SessionBuilder().bash("pytest", "E   AssertionError: assert 1 == 2", "failed")
    assert review(red.edit("a.py").bash("pytest", "1 passed").session()) == ()


def test_talk_about_a_plan_is_no_rule() -> None:
    words = "I don't want it to be called shop-tab, use shop-tap instead of that"
    plan = SessionBuilder().human("plan it").rejected("ExitPlanMode", {"plan": "…"}, words)
    assert review(plan.session()) == ()
    refused = SessionBuilder().human("go").rejected("Bash", {"command": "npm i"}, words)
    assert len(review(refused.session())) == 1


def test_answered_questions_are_left_to_a_model() -> None:
    asked = SessionBuilder().human("There is a file nul here that I'm unable to remove, can you?")
    assert review(asked.bash("del-nul --force x", "").session()) == ()


BARE_ORDERS = [
    "remember this please",
    "Great, please remember this fix for next time.",
    "save this as a skill",
    "Merk dir das bitte",
    "Super, merk dir die Lösung für das nächste Mal!",
    "souviens-toi de ça s'il te plaît",
    "recuerda esto por favor",
    "zapamiętaj to proszę",
    "запомни это, пожалуйста",
    "これを覚えておいてください",
    "请记住这个方法",
    "이것을 기억해 주세요",
    "bunu unutma lütfen",
]


@pytest.mark.parametrize("words", BARE_ORDERS)
def test_an_order_that_only_points_at_something_is_no_note(words: str) -> None:
    assert review(SessionBuilder().human(words).session()) == ()


@pytest.mark.parametrize("words", BARE_ORDERS)
def test_an_order_that_only_points_at_something_is_the_word_for_what_was_found(words: str) -> None:
    session = _fixed().human(words).session()
    (note,) = review(session)
    assert note.explicit
    assert "bad option 'x'" in note.description
    policy = GatePolicy(approval="evidence", origin="offline", project_key="shop-1")
    (decision,) = decide(Review("", (note,)), session, (), policy)
    assert decision.verdict == "active"


def test_a_fix_after_the_order_is_not_what_it_pointed_at() -> None:
    (note,) = review(_fixed("remember this please").session())
    assert not note.explicit


def test_an_order_with_words_of_its_own_stays_a_rule_of_its_own() -> None:
    rules = [
        "please remember: the API lives in apps/api",
        "Remember to run lint",
        "请记住:测试用 make check 运行",
        "The cache breaks the build. Remember this.",
    ]
    for words in rules:
        (note,) = review(SessionBuilder().human(words).session())
        assert note.explicit
        assert f"> {words}" in note.body
