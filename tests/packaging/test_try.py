from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.mark.process
def test_try_shows_the_whole_loop_and_leaves_nothing(tmp_path: Path, hermetic_home: Path) -> None:
    done = subprocess.run(
        [str(ROOT / "scripts" / "try"), "--python", sys.executable],
        env=dict(os.environ, TMPDIR=str(tmp_path), PYTHON=sys.executable),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for shown in ("settings.json", "journal", "candidate:", "active:", "SessionStart prints:"):
        assert shown in done.stdout
    assert "site/manifest.txt" in done.stdout.split("The SKILL.md it wrote")[1]
    assert list(tmp_path.iterdir()) == []
    assert list(hermetic_home.iterdir()) == []
