"""What is done to a chunk of first arrivals, and the process beside another one that does it.

It writes drafts only, and none once nobody waits for them any more.
"""

from __future__ import annotations

import os
import pickle
import queue
import sys
import threading
from collections.abc import Callable, Sequence
from typing import IO, Any

from skill_learner.remotes.arrival_form import Terms
from skill_learner.remotes.first_arrivals import PlainSkill, arrive
from skill_learner.skills.bulk import remove_drafts, write_draft

Chunk = Sequence[PlainSkill]
Told = tuple[Terms, str, str]
"""On which terms skills come, when, and below which folder they are written."""


def work(
    chunk: Chunk, mark: str, told: Told, before_each: Callable[[], object] = int
) -> list[tuple[Any, ...]]:
    """What became of each, as `arrive` tells; the drafts bear that mark."""
    terms, at, root = told

    def write(name: str, data: bytes) -> None:
        before_each()
        write_draft(f"{root}{os.sep}{name}", data, mark)

    return arrive(chunk, terms, at, write)


def serve() -> None:
    """Chunks from stdin, what became of them to stdout, until stdin ends."""
    import gc

    gc.disable()  # it lives for seconds, and makes no cycles
    asked, answers, parent = sys.stdin.buffer, sys.stdout.buffer, os.getppid()
    told = pickle.load(asked)
    chunks: queue.SimpleQueue[tuple[Chunk, str] | None] = queue.SimpleQueue()
    threading.Thread(target=_read_on, args=(asked, chunks), daemon=True).start()
    while (given := chunks.get()) is not None:
        pickle.dump(_served(*given, told, parent), answers, pickle.HIGHEST_PROTOCOL)
        answers.flush()


def _read_on(asked: IO[bytes], chunks: queue.SimpleQueue[tuple[Chunk, str] | None]) -> None:
    """Beside the work, so that who asks is never kept waiting, whatever the answers wait for."""
    try:
        while True:
            chunks.put(pickle.load(asked))
    except EOFError:
        pass
    finally:
        chunks.put(None)


def _served(chunk: Chunk, mark: str, told: Told, parent: int) -> list[tuple[Any, ...]] | None:
    """None where a draft could not be written; then none of the chunk is left."""

    def is_waited_for() -> None:
        if os.getppid() != parent:
            raise OSError("nobody waits for this any more")

    try:
        return work(chunk, mark, told, is_waited_for)
    except Exception:
        remove_drafts(told[2], (skill[0] for skill in chunk), mark)
        return None
