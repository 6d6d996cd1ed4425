"""`create_skill_loop` and `wrap`: every kind of agent function, every shape of message."""

from __future__ import annotations

import asyncio
import copy
import logging
import subprocess
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from skill_learner import SkillLoop
from skill_learner.testing import ScriptedLLM

Loops = Callable[..., SkillLoop]
LEAK = [{"role": "user", "content": "Help me debug this memory leak"}]


def digest_of(loop_llm: ScriptedLLM, number: int = 0) -> str:
    """What the reviewer was sent."""
    return str(loop_llm.requests[number].messages[1]["content"])


def system_text(messages: list[Any]) -> str:
    return "\n".join(m["content"] for m in messages if m["role"] == "system")


def learn_leaks(make_loop: Loops, learned: Callable[..., Any]) -> None:
    """The library knows one skill afterwards."""
    loop = make_loop(learned())
    agent = loop.wrap(lambda messages: "Take two snapshots with tracemalloc and compare them.")
    agent(LEAK)
    assert loop.end_session()
    assert loop.get_stats()["skills"]["active"] == 1


def test_a_skill_is_extracted_and_injected_into_later_conversations(
    make_loop: Loops, learned: Callable[..., Any], nothing: Any
) -> None:
    learn_leaks(make_loop, learned)
    seen: list[Any] = []
    later = make_loop(nothing).wrap(lambda messages: seen.extend(messages) or "ok")
    assert later([{"role": "user", "content": "the memory leak is back"}]) == "ok"
    assert "tracemalloc" in system_text(seen)
    assert "unverified" in system_text(seen)
    assert seen[-1] == {"role": "user", "content": "the memory leak is back"}


def test_the_callers_messages_are_not_changed(
    make_loop: Loops, learned: Callable[..., Any], nothing: Any
) -> None:
    learn_leaks(make_loop, learned)
    messages = [{"role": "system", "content": "Be brief."}, *LEAK]
    before = copy.deepcopy(messages)
    seen: list[Any] = []
    make_loop(nothing).wrap(lambda messages: seen.extend(messages) or "ok")(messages)
    assert messages == before
    assert len([m for m in seen if m["role"] == "system"]) == 1
    assert seen[0]["content"].startswith("Be brief.\n\n<skills-")


def test_an_agent_that_keeps_history_in_its_list_still_does(make_loop: Loops, nothing: Any) -> None:
    def agent(messages: list[Any]) -> str:
        messages.append({"role": "assistant", "content": "kept"})
        return "kept"

    messages = list(LEAK)
    make_loop(nothing).wrap(agent)(messages)
    assert messages == [*LEAK, {"role": "assistant", "content": "kept"}]


@pytest.mark.parametrize("given", ["Be brief.", [{"type": "text", "text": "Be brief."}], None])
def test_a_system_argument_takes_the_prompt(
    make_loop: Loops, learned: Callable[..., Any], nothing: Any, given: Any
) -> None:
    learn_leaks(make_loop, learned)
    seen: dict[str, Any] = {}

    def agent(messages: list[Any], system: Any = None) -> str:
        seen.update(messages=messages, system=system)
        return "ok"

    extra = {} if given is None else {"system": given}
    make_loop(nothing).wrap(agent)(LEAK, **extra)
    assert seen["messages"] == LEAK
    text = seen["system"] if isinstance(seen["system"], str) else seen["system"][-1]["text"]
    assert "tracemalloc" in text
    if given is not None:
        assert "Be brief." in str(seen["system"])


def test_nothing_is_injected_without_skills(make_loop: Loops, nothing: Any) -> None:
    seen: list[Any] = []
    make_loop(nothing).wrap(lambda messages: seen.append(messages) or "ok")(LEAK)
    assert seen == [LEAK]


