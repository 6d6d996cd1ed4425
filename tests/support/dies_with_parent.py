"""A pool of workers none of which outlives the process that made it, however that one ends."""

from __future__ import annotations

import concurrent.futures
import contextlib
import multiprocessing
import os
import signal
import threading
import time
from collections.abc import Iterator

_TO_CLEAN_UP = 20.0


@contextlib.contextmanager
def pool_that_dies_with_us(workers: int) -> Iterator[concurrent.futures.ProcessPoolExecutor]:
    """Workers hold the reading end of a pipe whose other end is ours alone: it closes with us,
    and each then cleans up what its `with` blocks hold, as after Ctrl-C, and ends."""
    life, ours = os.pipe()
    try:
        with concurrent.futures.ProcessPoolExecutor(
            workers,
            mp_context=multiprocessing.get_context("fork"),
            initializer=_watch,
            initargs=(life, ours),
        ) as pool:
            yield pool
    finally:
        os.close(life)
        os.close(ours)


def _watch(life: int, parents: int) -> None:
    os.close(parents)
    main = threading.main_thread().ident
    assert main is not None

    def wait() -> None:
        os.read(life, 1)
        signal.pthread_kill(main, signal.SIGINT)
        time.sleep(_TO_CLEAN_UP)
        os._exit(1)

    signal.signal(signal.SIGINT, signal.default_int_handler)
    threading.Thread(target=wait, daemon=True).start()
