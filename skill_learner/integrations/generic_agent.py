"""Wrap any agent function: skills go in, what happens is seen, sessions are reviewed.

loop = create_skill_loop(llm=your_llm)
agent = loop.wrap(your_agent_function)
"""

from __future__ import annotations

import asyncio
import contextlib
import functools
import inspect
from collections.abc import AsyncGenerator, Callable, Generator, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from skill_learner.conversation.answers import StreamedAnswer
from skill_learner.engine import SkillEngine
from skill_learner.faults import FaultLog
from skill_learner.integrations.arguments import AgentCall, read_call, with_prompt
from skill_learner.integrations.streams import (
    WatchedAsyncStream,
    WatchedManager,
    WatchedStream,
    is_opened_by_with,
)

if TYPE_CHECKING:
    from skill_learner.config import SkillLearnerConfig
    from skill_learner.interfaces import EmbeddingProvider, LLMProvider

Agent = TypeVar("Agent", bound=Callable[..., Any])


def create_skill_loop(
    llm: LLMProvider | None = None,
    skills_dir: str | Path | None = None,
    nudge_interval: int | None = None,
    *,
    embedding_provider: EmbeddingProvider | None = None,
    config: SkillLearnerConfig | Mapping[str, Any] | None = None,
    **settings: Any,
) -> SkillLoop:
    """A loop around an engine of its own; `llm` alone is enough.

    skills_dir, nudge_interval and further keyword arguments are settings (`SkillLearnerConfig`),
    stronger than `config` (settings, or a mapping of them), the environment and files. `approval`
    is "auto" unless it is set somewhere: what a review finds is in use at once.
    """
    from skill_learner.config import SkillLearnerConfig

    given = {"skills_dir": skills_dir, "nudge_interval": nudge_interval, **settings}
    arguments = {key: value for key, value in given.items() if value is not None}
    if config is None:
        loaded = SkillLearnerConfig.load()
        base = {key: loaded.values()[key] for key, origin in loaded.origins.items()
                if origin != "default"}  # fmt: skip
        arguments = {"approval": "auto", **base, **arguments}
    elif not isinstance(config, SkillLearnerConfig):
        SkillLearnerConfig.from_dict(config)  # what it lacks or has too much is its own fault
        arguments = {"approval": "auto", **config, **arguments}
    else:
        arguments = {**config.values(), **arguments}
    return SkillLoop(SkillEngine(SkillLearnerConfig.from_dict(arguments), llm, embedding_provider))