def test_the_reviewer_sees_request_and_answer(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    loop.wrap(lambda messages: "Look at the cache of sessions.")(LEAK)
    loop.end_session()
    assert "Help me debug this memory leak" in digest_of(llm)
    assert "Look at the cache of sessions." in digest_of(llm)


ANSWERS = [
    "Look at the cache.",
    {"role": "assistant", "content": "Look at the cache."},
    {"content": "Look at the cache."},
    {"role": "assistant", "content": [{"type": "text", "text": "Look at the cache."}]},
    {"choices": [{"message": {"role": "assistant", "content": "Look at the cache."}}]},
    SimpleNamespace(
        role="assistant", content=[SimpleNamespace(type="text", text="Look at the cache.")]
    ),
    SimpleNamespace(
        choices=[SimpleNamespace(message=SimpleNamespace(content="Look at the cache."))]
    ),
    SimpleNamespace(output_text="Look at the cache."),
    [*LEAK, {"role": "assistant", "content": "Look at the cache."}],
    {"messages": [*LEAK, {"role": "assistant", "content": "Look at the cache."}]},
]


@pytest.mark.parametrize("answer", ANSWERS, ids=range(len(ANSWERS)))
def test_answers_of_every_shape_are_seen_and_passed_on(
    make_loop: Loops, nothing: Any, answer: Any
) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    assert loop.wrap(lambda messages: answer)(LEAK) is answer
    loop.end_session()
    assert digest_of(llm).count("Look at the cache.") == 1
    assert digest_of(llm).count("Help me debug this memory leak") == 1


def openai_chunk(text: str) -> Any:
    return SimpleNamespace(choices=[SimpleNamespace(delta=SimpleNamespace(content=text))])


def anthropic_event(text: str) -> Any:
    delta = SimpleNamespace(type="text_delta", text=text)
    return SimpleNamespace(type="content_block_delta", index=0, delta=delta)


PIECES = [str, openai_chunk, anthropic_event, lambda text: {"content": text}]


@pytest.mark.parametrize("piece", PIECES)
def test_generators_stream_and_are_seen(make_loop: Loops, nothing: Any, piece: Any) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)

    @loop.wrap
    def agent(messages: list[Any]) -> Iterator[Any]:
        for word in ("Look ", "at the ", "cache."):
            yield piece(word)

    assert len(list(agent(LEAK))) == 3
    loop.end_session()
    assert "Look at the cache." in digest_of(llm)


def test_a_generator_takes_what_is_sent_and_thrown(make_loop: Loops, nothing: Any) -> None:
    @make_loop(nothing).wrap
    def agent(messages: list[Any]) -> Any:
        got = yield "first"
        try:
            yield f"got {got}"
        except KeyError:
            yield "caught"
        return "value"

    stream = agent(LEAK)
    assert next(stream) == "first"
    assert stream.send("x") == "got x"
    assert stream.throw(KeyError()) == "caught"
    with pytest.raises(StopIteration) as stopped:
        next(stream)
    assert stopped.value.value == "value"


def test_an_async_generator_takes_what_is_sent_and_thrown(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)
    ended = []

    @loop.wrap
    async def agent(messages: list[Any]) -> Any:
        try:
            got = yield "first"
            try:
                yield f"got {got}"
            except KeyError:
                yield "caught"
            yield "last"
        finally:
            ended.append(True)

    async def talk(*, to_the_end: bool) -> list[str]:
        stream = agent(LEAK)
        said = [await stream.asend(None), await stream.asend("x"), await stream.athrow(KeyError())]
        if to_the_end:
            said += [piece async for piece in stream]
        await stream.aclose()
        with pytest.raises(StopAsyncIteration):
            await stream.asend(None)
        return said

    async def fail() -> None:
        stream = agent(LEAK)
        await stream.asend(None)
        with pytest.raises(ValueError, match="of the caller"):
            await stream.athrow(ValueError("of the caller"))

    async def all_of_it() -> None:
        loop.engine.begin_session()
        assert await talk(to_the_end=True) == ["first", "got x", "caught", "last"]
        assert await talk(to_the_end=False) == ["first", "got x", "caught"]
        await fail()
        loop.end_session()

    asyncio.run(all_of_it())
    assert len(ended) == 3
    assert loop.wait(10)
    assert "got x" in digest_of(llm)


