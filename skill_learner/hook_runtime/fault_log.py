"""One line per fault in hook.log, which never grows past its cap. Loaded only on a fault."""

import posix
import time

_CAP = 64 * 1024
_KEPT = 16 * 1024
_LONGEST_LINE = 400


def log_fault(state: bytes, what: str, fault: BaseException) -> None:
    """Silent when the log cannot be written: there is nobody left to tell."""
    traceback = fault.__traceback__
    while traceback is not None and traceback.tb_next is not None:
        traceback = traceback.tb_next
    place = ""
    if traceback is not None:
        code = traceback.tb_frame.f_code
        place = f" in {code.co_name}:{traceback.tb_lineno}"
    text = f"{int(time.time())} {what}: {type(fault).__name__}: {fault}{place}"
    line = text.replace("\n", " ").replace("\r", " ")[:_LONGEST_LINE]
    flags = posix.O_RDWR | posix.O_CREAT | posix.O_APPEND | posix.O_CLOEXEC | posix.O_NOFOLLOW
    descriptor = posix.open(state + b"/hook.log", flags, 0o600)
    try:
        size = posix.fstat(descriptor).st_size
        if size > _CAP:
            kept = posix.pread(descriptor, _KEPT, size - _KEPT).partition(b"\n")[2]
            posix.ftruncate(descriptor, 0)
            posix.write(descriptor, kept)
        posix.write(descriptor, line.encode("utf-8", "replace") + b"\n")
    finally:
        posix.close(descriptor)
