"""Messages of every shape become steps, once, and survive on disk."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from skill_learner.conversation import (
    Conversation,
    ConversationStore,
    files_of_session,
    read_message,
)
from skill_learner.conversation.recording import session_of
from skill_learner.errors import JobError
from skill_learner.host_llm import provider_identity
from skill_learner.paths import StatePaths

ASKED = {"role": "user", "content": "find x"}


def steps_of(*messages: Any) -> list[tuple[str, str, str]]:
    conversation = Conversation("s")
    conversation.take(messages)
    return [
        (step.kind, step.text or (step.call.name if step.call else ""),
         step.call.result or "" if step.call else "")
        for step in conversation.steps()
    ]  # fmt: skip


CALLS = {
    "anthropic": [
        {
            "role": "assistant",
            "content": [
                {"type": "text", "text": "looking"},
                {"type": "tool_use", "id": "1", "name": "grep", "input": {"q": "x"}},
            ],
        },
        {
            "role": "user",
            "content": [
                {
                    "type": "tool_result",
                    "tool_use_id": "1",
                    "content": [{"type": "text", "text": "found"}],
                }
            ],
        },
    ],
    "openai": [
        {
            "role": "assistant",
            "content": "looking",
            "tool_calls": [
                {
                    "id": "1",
                    "type": "function",
                    "function": {"name": "grep", "arguments": '{"q": "x"}'},
                }
            ],
        },
        {"role": "tool", "tool_call_id": "1", "content": "found"},
    ],
    "openai responses": [
        {
            "type": "message",
            "role": "assistant",
            "content": [{"type": "output_text", "text": "looking"}],
        },
        {"type": "function_call", "call_id": "1", "name": "grep", "arguments": '{"q": "x"}'},
        {"type": "function_call_output", "call_id": "1", "output": "found"},
    ],
    "langchain": [
        SimpleNamespace(
            type="ai",
            content="looking",
            tool_calls=[{"name": "grep", "args": {"q": "x"}, "id": "1"}],
        ),
        SimpleNamespace(type="tool", content="found", tool_call_id="1", name="grep"),
    ],
    "gemini": [
        {
            "role": "model",
            "parts": [
                {"text": "looking"},
                {"function_call": {"name": "grep", "args": {"q": "x"}}},
            ],
        },
        {
            "role": "user",
            "parts": [{"function_response": {"name": "grep", "response": {"output": "found"}}}],
        },
    ],
}


@pytest.mark.parametrize("shape", CALLS)
def test_calls_and_results_of_every_shape(shape: str) -> None:
    steps = steps_of(ASKED, *CALLS[shape])
    assert steps[:2] == [("human", "find x", ""), ("assistant", "looking", "")]
    kind, name, result = steps[2]
    assert (kind, name) == ("tool", "grep")
    assert "found" in result
    assert len(steps) == 3


def test_failed_results_are_failures() -> None:
    conversation = Conversation("s")
    call = {"type": "tool_use", "id": "1", "name": "sh", "input": {"command": "make"}}
    result = {"type": "tool_result", "tool_use_id": "1", "content": "no rule", "is_error": True}
    conversation.take(
        [{"role": "assistant", "content": [call]}, {"role": "user", "content": [result]}]
    )
    (step,) = conversation.steps()
    assert step.call is not None
    assert (step.call.status, dict(step.call.input)) == ("failed", {"command": "make"})


def test_a_result_of_a_later_turn_joins_its_call() -> None:
    conversation = Conversation("s")
    history = [ASKED, CALLS["openai"][0]]
    conversation.take(history)
    assert [step.kind for step in conversation.steps()] == ["human", "assistant"]
    conversation.take([*history, CALLS["openai"][1]])
    assert [step.kind for step in conversation.steps()] == ["human", "assistant", "tool"]


def test_a_call_without_a_result_is_kept_at_the_end() -> None:
    conversation = Conversation("s")
    conversation.take([ASKED, CALLS["openai"][0]])
    conversation.flush()
    call = conversation.steps()[-1].call
    assert call is not None
    assert call.status == "pending"


def say(role: str, text: str) -> dict[str, str]:
    return {"role": role, "content": text}


TALK = [say("user", "a"), say("assistant", "b"), say("user", "c"), say("assistant", "d")]


@pytest.mark.parametrize(
    "turns",
    [
        [TALK[:2], TALK],  # the whole history each time
        [TALK[:2], TALK[2:]],  # only what is new
        [TALK[:3], TALK[1:]],  # a window of the last messages
        [TALK, TALK],  # the same again
        [[TALK[0]], TALK[:2], TALK[:3], TALK],
    ],
)
def test_what_was_seen_is_not_taken_twice(turns: list[list[dict[str, str]]]) -> None:
    conversation = Conversation("s")
    for turn in turns:
        conversation.take(turn)
    assert [step.text for step in conversation.steps()] == ["a", "b", "c", "d"]


def test_a_branch_adds_what_differs() -> None:
    conversation = Conversation("s")
    conversation.take(TALK)
    conversation.take([*TALK[:2], say("user", "another way")])
    assert [step.text for step in conversation.steps()] == ["a", "b", "c", "d", "another way"]


def test_system_texts_and_hidden_thoughts_are_not_learned_from() -> None:
    thought = {"type": "thinking", "thinking": "secret plan"}
    assert steps_of(
        say("system", "You are"),
        say("developer", "obey"),
        {"role": "assistant", "content": [thought, {"type": "text", "text": "answer"}]},
    ) == [("assistant", "answer", "")]


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=4)
    | st.dictionaries(
        st.sampled_from(
            ["role", "content", "type", "text", "tool_calls", "function", "arguments", "input",
             "name", "id", "parts", "tool_use_id"]
        ),
        inner,
        max_size=5,
    ),
    max_leaves=20,
)  # fmt: skip


@given(JSON)
def test_no_message_raises(message: Any) -> None:
    read_message(message)
    Conversation("s").take([message, message])


def test_an_object_whose_attributes_raise() -> None:
    class Hostile:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    assert read_message(Hostile()) == ()


def test_answers_count_only_where_no_tool_answered() -> None:
    conversation = Conversation("s")
    conversation.take(TALK)
    assert session_of("s", conversation.steps()).answers_count
    conversation.tool_call("grep", {"q": "x"}, "found", failed=False)
    assert not session_of("s", conversation.steps()).answers_count


@pytest.fixture
def store(tmp_path: Path) -> ConversationStore:
    return ConversationStore(StatePaths(tmp_path))


def test_a_stored_conversation_comes_back_whole(store: ConversationStore) -> None:
    conversation = Conversation("s/1")
    conversation.take([ASKED, *CALLS["anthropic"]])
    file = store.begin("s/1", "me")
    store.add(file, conversation.steps()[:1])
    store.add(file, conversation.steps()[1:], ["a-skill"])
    store.mark_reviewed(file, 1)
    stored = store.read(file)
    assert stored.steps == conversation.steps()
    assert (stored.provider, stored.reviewed, stored.ended) == ("me", 1, False)
    assert stored.as_session().first_new_step == 2
    assert file.stat().st_mode & 0o777 == 0o600


def test_a_session_opened_again_is_kept_apart(store: ConversationStore, tmp_path: Path) -> None:
    first, second, other = (store.begin(name, "me") for name in ("chat-1", "chat-1", "chat-1-x"))
    assert len({first, second, other}) == 3
    assert files_of_session(StatePaths(tmp_path), "chat-1")[1:] == sorted([first, second])


def test_a_torn_line_costs_only_itself(store: ConversationStore) -> None:
    conversation = Conversation("s")
    conversation.take(TALK)
    file = store.begin("s", "me")
    store.add(file, conversation.steps()[:2])
    with file.open("ab") as handle:
        handle.write(b'{"steps": [{"kind": "hum')
    store.add(file, conversation.steps()[2:])
    texts = [step.text for step in store.read(file).steps]
    assert texts == ["a", "b", "c", "d"]


def test_foreign_and_missing_files_are_passed_over(
    store: ConversationStore, tmp_path: Path
) -> None:
    file = store.begin("s", "me")
    (file.parent / "odd.jsonl").write_text("[1]\n")
    assert [one.session for one in store.all()] == ["s"]
    with pytest.raises(JobError):
        store.read(tmp_path / "none.jsonl")


class Client:
    def __init__(self, base_url: Any) -> None:
        self.base_url = base_url


class Mine:
    def __init__(self, client: Any) -> None:
        self.api = client
        self.model = "small"

    def complete(self, messages: Any, tools: Any = None, max_tokens: int = 2048) -> str:
        return ""


def test_a_provider_is_known_by_the_address_of_what_it_holds() -> None:
    here, there = (provider_identity(Mine(Client(f"http://{host}/v1"))) for host in ("a", "b"))
    assert here == provider_identity(Mine(Client("http://a/v1")))
    assert here != there
    assert there.endswith("Mine at http://b/v1")


def test_odd_addresses_make_no_identity_and_no_fault() -> None:
    class Odd:
        @property
        def base_url(self) -> str:
            raise RuntimeError

    assert provider_identity(Mine(Odd())) == provider_identity(Mine(Client(object())))
    named = Mine(Client("http://a/v1"))
    named.provider_id = "the one"  # type: ignore[attr-defined]
    assert provider_identity(named) == "the one"