def test_a_stream_that_is_left_early_is_still_seen(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)

    @loop.wrap
    def agent(messages: list[Any]) -> Iterator[str]:
        yield "Look at "
        yield "the cache."

    stream = agent(LEAK)
    next(stream)
    stream.close()
    loop.end_session()
    assert "Look at" in digest_of(llm)


def test_a_stream_object_keeps_what_else_it_offers(make_loop: Loops, nothing: Any) -> None:
    class Stream:
        response = "raw"
        closed = False

        def __iter__(self) -> Stream:
            return self

        def __next__(self) -> str:
            raise StopIteration

        def __enter__(self) -> Stream:
            return self

        def __exit__(self, *_: object) -> None:
            self.closed = True

    inner = Stream()
    with make_loop(nothing).wrap(lambda messages: inner)(LEAK) as stream:
        assert stream.response == "raw"
        assert list(stream) == []
    assert inner.closed


def test_coroutines_and_async_generators(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)

    @loop.wrap
    async def agent(messages: list[Any]) -> str:
        await asyncio.sleep(0)
        return "Look at the cache."

    @loop.wrap
    async def streaming(messages: list[Any]) -> AsyncIterator[str]:
        for word in ("Look ", "at the ", "heap."):
            yield word

    async def talk() -> list[str]:
        loop.engine.begin_session()
        answer = await agent(LEAK)
        words = [w async for w in streaming([*LEAK, {"role": "user", "content": "and now?"}])]
        loop.end_session()
        return [answer, *words]

    assert asyncio.run(talk()) == ["Look at the cache.", "Look ", "at the ", "heap."]
    assert loop.wait(10)
    assert "Look at the cache." in digest_of(llm)
    assert "Look at the heap." in digest_of(llm)


def test_a_task_is_passed_on_and_its_answer_seen(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)

    async def work() -> str:
        await asyncio.sleep(0)
        return "Look at the cache."

    async def talk() -> str:
        return str(await loop.wrap(lambda messages: asyncio.ensure_future(work()))(LEAK))

    assert asyncio.run(talk()) == "Look at the cache."
    loop.close(5)
    assert "Look at the cache." in digest_of(llm)


def test_a_loop_serves_one_with_after_another(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing, repeat_last=True)
    loop = make_loop(llm=llm)
    agent = loop.wrap(lambda messages: "Look at the cache.")
    for number in range(3):
        with loop:
            agent([{"role": "user", "content": f"Chat {number}: it leaks"}])
    assert [f"Chat {n}:" in digest_of(llm, n) for n in range(3)] == [True] * 3
    stats = loop.get_stats()
    assert (stats["sessions"], stats["turns"], stats["reviews"]["completed"]) == (3, 3, 3)
    agent(LEAK)
    started = time.monotonic()
    assert loop.end_session()
    assert time.monotonic() - started < 5
    assert len(llm.requests) == 4


def test_a_loop_is_used_again_while_its_last_review_still_runs(
    make_loop: Loops, nothing: Any
) -> None:
    go_on = threading.Event()

    def slow(request: Any) -> Any:
        go_on.wait(10)
        return nothing

    llm = ScriptedLLM(slow, repeat_last=True)
    loop = make_loop(llm=llm, review_timeout=0)
    agent = loop.wrap(lambda messages: "Look at the cache.")
    for number in range(2):
        with loop:
            agent([{"role": "user", "content": f"Chat {number}: it leaks"}])
    agent(LEAK)
    go_on.set()
    loop.end_session()
    assert loop.wait(10)
    seen = "\n".join(digest_of(llm, n) for n in range(len(llm.requests)))
    assert all(text in seen for text in ("Chat 0:", "Chat 1:", "memory leak"))


