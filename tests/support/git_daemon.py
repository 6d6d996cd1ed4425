"""A git daemon on loopback: a repository that is reached as one on another machine is."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path


@contextlib.contextmanager
def git_daemon(base: Path, *flags: str) -> Iterator[str]:
    """Serves every repository below `base`; the address of that folder, ending with `/`."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    process = subprocess.Popen(
        [
            *("git", "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}"),
            *(f"--base-path={base}", "--export-all", *flags, str(base)),
        ],
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        _wait_for(port)
        yield f"git://127.0.0.1:{port}/"
    finally:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def _wait_for(port: int) -> None:
    for _ in range(100):
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError("git daemon does not listen")
