"""Every Python block of the documents runs as written, on the package as it is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from readme_blocks import READER, python_blocks

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SKILL_LEARNER_SHARED", ROOT.parent / "shared"))
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.process


def run(program: str, package: Path, dependencies: str, folder: Path) -> str:
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(package), dependencies])}
    done = subprocess.run(
        [sys.executable, "-S", "-c", program, str(package)],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_the_python_blocks_of_a_document_run(
    document: Path, installed_package: Path, dependencies: str, tmp_path: Path
) -> None:
    blocks = python_blocks(document.read_text(encoding="utf-8"))
    if document.name == "python.md":
        assert len(blocks) >= 8
    if blocks:
        run("\n".join([READER, *blocks]), installed_package, dependencies, tmp_path)


@pytest.mark.skipif(not SHARED.is_dir(), reason="the promised surface is not here")
def test_the_promised_surface_runs_as_written(
    installed_package: Path, dependencies: str, tmp_path: Path
) -> None:
    text = (SHARED / "SEED-API.md").read_text(encoding="utf-8")
    section = text.split("## Python")[1].split("## Configuration")[0]
    blocks = re.findall(r"^```\n(.*?)^```", section, re.M | re.S)
    assert len(blocks) == 2
    check = """
loop.end_session()
assert response == your_agent_function([])
print(len(your_llm.requests), stats["turns"], stats["tool_calls"], stats["total_skills"])
"""
    printed = run("\n".join([READER, *blocks, check]), installed_package, dependencies, tmp_path)
    assert printed.split() == ["2", "1", "1", "1"]