def test_coroutines_open_a_closed_loop_again(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing, repeat_last=True)
    loop = make_loop(llm=llm)

    @loop.wrap
    async def agent(messages: list[Any]) -> str:
        return "Look at the cache."

    for _ in range(2):
        with loop:
            asyncio.run(agent(LEAK))
    assert len(llm.requests) == 2


def test_exceptions_pass_through_and_the_request_is_kept(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm)

    def agent(messages: list[Any]) -> str:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        loop.wrap(agent)(LEAK)
    loop.end_session()
    assert "memory leak" in digest_of(llm)


def test_tool_calls_in_answers_and_messages_are_counted(make_loop: Loops, nothing: Any) -> None:
    loop = make_loop(nothing)
    call = {"id": "c1", "function": {"name": "grep", "arguments": '{"q": "x"}'}}
    other = {"id": "c2", "function": {"name": "grep", "arguments": '{"q": "y"}'}}
    history = [
        *LEAK,
        {"role": "assistant", "content": None, "tool_calls": [call]},
        {"role": "tool", "tool_call_id": "c1", "content": "found"},
    ]
    answer = {"role": "assistant", "content": None, "tool_calls": [other]}
    loop.wrap(lambda messages: answer)(history)
    stats = loop.get_stats()
    assert (stats["turns"], stats["tool_calls"]) == (1, 2)


def test_a_growing_history_is_taken_once(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing)
    loop = make_loop(llm=llm, nudge_interval=100)
    agent = loop.wrap(lambda messages: f"answer {len(messages)}")
    history: list[Any] = []
    for number in range(4):
        history.append({"role": "user", "content": f"question number {number}"})
        history.append({"role": "assistant", "content": agent(history)})
    loop.end_session()
    for number in range(4):
        assert digest_of(llm).count(f"question number {number}") == 1


def test_a_review_starts_at_the_threshold_and_repeats_are_queued(
    make_loop: Loops, nothing: Any
) -> None:
    llm = ScriptedLLM(*[nothing] * 3)
    loop = make_loop(llm=llm, nudge_interval=2)
    agent = loop.wrap(lambda messages: "fine")
    for number in range(4):
        agent([{"role": "user", "content": f"question {number}"}])
        loop.wait(10)
    assert len(llm.requests) == 2
    assert loop.get_stats()["unreviewed"] == 0


def test_provider_errors_are_counted_logged_and_never_raised(
    make_loop: Loops, caplog: pytest.LogCaptureFixture
) -> None:
    loop = make_loop(RuntimeError("quota is gone"), nudge_interval=1)
    with caplog.at_level(logging.WARNING, logger="skill_learner"):
        assert loop.wrap(lambda messages: "fine")(LEAK) == "fine"
        loop.wait(10)
    reviews = loop.get_stats()["reviews"]
    assert reviews["provider_errors"] == 1
    assert "quota is gone" in reviews["last_error"]
    assert "quota is gone" in caplog.text
    assert loop.get_stats()["unreviewed"] == 1


