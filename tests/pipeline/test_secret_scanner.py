"""The maintained scanner of secrets: absent, failing, and what it adds when it is there."""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from importlib.machinery import ModuleSpec
from typing import Any

import pytest

from skill_learner.pipeline import PipelineServices, run_jobs
from skill_learner.reviewers.llm import LLMReviewer
from skill_learner.secret_scanner import _scanner, long_tail_secrets, why_absent
from skill_learner.testing import ScriptedLLM, ScriptedRequest

NOTHING = {"outcome": "done", "skills": [], "nothing_because": "nothing"}


class _Finding:
    def __init__(self, secret: str, visible: bool = True) -> None:
        self.secret, self.visible = secret, visible


def _install(monkeypatch: pytest.MonkeyPatch, *found: _Finding, error: Exception | None = None):
    class Scanner:
        def scan(self, text: str, *, timeout: float) -> list[_Finding]:
            if error is not None:
                raise error
            return [one for one in found if one.secret in text]

    _scanner.cache_clear()
    module = types.ModuleType("kingfisher_sdk")
    module.Scanner = Scanner  # type: ignore[attr-defined]
    module.__spec__ = ModuleSpec("kingfisher_sdk", None)
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", module)


def test_absent_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "kingfisher_sdk", None)
    assert "skill-learner[secrets]" in why_absent()
    found, why = long_tail_secrets(["zq_live_123456"])
    assert found == []
    assert "not installed" in why


def test_a_failing_scanner_stops_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    _install(monkeypatch, error=RuntimeError("broken"))
    assert why_absent() == ""
    assert long_tail_secrets(["text"]) == ([], "failed: RuntimeError: broken")


def test_hashes_and_placeholders_are_no_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    secret, digest = "zq_live_8fK2mQ9x", "d41d8cd98f00b204e9800998ecf8427e"
    hidden = _Finding("invisible-one-1", visible=False)
    _install(monkeypatch, _Finding(secret), _Finding(digest), _Finding("<token>"), hidden)
    text = f"{secret} {digest} <token> invisible-one-1"
    assert long_tail_secrets([text]) == ([secret], "")


def test_what_it_finds_never_leaves(
    make_services: Callable[..., PipelineServices], journal: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    word = "zq8fK2mQ9xLive"
    _install(monkeypatch, _Finding(word))
    shown: list[str] = []

    def answer(request: ScriptedRequest) -> dict[str, Any]:
        shown.append(str(request.messages))
        return NOTHING

    journal.bash("s1", f"deploy {word}", "done")
    journal.fixed_failure("s1")
    journal.request("session_end", "s1")
    run_jobs(make_services(LLMReviewer(ScriptedLLM(answer), "scripted", "m")))
    assert shown
    assert word not in shown[0]
    assert "<secret:known>" in shown[0]
