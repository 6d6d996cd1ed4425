"""What no skill may hold is taken out of a text, and what it needs stays."""

from __future__ import annotations

import pytest
from session_builder import SessionBuilder

from skill_learner.reviewers.scrubbing import scrubber


@pytest.mark.parametrize(
    ("project", "text", "expected"),
    [
        ("/work/shop", "see /work/shop/src/a.py", "see src/a.py"),
        ("/work/shop", "in /work/shop now", "in . now"),
        ("/work/shop", "/work/shopping/a.py", "/work/shopping/a.py"),
        ("D:\\proj", "Remove-Item D:\\proj\\a.txt", "Remove-Item a.txt"),
        ("D:\\proj", "Remove-Item '\\\\?\\D:\\proj\\nul'", "Remove-Item '\\\\?\\<project>\\nul'"),
        ("/work/shop", "wrote /tmp/x/y.log", "wrote <temp>"),
    ],
)
def test_paths(project: str, text: str, expected: str) -> None:
    session = SessionBuilder("one", project).session()
    assert scrubber(session, lambda words: words)(text) == expected
