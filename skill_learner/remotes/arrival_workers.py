"""First arrivals on more than one core: processes beside this one that check, form and write.

A worker is a fresh interpreter that is told everything through a pipe, so that it works beside any
host program, whatever threads that has. It writes drafts only, which count as nothing until this
process gives them their names; it ends with its pipe, and writes no more once its parent is gone.
What a worker cannot do, or does not do in time, this process does itself.
"""

from __future__ import annotations

import contextlib
import os
import pickle
import queue
import subprocess
import sys
import threading
from collections import deque
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import IO, Any

from skill_learner.remotes.arrival_form import Terms
from skill_learner.remotes.arrival_service import Chunk, Told, work
from skill_learner.remotes.first_arrivals import FirstArrival, plain
from skill_learner.remotes.protocol import RemoteSkill
from skill_learner.skills.bulk import remove_drafts

WORTH_A_WORKER = 1500
"""Skills below which a worker's start costs more than its help."""
_CHUNK = 50
_AHEAD = 2
"""Chunks that a worker has at a time, so that it never waits for the next."""
_NEAR = 8
"""Chunks that are read before anyone is free for them."""
_MOST_WORKERS = 3
_MOST_SECONDS = 60.0
"""Within which a word of a worker must come; a chunk takes it some hundredths of one."""
_PIPE_BYTES = 1 << 20
_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from skill_learner.remotes.arrival_service import serve; serve()"
)
Plan = Callable[[Sequence[str]], str]
"""Registers drafts of these names that will be written; their mark."""
Marked = tuple[FirstArrival, str]


def arrivals(
    skills: Sequence[RemoteSkill], terms: Terms, at: str, root: str, plan: Plan, workers: Workers
) -> Generator[Marked, None, None]:
    """What becomes of each, in no order, with the mark of its draft below `root`. Close it before
    drafts are taken away: workers write until then, and are ended by it."""
    chunks = _Chunks(skills)
    workers.get_ready(len(skills))
    try:
        yield from _shared_out(chunks, (terms, at, root), plan, workers.ready)
    finally:
        chunks.end()
        workers.end()


class _Chunks:
    """What is still to be done. Only who made it reads on; any thread takes and gives back."""

    def __init__(self, skills: Sequence[RemoteSkill]) -> None:
        starts = range(0, len(skills), _CHUNK)
        self.count = len(starts)
        self._coming = (skills[start : start + _CHUNK] for start in starts)
        self._near: deque[Chunk] = deque()
        self._is_read = False
        self._changed = threading.Condition()

    def read_on(self) -> None:
        """Have some ready, so that nobody waits while more are read. Raises what the files of a
        skill raise that cannot be read."""
        while len(self._near) < _NEAR and not self._is_read:
            skills = next(self._coming, None)
            if skills is None:
                self.end()
            else:
                self.give_back([*map(plain, skills)])

    def take(self, *, wait: bool) -> Chunk | None:
        """The next one; None when there is none. wait: for one that is still to be read."""
        with self._changed:
            while wait and not self._near and not self._is_read:
                self._changed.wait()
            return self._near.popleft() if self._near else None

    def give_back(self, chunk: Chunk) -> None:
        with self._changed:
            self._near.append(chunk)
            self._changed.notify()

    def end(self) -> None:
        """No more will be read: nobody need wait."""
        with self._changed:
            self._is_read = True
            self._changed.notify_all()


def _shared_out(
    chunks: _Chunks, told: Told, plan: Plan, workers: Sequence[_Worker]
) -> Iterator[Marked]:
    left = chunks.count
    done: queue.SimpleQueue[list[Marked] | None] = queue.SimpleQueue()
    for worker in workers:
        worker.work_off(chunks, told, plan, done)
    while left:
        chunks.read_on()
        found: list[Marked] | None
        try:
            found = done.get_nowait()
        except queue.Empty:
            chunk = chunks.take(wait=False)
            if chunk is None:
                found = _awaited(done, workers)
            else:
                mark = plan([skill[0] for skill in chunk])
                found = [(FirstArrival(*one), mark) for one in work(chunk, mark, told)]
        if found is not None:
            left -= 1
            yield from found


