from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from readme_blocks import shell_lines, table_rows
from try_loop import StageFailed
from walk_readme import Walk

ROOT = Path(__file__).resolve().parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.process
def test_the_readme_holds(tmp_path: Path, hermetic_home: Path) -> None:
    done = subprocess.run(
        [str(ROOT / "scripts" / "walk_readme"), "--python", sys.executable],
        env=dict(os.environ, TMPDIR=str(tmp_path), PYTHON=sys.executable),
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
        timeout=300,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    for line in shell_lines(README):
        assert f"$ {line}\n" in done.stdout
    assert list(tmp_path.iterdir()) == []
    assert list(hermetic_home.iterdir()) == []


def test_what_is_not_so_is_a_failure(tmp_path: Path) -> None:
    walk = Walk(tmp_path, README, Path(sys.executable))
    helps = {"init": "--target EDITOR --local", "learn": "--recent N"}
    assert walk.option_is_there("skill-learner init --target cursor", helps)
    assert walk.option_is_there("init --local", helps)
    assert not walk.option_is_there("learn FILE", helps)
    assert not walk.option_is_there("git log --oneline", helps)
    with pytest.raises(StageFailed, match="no option --locally"):
        walk.option_is_there("init --locally", helps)
    with pytest.raises(StageFailed, match="no command 'forget'"):
        walk.option_is_there("skill-learner forget x", helps)
    with pytest.raises(StageFailed, match="does not say"):
        walk.said("a wording that was changed")
    with pytest.raises(StageFailed, match="otherwise"):
        walk.expect(False, "ten hooks")


def test_shell_lines_and_tables_are_found() -> None:
    text = (
        "```sh\na b    # why\n# only this\n\nc\n```\n```python\nx\n```\n\n| key | b |\n|---|---|\n"
    )
    assert shell_lines(text) == ["a b", "c"]
    assert list(table_rows(text + "| `k` | 1 |\n\nend", "key")) == [["`k`", "1"]]
