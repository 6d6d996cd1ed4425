"""The fakes that ship are tested as a user would use them."""

from __future__ import annotations

import math
import shutil
from pathlib import Path

import pytest

from skill_learner.interfaces import EmbeddingProvider, LLMProvider
from skill_learner.testing import (
    FixedEmbeddings,
    ScriptedAnswer,
    ScriptedLLM,
    ScriptedRequest,
    ScriptExhaustedError,
    temporary_library,
    tool_answer,
)

USER = [{"role": "user", "content": "hello"}]


def test_scripted_answers_come_in_order_and_requests_are_kept() -> None:
    llm = ScriptedLLM("first", {"outcome": "x"}, ScriptedAnswer("third"))
    assert isinstance(llm, LLMProvider)
    assert llm.complete(USER).content == "first"
    (call,) = llm.complete(USER, [{"name": "submit_review"}], 5).tool_calls
    assert (call.name, call.arguments) == ("submit_review", {"outcome": "x"})
    assert llm.left == 1
    assert llm.complete(USER).content == "third"
    assert llm.requests[1] == ScriptedRequest(USER, [{"name": "submit_review"}], 5)


def test_a_script_may_raise_and_may_look_at_the_request() -> None:
    llm = ScriptedLLM(RuntimeError("down"), lambda request: request.messages[0]["content"] + "!")
    with pytest.raises(RuntimeError, match="down"):
        llm.complete(USER)
    assert llm.complete(USER).content == "hello!"


def test_an_exhausted_script_fails_the_test() -> None:
    with pytest.raises(ScriptExhaustedError, match="request 1"):
        ScriptedLLM().complete(USER)


def test_a_tool_answer_can_call_any_tool() -> None:
    assert tool_answer({"a": 1}, "save_skill").tool_calls[0].name == "save_skill"


def test_embeddings_are_fixed() -> None:
    fake = FixedEmbeddings({"known": [1, 0]})
    assert isinstance(fake, EmbeddingProvider)
    known, one, same, other = fake.embed(["known", "one", "one", "other"])
    assert known == [1.0, 0.0]
    assert one == same != other
    assert math.isclose(sum(number * number for number in one), 1.0)
    assert fake.batches == [["known", "one", "one", "other"]]


def test_a_temporary_library_goes_again() -> None:
    with temporary_library(nudge_interval=3) as config:
        assert config.nudge_interval == 3
        assert config.provider == "offline"
        assert config.skills_dir.is_relative_to(config.state_dir)
        state = config.state_dir
        assert state.is_dir()
    assert not state.exists()


def test_a_temporary_library_goes_again_though_a_review_still_writes_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    late_writes = [b"one", b"two"]

    def remove(folder: Path, *, ignore_errors: bool) -> None:
        rmtree(folder, ignore_errors=ignore_errors)
        if late_writes:
            folder.mkdir()
            (folder / "review.log").write_bytes(late_writes.pop())

    rmtree = shutil.rmtree
    with temporary_library() as config:
        monkeypatch.setattr(shutil, "rmtree", remove)
    assert not late_writes
    assert not config.state_dir.exists()