def _awaited(
    done: queue.SimpleQueue[list[Marked] | None], workers: Sequence[_Worker]
) -> list[Marked] | None:
    """The next word of a worker. Each ends with one, however it ended."""
    try:
        return done.get(timeout=_MOST_SECONDS)
    except queue.Empty:
        for worker in workers:
            worker.kill()
        return done.get()


# -- this side of the pipes ------------------------------------------------------------------------


class Workers:
    """The processes beside this one: none until they are wanted, none after `end`."""

    def __init__(self) -> None:
        self.ready: list[_Worker] = []

    def get_ready(self, count: int) -> None:
        """Start as many as help with so many skills; none where none can be started. Said as soon
        as the count is known, their start goes on while the skills are read."""
        wanted = min(_cores() - 1, count // WORTH_A_WORKER, _MOST_WORKERS)
        with contextlib.suppress(OSError):
            while len(self.ready) < wanted:
                self.ready.append(_Worker())

    def end(self) -> None:
        while self.ready:
            self.ready.pop().end()


def _cores() -> int:
    if os.name == "nt" or getattr(sys, "frozen", False) or not sys.executable:
        return 1  # nothing here is known to start an interpreter
    if not os.path.basename(sys.executable).startswith(("python", "pypy")):
        return 1  # it is embedded in another program
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _Worker:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-I", "-c", _START],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        self._thread: threading.Thread | None = None
        for pipe in (self._to, self._from):
            _widen(pipe)
        with contextlib.suppress(OSError):  # it died; so the first chunk will tell
            pickle.dump(sys.path, self._to)
            self._to.flush()

    @property
    def _to(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def _from(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    def work_off(
        self, chunks: _Chunks, told: Told, plan: Plan, done: queue.SimpleQueue[list[Marked] | None]
    ) -> None:
        """Take chunks until there are none, beside the caller. Puts what was found; at the end, or
        when the worker failed at a chunk, which is given back, None."""
        self._thread = threading.Thread(
            target=self._work_off, args=(chunks, told, plan, done), name="skill-learner-arrivals"
        )
        self._thread.start()

    def _work_off(
        self, chunks: _Chunks, told: Told, plan: Plan, done: queue.SimpleQueue[list[Marked] | None]
    ) -> None:
        asked: deque[tuple[Chunk, str]] = deque()
        try:
            pickle.dump(told, self._to)
            while self._ask(chunks, plan, asked):
                found = self._answer()
                mark = asked.popleft()[1]
                done.put([(FirstArrival(*one), mark) for one in found])
        except (OSError, EOFError, pickle.PickleError):
            pass
        finally:
            if asked:
                self.kill()
            for chunk, mark in asked:
                remove_drafts(told[2], (skill[0] for skill in chunk), mark)
                chunks.give_back(chunk)
            done.put(None)

    def _ask(
        self, chunks: _Chunks, plan: Plan, asked: deque[tuple[Chunk, str]]
    ) -> deque[tuple[Chunk, str]]:
        """Let it have as many as it may have at a time; those that it has."""
        while len(asked) < _AHEAD:
            chunk = chunks.take(wait=not asked)
            if chunk is None:
                break
            asked.append((chunk, plan([skill[0] for skill in chunk])))
            pickle.dump(asked[-1], self._to, pickle.HIGHEST_PROTOCOL)
            self._to.flush()
        return asked

    def _answer(self) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] | None = pickle.load(self._from)
        if found is None:
            raise OSError("the worker could not do it")
        return found

    def kill(self) -> None:
        self._process.kill()
        self._process.wait()

    def end(self) -> None:
        self.kill()
        if self._thread is not None:
            self._thread.join()
        for pipe in (self._to, self._from):
            with contextlib.suppress(OSError):
                pipe.close()


def _widen(pipe: IO[bytes]) -> None:
    """So that a chunk goes through at once."""
    with contextlib.suppress(ImportError, AttributeError, OSError):
        import fcntl

        fcntl.fcntl(pipe.fileno(), fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
