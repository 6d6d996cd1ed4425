"""A warning in a result that a later run of the same command no longer prints."""

from __future__ import annotations

import pytest
from session_builder import SessionBuilder

from skill_learner.learning.vanished_warnings import find_vanished_warnings
from skill_learner.models import Session

WARNING = "warning: in the working copy of 'a.txt', CRLF will be replaced by LF"


def _session(second: str, output: str, between: bool = False, status: str = "ok") -> Session:
    build = SessionBuilder().human("go").bash("./write.sh; git diff -U0", f"{WARNING}\n+a")
    if between:
        build.edit("write.sh")
    return build.bash(second, output, status).session()


def test_gone_after_a_change_in_the_same_line() -> None:
    (episode,) = find_vanished_warnings(_session("Set-Content a.txt x; git diff --stat", " a | 1"))
    assert episode.steps == (2, 3)
    assert "CRLF" in episode.error


def test_gone_after_a_change_in_between() -> None:
    assert find_vanished_warnings(_session("git diff --stat", " a | 1", between=True))


@pytest.mark.parametrize(
    ("second", "output", "status"),
    [
        ("git diff --stat", " a | 1", "ok"),
        ("Set-Content a.txt x; git diff", f"{WARNING}\n+b", "ok"),
        ("Set-Content a.txt x; make", "built", "ok"),
        ("Set-Content a.txt x; git diff", "fatal: bad", "failed"),
    ],
)
def test_what_shows_no_cure(second: str, output: str, status: str) -> None:
    assert find_vanished_warnings(_session(second, output, status=status)) == ()
