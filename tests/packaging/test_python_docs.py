"""Every Python block of the documents runs as written, on the package as it is installed."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
SHARED = Path(os.environ.get("SKILL_LEARNER_SHARED", ROOT.parent / "shared"))
DOCUMENTS = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]

pytestmark = pytest.mark.process

READER = """
import skill_learner, sys
assert skill_learner.__file__.startswith(sys.argv[1]), skill_learner.__file__
from skill_learner.testing import ScriptedLLM

skill = {
    "action": "create", "name": "find-memory-leaks",
    "description": "Use when a Python process grows: a memory leak.",
    "body": "## Steps\\n1. Take two snapshots with tracemalloc and compare them.\\n",
    "evidence": [{"claim": "compare two snapshots", "steps": [1, 2]}], "confidence": 0.9,
}
review = {"outcome": "answered", "skills": [skill], "nothing_because": ""}
your_llm = ScriptedLLM(review, repeat_last=True)
def your_agent_function(messages):
    return "Take two snapshots with tracemalloc and compare them."
messages = [
    {"role": "user", "content": "Why does the worker leak memory?"},
    {"role": "assistant", "content": "Take two snapshots with tracemalloc and compare them."},
]
"""
"""What a reader of the documents has: an LLM, an agent function, a conversation."""


def python_blocks(text: str) -> list[str]:
    """Fenced blocks marked `python`; `python notest` needs what an extra installs."""
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


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