class SkillLoop:
    """An engine with a convenience: `wrap`. Ends its sessions by `end_session`, `with`, or exit."""

    def __init__(self, engine: SkillEngine) -> None:
        self.engine = engine

    def wrap(self, function: Agent) -> Agent:
        """A function that does what `function` does, with skills in what it is given.

        function: takes messages (a list of dicts or SDK objects, a text, or a mapping that holds
        `messages`) and returns, yields or awaits an answer of any shape. Its system text may be a
        message or an argument. Its results and exceptions pass through untouched.
        """
        if not callable(function):
            raise TypeError(f"wrap takes a function, not {type(function).__name__}")
        if inspect.isasyncgenfunction(function):
            return cast(Agent, self._wrap_async_generator(function))
        if inspect.iscoroutinefunction(function):
            return cast(Agent, self._wrap_coroutine(function))
        if inspect.isgeneratorfunction(function):
            return cast(Agent, self._wrap_generator(function))
        return cast(Agent, self._wrap_call(function))

    @contextlib.contextmanager
    def session(self, name: str | None = None) -> Iterator[str]:
        """A session of its own for the block: of a user, a chat, a job. It ends with the block."""
        before = self.engine.current_session()
        session_id = self.engine.begin_session(name)
        try:
            yield session_id
        finally:
            self.engine.on_session_end(session=session_id, wait=0)
            if before is not None:
                self.engine.begin_session(before)

    def end_session(self, wait: float | None = None) -> bool:
        """End this thread's or task's session and review it; True when that is done. See
        `SkillEngine.on_session_end`."""
        return self.engine.on_session_end(wait=wait)

    def get_stats(self) -> dict[str, Any]:
        return self.engine.get_stats()

    def wait(self, timeout: float | None = None) -> bool:
        return self.engine.wait(timeout)

    def close(self, timeout: float | None = None) -> bool:
        return self.engine.close(timeout)

    def __enter__(self) -> SkillLoop:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    # -- one wrapper for each kind of function -------------------------------------------------

    def _wrap_call(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Any:
            turn = _Turn(self.engine, function)
            call = turn.begin(args, kwargs)
            try:
                answer = function(*call.args, **call.kwargs)
            except BaseException:
                turn.end(None)
                raise
            return _pass_on(answer, turn)

        return wrapped

    def _wrap_coroutine(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def wrapped(*args: Any, **kwargs: Any) -> Any:
            turn = _Turn(self.engine, function)
            call = await turn.begin_async(args, kwargs)
            try:
                answer = await function(*call.args, **call.kwargs)
            except BaseException:
                turn.end(None)
                raise
            return _pass_on(answer, turn)

        return wrapped

    def _wrap_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def wrapped(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            turn = _Turn(self.engine, function)
            call = turn.begin(args, kwargs)
            stream = function(*call.args, **call.kwargs)
            return (yield from WatchedStream(stream, turn))

        return wrapped

    def _wrap_async_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        async def wrapped(*args: Any, **kwargs: Any) -> AsyncGenerator[Any, Any]:
            turn = _Turn(self.engine, function)
            call = await turn.begin_async(args, kwargs)
            stream = function(*call.args, **call.kwargs)
            async with contextlib.aclosing(WatchedAsyncStream(stream, turn)) as watched:
                with contextlib.suppress(StopAsyncIteration):
                    piece = await watched.asend(None)
                    while True:
                        try:
                            sent = yield piece
                        except GeneratorExit:
                            raise
                        except BaseException as thrown:
                            piece = await watched.athrow(thrown)
                        else:
                            piece = await watched.asend(sent)

        return wrapped


class _Turn:
    """One call of a wrapped function, from its messages to its answer. Its faults stay here."""

    def __init__(self, engine: SkillEngine, function: Callable[..., Any]) -> None:
        self._engine = engine
        self._function = function
        self._streamed = StreamedAnswer()
        self._session = ""
        self._call: AgentCall | None = None
        self._is_ended = False

    def begin(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> AgentCall:
        call = self._read(args, kwargs)
        return self._inject(call)

    async def begin_async(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> AgentCall:
        """The search reads files, so it runs beside the event loop."""
        try:
            asyncio.get_running_loop()
        except RuntimeError:  # another framework's loop
            return self.begin(args, kwargs)
        if not self._engine.is_prepared:
            await asyncio.to_thread(self._engine.prepare)
        return await asyncio.to_thread(self._inject, self._read(args, kwargs))

    def piece(self, piece: Any) -> None:
        with _quietly(self._engine.faults):
            self._streamed.add(piece)

    def whole(self, answer: Any) -> None:
        with _quietly(self._engine.faults):
            self._streamed.settle(answer)

    def ended(self) -> None:
        messages: list[Any] = []
        with _quietly(self._engine.faults):
            messages = self._streamed.messages()
        self.end(messages)

    def end(self, answer: Any) -> None:
        """The turn is over: what was asked and what was answered is recorded, once."""
        if self._is_ended or self._call is None:
            return
        self._is_ended = True
        with _quietly(self._engine.faults):
            messages = [*self._call.messages, *self._call.added_by_agent()]
            self._engine.on_turn_complete(messages, answer=answer, session=self._session)

    def end_future(self, future: asyncio.Future[Any]) -> None:
        failed = future.cancelled() or future.exception() is not None
        self.end(None if failed else future.result())

    def _read(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> AgentCall:
        self._call = AgentCall([], args, dict(kwargs))
        with _quietly(self._engine.faults):
            self._session = self._engine.current_session() or self._engine.begin_session()
            self._call = read_call(self._function, args, kwargs)
        return self._call

    def _inject(self, call: AgentCall) -> AgentCall:
        with _quietly(self._engine.faults):
            prompt = self._engine.skills_prompt(call.query, tools=call.tools, session=self._session)
            call = with_prompt(self._function, call, prompt)
        self._call = call
        return call


def _pass_on(answer: Any, turn: _Turn) -> Any:
    """The answer as it is; streams and awaitables are watched on their way to the caller."""
    if isinstance(answer, asyncio.Future):
        answer.add_done_callback(turn.end_future)
        return answer
    if inspect.isawaitable(answer):
        return _awaited(answer, turn)
    kind = type(answer)  # where Python itself looks for these; what an object answers may raise
    if hasattr(kind, "__anext__") or hasattr(kind, "__aiter__"):
        return WatchedAsyncStream(answer, turn)
    if hasattr(kind, "__next__") and hasattr(kind, "__iter__"):
        return WatchedStream(answer, turn)
    if is_opened_by_with(answer):
        return WatchedManager(answer, lambda given: _pass_on(given, turn), turn.ended)
    turn.end(answer)
    return answer


async def _awaited(answer: Any, turn: _Turn) -> Any:
    try:
        result = await answer
    except BaseException:
        turn.end(None)
        raise
    return _pass_on(result, turn)


@contextlib.contextmanager
def _quietly(faults: FaultLog) -> Iterator[None]:
    """Faults of ours are logged and counted, and never the agent's."""
    try:
        yield
    except Exception as error:
        faults.note(f"{type(error).__name__}: {error}")
