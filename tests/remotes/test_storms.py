"""A fast part of what scripts/fuzz_remotes does at length."""

from __future__ import annotations

from pathlib import Path

import pytest
from remote_storms import Storm

pytestmark = pytest.mark.process


@pytest.mark.parametrize("seed", range(3))
def test_nothing_is_lost_whatever_happens_to_the_syncs(tmp_path: Path, seed: int) -> None:
    storm = Storm(tmp_path, seed)
    storm.rage(25)
    assert storm.losses() == []


def test_copies_meet_by_the_newest_text_that_they_share(tmp_path: Path) -> None:
    """The lineage of a merge lists the texts of one side after those of the other."""
    storm = Storm(tmp_path, 141)
    storm.rage(40)
    assert storm.losses() == []


def test_texts_that_are_taken_up_again_are_changes_too(tmp_path: Path) -> None:
    storm = Storm(tmp_path, 7012, again=0.4)
    storm.rage(40)
    assert storm.losses() == []
