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
from skill_learner.remotes.first_arrivals import FirstArrival, PlainSkill, arrive
from skill_learner.skills.bulk import remove_drafts, write_draft

WORTH_A_WORKER = 1500
"""Skills below which a worker's start costs more than its help."""
_CHUNK = 100
_MOST_WORKERS = 3
_MOST_SECONDS = 60.0
"""Within which a word of a worker must come; a chunk takes it some hundredths of one."""
_PIPE_BYTES = 1 << 20
_START = (
    "import pickle, sys; sys.path[:] = pickle.load(sys.stdin.buffer); "
    "from skill_learner.remotes.arrival_workers import serve; serve()"
)
Plan = Callable[[Sequence[str]], str]
"""Registers drafts of these names that will be written; their mark."""
Chunk = Sequence[PlainSkill]
Marked = tuple[FirstArrival, str]
Told = tuple[Terms, str, str]
"""On which terms skills come, when, and below which folder they are written."""


def arrivals(
    skills: Sequence[PlainSkill], terms: Terms, at: str, root: str, plan: Plan, workers: Workers
) -> Generator[Marked, None, None]:
    """What becomes of each, in no order, with the mark of its draft below `root`. Close it before
    drafts are taken away: workers write until then, and are ended by it."""
    chunks = deque(skills[start : start + _CHUNK] for start in range(0, len(skills), _CHUNK))
    workers.get_ready(len(skills))
    try:
        yield from _shared_out(chunks, (terms, at, root), plan, workers.ready)
    finally:
        workers.end()


def _work(chunk: Chunk, told: Told, mark: str) -> list[tuple[Any, ...]]:
    terms, at, root = told
    return arrive(
        chunk, terms, at, lambda name, data: write_draft(f"{root}{os.sep}{name}", data, mark)
    )


def _shared_out(
    chunks: deque[Chunk], told: Told, plan: Plan, workers: Sequence[_Worker]
) -> Iterator[Marked]:
    left = len(chunks)
    done: queue.SimpleQueue[list[Marked] | None] = queue.SimpleQueue()
    for worker in workers:
        worker.work_off(chunks, told, plan, done)
    while left:
        found: list[Marked] | None
        try:
            found = done.get_nowait()
        except queue.Empty:
            try:
                chunk = chunks.popleft()
            except IndexError:
                found = _awaited(done, workers)
            else:
                mark = plan([skill[0] for skill in chunk])
                found = [(FirstArrival(*one), mark) for one in _work(chunk, told, mark)]
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
        self,
        chunks: deque[Chunk],
        told: Told,
        plan: Plan,
        done: queue.SimpleQueue[list[Marked] | None],
    ) -> None:
        """Take chunks until there are none, beside the caller. Puts what was found; at the end, or
        when the worker failed at a chunk, which is put back, None."""
        self._thread = threading.Thread(
            target=self._work_off, args=(chunks, told, plan, done), name="skill-learner-arrivals"
        )
        self._thread.start()

    def _work_off(
        self,
        chunks: deque[Chunk],
        told: Told,
        plan: Plan,
        done: queue.SimpleQueue[list[Marked] | None],
    ) -> None:
        try:
            pickle.dump(told, self._to)
            while True:
                chunk = chunks.popleft()
                mark = plan([skill[0] for skill in chunk])
                try:
                    found = [(FirstArrival(*one), mark) for one in self._ask(chunk, mark)]
                except BaseException:
                    self.kill()
                    remove_drafts(told[2], (skill[0] for skill in chunk), mark)
                    chunks.append(chunk)
                    raise
                done.put(found)
        except (IndexError, OSError, EOFError, pickle.PickleError):
            return
        finally:
            done.put(None)

    def _ask(self, chunk: Chunk, mark: str) -> list[tuple[Any, ...]]:
        pickle.dump((chunk, mark), self._to, pickle.HIGHEST_PROTOCOL)
        self._to.flush()
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


# -- the worker's side ----------------------------------------------------------------------------


def serve() -> None:
    """What a worker does: chunks from stdin, what became of them to stdout, until stdin ends."""
    import gc

    gc.disable()  # it lives for seconds, and makes no cycles
    asked, answers, parent = sys.stdin.buffer, sys.stdout.buffer, os.getppid()
    told = pickle.load(asked)
    while True:
        try:
            chunk, mark = pickle.load(asked)
        except EOFError:
            return
        found = _served(chunk, told, mark, parent)
        pickle.dump(found, answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _served(chunk: Chunk, told: Told, mark: str, parent: int) -> list[tuple[Any, ...]] | None:
    """None where a draft could not be written; then none of the chunk is left."""
    terms, at, root = told

    def write(name: str, data: bytes) -> None:
        if os.getppid() != parent:
            raise OSError("nobody waits for this any more")
        write_draft(f"{root}{os.sep}{name}", data, mark)

    try:
        return arrive(chunk, terms, at, write)
    except Exception:
        remove_drafts(root, (skill[0] for skill in chunk), mark)
        return None
