"""Streams on their way from agent to caller, watched without being changed."""

from __future__ import annotations

import functools
from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any, Protocol

from skill_learner.conversation.answers import answer_messages
from skill_learner.conversation.messages import get

_SNAPSHOTS = ("current_message_snapshot", "current_completion_snapshot")
"""What a stream of Anthropic's or OpenAI's SDK has gathered so far."""
_FINISHERS = (
    "until_done",
    "get_final_message",
    "get_final_text",
    "get_final_completion",
    "get_final_response",
)
"""Their methods that read a stream to its end; the last one gives what `until_done` does not."""


class StreamWatcher(Protocol):
    """piece: told of each item. whole: told of an answer that replaces the pieces. ended: told
    once or more, however the stream ends."""

    def piece(self, piece: Any) -> None: ...
    def whole(self, answer: Any) -> None: ...
    def ended(self) -> None: ...


class _Watched:
    """What both kinds of streams have in common."""

    def __init__(self, stream: Any, watcher: StreamWatcher) -> None:
        self._stream = stream
        self._watcher = watcher

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._stream, name)
        if name in _FINISHERS and callable(found):
            return self._finisher(name, found)
        if name == "text_stream":
            return self._texts(found)
        return found

    def _finisher(self, name: str, finish: Callable[..., Any]) -> Callable[..., Any]:
        raise NotImplementedError

    def _texts(self, texts: Any) -> Any:
        raise NotImplementedError

    def _finished(self, result: Any) -> Any:
        """The stream was read to its end, with this result."""
        if result is not None and result is not self._stream:
            self._watcher.whole(result)
        self._over()
        return self if result is self._stream else result

    def _over(self) -> None:
        for name in _SNAPSHOTS:
            snapshot = get(self._stream, name)
            if snapshot is not None:
                self._watcher.whole(snapshot)
        self._watcher.ended()


class _EndOfTexts:
    """Watches a stream of bare texts for its end only: the snapshot holds more than they do."""

    def __init__(self, over: Callable[[], None]) -> None:
        self.ended = over

    def piece(self, piece: Any) -> None:
        pass

    whole = piece


class WatchedStream(_Watched, Generator[Any, Any, Any]):
    """A generator or iterator that behaves like `stream`: what is sent and thrown goes to it, its
    return value comes back, and whatever else it offers (`close`, `with`, attributes) is its own.
    """

    def __init__(self, stream: Any, watcher: StreamWatcher) -> None:
        super().__init__(stream, watcher)
        self._iterator = iter(stream)

    def send(self, value: Any) -> Any:
        return self._next(
            lambda: next(self._iterator) if value is None else self._iterator.send(value)
        )

    def throw(self, *error: Any) -> Any:
        if not hasattr(self._iterator, "throw"):
            self._over()
            raise error[0] if isinstance(error[0], BaseException) else error[0](*error[1:2])
        return self._next(lambda: self._iterator.throw(*error))

    def close(self) -> None:
        try:
            close = getattr(self._stream, "close", None)
            if close is not None:
                close()
        finally:
            self._over()

    def __enter__(self) -> WatchedStream:
        enter = getattr(self._stream, "__enter__", None)
        if enter is not None:
            enter()
        return self

    def __exit__(self, *error: Any) -> Any:
        leave = getattr(self._stream, "__exit__", None)
        try:
            return leave(*error) if leave is not None else self.close()
        finally:
            self._over()

    def _next(self, step: Callable[[], Any]) -> Any:
        try:
            item = step()
        except BaseException:
            self._over()
            raise
        self._watcher.piece(item)
        return item

    def _finisher(self, name: str, finish: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(finish)
        def finished(*args: Any, **kwargs: Any) -> Any:
            result = finish(*args, **kwargs)
            response = getattr(self._stream, _FINISHERS[-1], None)
            if name == "until_done" and response is not None:
                self._watcher.whole(response())
            return self._finished(result)

        return finished

    def _texts(self, texts: Any) -> Any:
        return WatchedStream(texts, _EndOfTexts(self._over))


class WatchedAsyncStream(_Watched, AsyncGenerator[Any, Any]):
    """The same for async generators and iterators."""

    def __init__(self, stream: Any, watcher: StreamWatcher) -> None:
        super().__init__(stream, watcher)
        self._iterator = stream.__aiter__() if hasattr(stream, "__aiter__") else stream

    async def asend(self, value: Any) -> Any:
        if value is None:
            return await self._next(self._iterator.__anext__())
        return await self._next(self._iterator.asend(value))

    async def athrow(self, *error: Any) -> Any:
        if not hasattr(self._iterator, "athrow"):
            self._over()
            raise error[0] if isinstance(error[0], BaseException) else error[0](*error[1:2])
        return await self._next(self._iterator.athrow(*error))

    async def aclose(self) -> None:
        try:
            close = getattr(self._stream, "aclose", None) or getattr(self._stream, "close", None)
            if close is not None:
                done = close()
                if hasattr(done, "__await__"):
                    await done
        finally:
            self._over()

    async def __aenter__(self) -> WatchedAsyncStream:
        enter = getattr(self._stream, "__aenter__", None)
        if enter is not None:
            await enter()
        return self

    async def __aexit__(self, *error: Any) -> Any:
        leave = getattr(self._stream, "__aexit__", None)
        try:
            return await leave(*error) if leave is not None else await self.aclose()
        finally:
            self._over()

    async def _next(self, step: Any) -> Any:
        try:
            item = await step
        except BaseException:
            self._over()
            raise
        self._watcher.piece(item)
        return item

    def _finisher(self, name: str, finish: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(finish)
        async def finished(*args: Any, **kwargs: Any) -> Any:
            result = await finish(*args, **kwargs)
            response = getattr(self._stream, _FINISHERS[-1], None)
            if name == "until_done" and response is not None:
                self._watcher.whole(await response())
            return self._finished(result)

        return finished

    def _texts(self, texts: Any) -> Any:
        return WatchedAsyncStream(texts, _EndOfTexts(self._over))


class WatchedManager:
    """What a `with` opens, as the SDKs' `stream` helpers return it: what it gives is passed on by
    `open_`, and the end of the block is the end of the answer."""

    def __init__(
        self, manager: Any, open_: Callable[[Any], Any], ended: Callable[[], None]
    ) -> None:
        self._manager = manager
        self._open = open_
        self._ended = ended
        self._given: Any = None

    def __enter__(self) -> Any:
        return self._opened(self._manager.__enter__())

    def __exit__(self, *error: Any) -> Any:
        try:
            return self._manager.__exit__(*error)
        finally:
            self._over()

    async def __aenter__(self) -> Any:
        return self._opened(await self._manager.__aenter__())

    async def __aexit__(self, *error: Any) -> Any:
        try:
            return await self._manager.__aexit__(*error)
        finally:
            self._over()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._manager, name)

    def _opened(self, given: Any) -> Any:
        self._given = self._open(given)
        return self._given

    def _over(self) -> None:
        if isinstance(self._given, _Watched):
            self._given._over()
        self._ended()


def is_opened_by_with(answer: Any) -> bool:
    """Whether the answer comes only when a `with` opens this."""
    kind = type(answer)
    opens = hasattr(kind, "__enter__") or hasattr(kind, "__aenter__")
    return opens and not is_answer(answer)


def is_answer(answer: Any) -> bool:
    """Whether it tells its messages as it is."""
    try:
        return bool(answer_messages(answer))
    except Exception:  # an object whose attributes raise must not reach the agent
        return False
