"""Reads stdin up to its end, or a silence, where there is no alarm: a thread reads, we wait."""

import _thread
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_LOOK_EVERY = 0.02


def read_until_silent(
    read: "Callable[[int], bytes]", *, silence: float, drip: int, most: int
) -> bytes:
    """What came. silence: seconds with less than `drip` new bytes, after which we go on; whoever
    still reads then ends with the process."""
    chunks: list[bytes] = []
    ended = _thread.allocate_lock()
    ended.acquire()

    def follow() -> None:
        size = 0
        try:
            while size < most:
                chunk = read(1 << 16)
                if not chunk:
                    break
                chunks.append(chunk)
                size += len(chunk)
        except OSError:  # no stdin at all
            pass
        finally:
            ended.release()

    _thread.start_new_thread(follow, ())
    counted, last = 0, time.monotonic()
    while not ended.acquire(timeout=_LOOK_EVERY):
        size = sum(map(len, chunks))
        now = time.monotonic()
        if size - counted >= drip:
            counted, last = size, now
        elif now - last > silence:
            break
    return b"".join(list(chunks))
