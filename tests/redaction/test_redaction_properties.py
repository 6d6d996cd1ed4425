"""What holds for the redaction of any text."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from planted_secrets import Lot, plant

from skill_learner.learning.redaction import Redactor

FRAGMENTS = [
    *[case.text for case in plant(7)][::5],
    "password=", "token: ", "Bearer ", "://", "@", "/home/", "C:\\Users\\", "-----BE" + "GIN ",
    "PRIVATE KEY-----", "Author: A B <", "[user]\nname = ", "\\n", '\\"', "'", '"', "<secret:", ">",
    "$ ", " % ", "\U000e0041", "İ", "drwxr-xr-x 2 ab cd 12", "Cookie: sid=", "mysql -p",
    "curl -u a:",
]  # fmt: skip
TEXTS = st.lists(st.one_of(st.sampled_from(FRAGMENTS), st.text(max_size=30)), max_size=8).map(
    "".join
)


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_redaction_never_raises_and_is_bounded(text: str) -> None:
    redacted = Redactor().redact(text)
    assert len(redacted) <= 6 * len(text) + 40


@settings(max_examples=150, deadline=None)
@given(TEXTS)
def test_redacted_text_is_left_alone(text: str) -> None:
    redacted = Redactor().redact(text)
    assert Redactor().redact(redacted) == redacted


@pytest.mark.parametrize(("before", "after"), [("", "~: demo"), ("'", "<user>: demo")])
def test_a_home_where_a_name_should_stand_is_replaced_once(before: str, after: str) -> None:
    once = Redactor().redact(f"[user]\nname = {before}C:\\Users\\name: demo\n")
    assert once == f"[user]\nname = {after}\n"
    assert Redactor().redact(once) == once


@settings(max_examples=60, deadline=None)
@given(TEXTS)
def test_findings_are_ordered_and_apart(text: str) -> None:
    found = Redactor().findings(text)
    assert all(0 <= f.start < f.end <= len(text) for f in found)
    assert all(a.end <= b.start for a, b in pairwise(found))


def test_the_same_texts_give_the_same_answer() -> None:
    texts = [case.text for case in plant(3)]
    first, second = Redactor(), Redactor()
    assert [first.redact(t) for t in texts] == [second.redact(t) for t in texts]


def test_placeholders_of_many_sorts_are_stable_together() -> None:
    lot = Lot(5)
    redactor = Redactor()
    text = f"/home/annabeth/x DB_PASSWORD={lot.password()} annabeth@corp.io https://a:{lot.mixed(16)}@h/"
    once = redactor.redact(text)
    assert once == "~/x DB_PASSWORD=<secret:password> <email> https://a:<secret:url-password>@h/"
    assert redactor.redact(once) == once