def test_threads_with_sessions_of_their_own_do_not_mix(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(nothing, nothing)
    loop = make_loop(llm=llm)
    agent = loop.wrap(lambda messages: "said by " + messages[-1]["content"])
    barrier = threading.Barrier(2)

    def talk(name: str) -> None:
        barrier.wait()
        for turn in range(3):
            agent([{"role": "user", "content": f"{name} turn {turn}"}])
        loop.end_session()

    threads = [threading.Thread(target=talk, args=(name,)) for name in ("alpha", "beta")]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert loop.wait(10)
    digests = [digest_of(llm, number) for number in range(2)]
    assert sorted(("alpha" in d, "beta" in d) for d in digests) == [(False, True), (True, False)]


def test_twenty_tasks_do_not_mix(make_loop: Loops, nothing: Any) -> None:
    llm = ScriptedLLM(*[nothing] * 20)
    loop = make_loop(llm=llm, daily_reviews=100)

    @loop.wrap
    async def agent(messages: list[Any]) -> str:
        await asyncio.sleep(0.001)
        return "heard " + messages[-1]["content"]

    async def talk(name: str) -> None:
        with loop.session():
            for turn in range(2):
                await agent([{"role": "user", "content": f"person-{name}-says turn {turn}"}])

    async def everybody() -> None:
        await asyncio.gather(*(talk(f"{number:02}") for number in range(20)))

    asyncio.run(everybody())
    assert loop.wait(20)
    assert len(llm.requests) == 20
    for number in range(20):
        digest = digest_of(llm, number)
        assert sum(f"person-{other:02}-says turn 0" in digest for other in range(20)) == 1


ODD = [
    {"role": "user", "content": None},
    {"role": "user", "content": [{"type": "image", "source": {"data": "x" * 10}}, None, 7]},
    {"role": "oracle", "content": {"nested": [{"deep": "value"}]}},
    {"role": "user", "content": [{"type": "hologram", "payload": b"\x00"}]},
    {"role": "user", "content": "x" * 2_000_000},
    {"no": "role"},
    object(),
    None,
]


@pytest.mark.parametrize("message", ODD, ids=range(len(ODD)))
def test_odd_messages_never_reach_the_agent_as_errors(
    make_loop: Loops, nothing: Any, message: Any
) -> None:
    loop = make_loop(nothing)
    assert loop.wrap(lambda messages: "fine")([*LEAK, message]) == "fine"
    loop.end_session()
    assert loop.get_stats()["faults"] == 0


def test_text_and_state_arguments(
    make_loop: Loops, learned: Callable[..., Any], nothing: Any
) -> None:
    learn_leaks(make_loop, learned)
    loop = make_loop(nothing)
    assert loop.wrap(lambda text: text)("a memory leak").endswith("\n\na memory leak")
    state = {"messages": LEAK, "other": 1}
    got = loop.wrap(lambda state: state)(state)
    assert "tracemalloc" in got["messages"][0]["content"]
    assert got["other"] == 1
    assert state == {"messages": LEAK, "other": 1}


def test_an_answer_that_refuses_every_question_is_passed_on(make_loop: Loops, nothing: Any) -> None:
    class Closed:
        def __getattr__(self, name: str) -> Any:
            raise RuntimeError(name)

    answer = Closed()
    loop = make_loop(nothing)
    assert loop.wrap(lambda messages: answer)([*LEAK, answer, None, 5]) is answer
    loop.end_session()
    assert loop.get_stats()["faults"] == 0


def test_nothing_is_built_on_an_event_loop(
    make_loop: Loops, nothing: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    from skill_learner import engine_wiring

    build, builders = engine_wiring.build_engine_parts, []

    def watched(*args: Any) -> Any:
        builders.append(threading.current_thread())
        return build(*args)

    monkeypatch.setattr(engine_wiring, "build_engine_parts", watched)
    loop = make_loop(nothing)

    @loop.wrap
    async def agent(messages: list[Any]) -> str:
        return "Look at the cache."

    async def talk() -> None:
        await asyncio.gather(*(agent(LEAK) for _ in range(5)))

    asyncio.run(talk())
    assert len(builders) == 1
    assert builders[0] is not threading.current_thread()
    assert loop.get_stats()["turns"] == 5


def test_what_is_no_function_is_refused_at_once(make_loop: Loops) -> None:
    with pytest.raises(TypeError, match="wrap takes a function, not str"):
        make_loop().wrap("agent")  # type: ignore[type-var]


ABANDONED = """
import sys
from skill_learner import create_skill_loop
loop = create_skill_loop(skills_dir=sys.argv[1])
@loop.wrap
def agent(messages):
    yield "one"
    yield "two"
stream = agent([{"role": "user", "content": "It leaks."}])
print(next(stream))
"""


@pytest.mark.process
def test_a_stream_that_is_left_open_makes_no_noise_at_exit(skills_dir: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-c", ABANDONED, str(skills_dir)],
        capture_output=True,
        text=True,
        check=True,
        timeout=60,
    )
    assert (done.stdout, done.stderr) == ("one\n", "")
