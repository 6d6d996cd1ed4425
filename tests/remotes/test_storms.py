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
