"""Work that kills itself (SIGKILL) at its n-th call that touches the disk."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from typing import Any

CALLS = (
    "open", "write", "fsync", "replace", "rename", "symlink", "unlink", "rmdir", "mkdir", "chmod",
)  # fmt: skip

HOOK_PREFIX = """
import posix, sys
def _arm():
    left = int(posix.environ.get(b"DIE_AT", b"0"))
    def dying(name, call):
        def wrapped(*arguments, **options):
            nonlocal left
            left -= 1
            if left == 0:
                if name == "write":
                    call(arguments[0], arguments[1][: len(arguments[1]) // 2])
                posix.kill(posix.getpid(), 9)
            return call(*arguments, **options)
        return wrapped
    names = ("open", "write", "lockf", "rename", "unlink", "mkdir", "symlink", "fork", "close")
    for name in names if left else ():
        setattr(posix, name, dying(name, getattr(posix, name)))
_arm()
"""
"""Before the entry of a hook: with DIE_AT=n in the environment it dies at that step, and of a write
only the first half gets out."""


def arm(step: int, told: Callable[[int], None] = lambda _: None) -> None:
    """From now on this process dies at its step-th call; 0: never. told: how many there were."""
    done = 0

    def dying(call: Callable[..., Any]) -> Callable[..., Any]:
        def wrapped(*arguments: Any, **options: Any) -> Any:
            nonlocal done
            done += 1
            if done == step:
                os.kill(os.getpid(), signal.SIGKILL)
            told(done)
            return call(*arguments, **options)

        return wrapped

    for name in CALLS:
        setattr(os, name, dying(getattr(os, name)))


def run_child(work: Callable[[], None]) -> int:
    """Start `work` in a child whose stdout goes nowhere; its process id."""
    pid = os.fork()
    if not pid:
        try:
            nowhere = os.open(os.devnull, os.O_RDWR)
            os.dup2(nowhere, 1)
            work()
        except BaseException as fault:
            os.write(2, f"{type(fault).__name__}: {fault}\n".encode())
            os._exit(3)
        os._exit(0)
    return pid


def was_killed(pid: int) -> bool:
    """Whether the child was still at it when it was killed."""
    _, status = os.waitpid(pid, 0)
    assert not os.WIFEXITED(status) or os.WEXITSTATUS(status) == 0, "the work itself failed"
    return os.WIFSIGNALED(status)


def killed_at(work: Callable[[], None], step: int) -> bool:
    def armed() -> None:
        arm(step)
        work()

    return was_killed(run_child(armed))


def steps_of(work: Callable[[], None]) -> int:
    """How many steps the work has, done in a child."""
    reading, writing = os.pipe()
    write = os.write

    def count(_: int) -> None:
        write(writing, b".")

    def counted() -> None:
        arm(0, count)
        work()

    pid = run_child(counted)
    os.close(writing)
    with open(reading, "rb") as counter:
        steps = len(counter.read())
    assert not was_killed(pid)
    return steps
