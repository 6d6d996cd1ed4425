"""Clocks that are put back or forward while sessions run."""

from __future__ import annotations

import json
import re
import time
from pathlib import Path
from typing import Any

import pytest
from hook_sandbox import HookSandbox

from skill_learner.journal import read_journal

PROMPT = {
    "conversation_id": "c1", "generation_id": "g1", "hook_event_name": "beforeSubmitPrompt",
    "prompt": "continue", "workspace_roots": ["/p"], "cursor_version": "2.0",
}  # fmt: skip


def prompt_record(at: float) -> str:
    envelope = {"v": 1, "t": at, "e": "UserPromptSubmit", "ed": "cursor", "k": "k", "p": "/p"}
    return "\n" + json.dumps({**envelope, "c": 0, "d": PROMPT})


@pytest.mark.parametrize(("apart", "read"), [(3, 1), (-3, 1), (60, 2), (-3_600, 2)])
def test_the_same_words_again_are_no_twin_whatever_the_clock_did(
    tmp_path: Path, apart: int, read: int
) -> None:
    journal = tmp_path / "c1.jsonl"
    journal.write_text(prompt_record(100_000) + prompt_record(100_000 + apart))
    assert len(read_journal(journal).records) == read


@pytest.mark.process
def test_a_hook_takes_an_event_after_the_clock_was_put_back(hooks: HookSandbox) -> None:
    payload = json.dumps({**PROMPT, "workspace_roots": [str(hooks.project)]}).encode()

    def ask() -> None:
        environ = {**hooks.environ(), "CURSOR_VERSION": "2.0"}
        hooks.run("UserPromptSubmit", payload, environ)

    ask()
    (journal,) = (hooks.state / "journal").glob("*.jsonl")
    ask()
    assert len(hooks.records("c1")) == 1, "a twin"
    ahead = str(int(time.time()) + 3_600).encode()
    journal.write_bytes(
        re.sub(rb'(,"x":"[0-9a-f]{16}:)\d+', rb"\g<1>" + ahead, journal.read_bytes())
    )
    ask()
    assert len(hooks.records("c1")) == 2


@pytest.mark.process
def test_what_a_clock_ahead_wrote_is_still_reviewed(hooks: HookSandbox, tmp_path: Path) -> None:
    """Marks are places in the journal, not times."""
    import os

    hooks.run("UserPromptSubmit")
    (journal,) = (hooks.state / "journal").glob("*.jsonl")
    os.utime(journal, (time.time() + 1e7,) * 2)
    hooks.run("SessionEnd")
    requests: list[dict[str, Any]] = list(hooks.requests())
    assert [request["reason"] for request in requests] == ["session_end"]
