"""Run another program in a process group of its own, and be able to end the whole group.

A program that we start (the headless client, a user's command) may start others; killing it alone
would leave those running and spending. What runs is remembered, so that a watchdog can end it.
"""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

_GRACE_SECONDS = 1.0

_running: set[subprocess.Popen[bytes]] = set()
_running_lock = threading.Lock()


@dataclass(frozen=True)
class Finished:
    """How a program ended; the outputs are decoded leniently."""

    code: int
    stdout: str
    stderr: str


def run(
    argv: Sequence[str], *, stdin: str, timeout: float, env: Mapping[str, str], cwd: Path
) -> Finished:
    """Run `argv` to its end without a shell.

    Raises OSError when it cannot be started, and TimeoutError after `timeout` seconds; by then the
    program and everything it started are gone.
    """
    process = subprocess.Popen(
        [*_dies_with_us(argv[0], env), *argv],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=dict(env),
        cwd=cwd,
        start_new_session=sys.platform != "win32",
        creationflags=getattr(subprocess, "CREATE_NEW_PROCESS_GROUP", 0),
    )
    with _running_lock:
        _running.add(process)
    try:
        data = stdin.encode("utf-8", "replace")
        stdout, stderr = process.communicate(data, timeout=timeout)
    except subprocess.TimeoutExpired as expired:
        _ask_to_end(process)
        raise TimeoutError(f"{argv[0]} gave no answer within {timeout:g} s") from expired
    finally:
        _kill_group(process)
        _close(process)
        with _running_lock:
            _running.discard(process)
    if process.returncode in (126, 127) and stderr.startswith(b"setpriv: failed to execute"):
        raise OSError(stderr.decode("utf-8", "replace").strip())
    return Finished(
        process.returncode, stdout.decode("utf-8", "replace"), stderr.decode("utf-8", "replace")
    )


def _dies_with_us(program: str, env: Mapping[str, str]) -> list[str]:
    """Words before a command by which the kernel ends it when we are killed without a chance to.

    Linux only, by util-linux; elsewhere a program that is left ends with its own work. A program
    that is not there gets no such words, so that its absence shows as ever.
    """
    setpriv = shutil.which("setpriv") if sys.platform == "linux" else None
    if setpriv is None or shutil.which(program, path=env.get("PATH")) is None:
        return []
    return [setpriv, "--pdeathsig", "KILL", "--"]


def kill_all() -> None:
    """End every program that `run` has started and that is still running, with its children."""
    with _running_lock:
        processes = list(_running)
    for process in processes:
        _kill_group(process)


def _ask_to_end(process: subprocess.Popen[bytes]) -> None:
    """A moment to tidy up (the client keeps files on running sessions), before the kill."""
    if sys.platform == "win32":  # pragma: no cover - there is no such signal
        return
    with contextlib.suppress(ProcessLookupError, PermissionError, subprocess.TimeoutExpired):
        os.killpg(process.pid, signal.SIGTERM)
        process.wait(_GRACE_SECONDS)


def _kill_group(process: subprocess.Popen[bytes]) -> None:
    """The group may outlive its leader (a child left behind), so it is signalled in any case."""
    if sys.platform == "win32":  # pragma: no cover - not run on POSIX
        if process.poll() is None:
            kill_tree = ["taskkill", "/F", "/T", "/PID", str(process.pid)]
            subprocess.run(kill_tree, capture_output=True, check=False)
        return
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(process.pid, signal.SIGKILL)


def _close(process: subprocess.Popen[bytes]) -> None:
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            with contextlib.suppress(OSError):
                stream.close()
    with contextlib.suppress(subprocess.TimeoutExpired):
        process.wait(timeout=5)
