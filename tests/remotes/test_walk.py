"""The walk of the README runs as it is written."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.process
def test_the_walk_through_two_homes_runs() -> None:
    done = subprocess.run(
        [ROOT / "scripts" / "walk_remote"],
        env={**os.environ, "PYTHON": sys.executable},
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    assert "every step did what it says" in done.stdout
