"""What the README and docs hold that can be run or looked up: blocks, code spans, tables."""

from __future__ import annotations

import re
from collections.abc import Iterator

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
"""What a reader of the documents has: an LLM, an agent function, a conversation. The program is
given the folder that the package must come from."""


def python_blocks(text: str) -> list[str]:
    """Fenced blocks marked `python`; `python notest` needs what an extra installs."""
    return re.findall(r"^```python\n(.*?)^```", text, re.M | re.S)


def shell_lines(text: str) -> list[str]:
    """The lines of all fenced blocks marked `sh`, in order, without their comments."""
    blocks = re.findall(r"^```sh\n(.*?)^```", text, re.M | re.S)
    lines = (re.sub(r"(^|\s+)#.*", "", line) for line in "".join(blocks).splitlines())
    return [line for line in lines if line.strip()]


def code_spans(text: str) -> list[str]:
    """What stands between single backticks, outside of fenced blocks."""
    plain = re.sub(r"^```.*?^```", "", text, flags=re.M | re.S)
    return [" ".join(span.split()) for span in re.findall(r"`([^`]+)`", plain)]


def table_rows(text: str, first_head: str) -> Iterator[list[str]]:
    """The rows of the table whose first column is headed so, each as its cells."""
    _, found, rest = text.partition(f"\n| {first_head} |")
    if not found:
        raise ValueError(f"no table with the head {first_head!r}")
    for line in rest.split("\n")[2:]:
        if not line.startswith("|"):
            return
        yield [cell.strip() for cell in line.strip("|").split("|")]
