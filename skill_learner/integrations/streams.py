"""Streams on their way from agent to caller, watched without being changed."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Any


class WatchedStream(Generator[Any, Any, Any]):
    """A generator or iterator that behaves like `stream`: what is sent and thrown goes to it, its
    return value comes back, and whatever else it offers (`close`, `with`, attributes) is its own.

    piece: told of each item. ended: told once, however the stream ends.
    """

    def __init__(
        self, stream: Any, piece: Callable[[Any], None], ended: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._iterator = iter(stream)
        self._piece = piece
        self._ended = ended

    def send(self, value: Any) -> Any:
        return self._next(
            lambda: next(self._iterator) if value is None else self._iterator.send(value)
        )

    def throw(self, *error: Any) -> Any:
        if not hasattr(self._iterator, "throw"):
            self._ended()
            raise error[0] if isinstance(error[0], BaseException) else error[0](*error[1:2])
        return self._next(lambda: self._iterator.throw(*error))

    def close(self) -> None:
        try:
            close = getattr(self._stream, "close", None)
            if close is not None:
                close()
        finally:
            self._ended()

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
            self._ended()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _next(self, step: Callable[[], Any]) -> Any:
        try:
            item = step()
        except BaseException:
            self._ended()
            raise
        self._piece(item)
        return item


class WatchedAsyncStream(AsyncGenerator[Any, Any]):
    """The same for async generators and iterators."""

    def __init__(
        self, stream: Any, piece: Callable[[Any], None], ended: Callable[[], None]
    ) -> None:
        self._stream = stream
        self._iterator = stream.__aiter__() if hasattr(stream, "__aiter__") else stream
        self._piece = piece
        self._ended = ended

    async def asend(self, value: Any) -> Any:
        if value is None:
            return await self._next(self._iterator.__anext__())
        return await self._next(self._iterator.asend(value))

    async def athrow(self, *error: Any) -> Any:
        if not hasattr(self._iterator, "athrow"):
            self._ended()
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
            self._ended()

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
            self._ended()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    async def _next(self, step: Any) -> Any:
        try:
            item = await step
        except BaseException:
            self._ended()
            raise
        self._piece(item)
        return item


def watched_stream(
    stream: Any, piece: Callable[[Any], None], ended: Callable[[], None]
) -> WatchedStream:
    return WatchedStream(stream, piece, ended)


def watched_async_stream(
    stream: Any, piece: Callable[[Any], None], ended: Callable[[], None]
) -> WatchedAsyncStream:
    return WatchedAsyncStream(stream, piece, ended)
