"""Reads stdin up to its end, or for some time, where there is no alarm: a thread reads, we wait."""

import _thread

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable


def read_for(patience: float, read: "Callable[[int], bytes]", *, most: int) -> bytes:
    """What came in `patience` seconds; whoever still reads then ends with the process."""
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
    ended.acquire(timeout=patience)
    return b"".join(list(chunks))
