"""One line per fault in hook.log, which never grows past its cap. Loaded only on a fault."""

import time

from skill_learner.hook_runtime.system import system

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
    flags = system.O_RDWR | system.O_CREAT | system.O_APPEND | system.O_CLOEXEC | system.O_NOFOLLOW
    descriptor = system.open(state + b"/hook.log", flags, 0o600)
    try:
        size = system.fstat(descriptor).st_size
        if size > _CAP:
            kept = system.pread(descriptor, _KEPT, size - _KEPT).partition(b"\n")[2]
            system.ftruncate(descriptor, 0)
            system.write(descriptor, kept)
        system.write(descriptor, line.encode("utf-8", "replace") + b"\n")
    finally:
        system.close(descriptor)
