"""Runs the user's `git`, with their credentials and without anything that a repository could make
it run: no hooks, no file system monitor, no filters, no helper addresses, no prompts."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import threading
from collections.abc import Generator, Sequence
from pathlib import Path
from typing import IO

from skill_learner.errors import RemoteUnavailableError

GIT_SECONDS = 300.0
_PIECE_BYTES = 1 << 18
_LAST_WORDS_SECONDS = 5.0
_KEPT = (
    *("GIT_SSH", "GIT_SSH_COMMAND", "GIT_SSH_VARIANT", "GIT_ASKPASS", "GIT_PROXY_COMMAND"),
    *("GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM", "GIT_CONFIG_SYSTEM"),
    *("GIT_SSL_CAINFO", "GIT_SSL_NO_VERIFY"),
)
_SETTINGS = (
    *("-c", f"core.hooksPath={os.devnull}", "-c", "core.fsmonitor=false"),
    *("-c", "gc.auto=0", "-c", "maintenance.auto=false", "-c", "advice.detachedHead=false"),
    *("-c", "fetch.writeCommitGraph=false", "-c", "submodule.recurse=false"),
)
NO_HOOKS_THERE = (
    f"git -c core.hooksPath={os.devnull} -c core.alternateRefsCommand=true receive-pack"
)
"""What a push to a folder of this machine runs at the other end, in place of `git receive-pack`."""
_LOCK_FILE = re.compile(r"Unable to create '([^'\n]+\.lock)'")
_WHOSE_LOCK = "another git is at work there, or a killed one left it. If none is, remove that file"
_SAYS_NOTHING = (
    *("hint:", "To ", "Done", "error: failed to push some refs"),
    *("fatal: Could not read from remote repository", "Please make sure you have the correct"),
    "and the repository exists",
)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")


class GitFailedError(Exception):
    """git ended with another status than 0. told: what it said. out: what it printed for us."""

    def __init__(self, command: str, told: str, out: bytes = b"", status: int = 128) -> None:
        super().__init__(f"git {command}: {told}")
        self.told = told
        self.out = out
        self.status = status


class GitProgram:
    def __init__(self, repository: Path, *, seconds: float = GIT_SECONDS) -> None:
        self.repository = repository
        self._seconds = seconds

    def run(self, *arguments: str, data: bytes = b"") -> bytes:
        """What git prints. Raises GitFailedError, or RemoteUnavailableError when there is no git or
        it does not end in time."""
        process = self._started(arguments, subprocess.PIPE if data else subprocess.DEVNULL)
        try:
            out, err = process.communicate(data or None, timeout=self._seconds)
        except subprocess.TimeoutExpired:
            raise self._too_slow(arguments[0]) from None
        finally:
            _end(process)
        if process.returncode:
            told = _last_words(err) or _last_words(out)
            raise GitFailedError(arguments[0], told, out, process.returncode)
        return out

    def pieces(self, *arguments: str) -> Generator[bytes, None, None]:
        """What git prints, as it comes. Raises as `run` does, after the last piece if not before:
        until then nothing of it is certain."""
        process = self._started(arguments, subprocess.DEVNULL)
        assert process.stdout is not None
        told: list[bytes] = []
        listener = threading.Thread(target=_listen, args=(process.stderr, told), daemon=True)
        late = threading.Timer(self._seconds, _kill, (process,))
        late.daemon = True
        listener.start()
        late.start()
        try:
            while piece := os.read(process.stdout.fileno(), _PIECE_BYTES):
                yield piece
            process.wait()
        finally:
            is_late = not late.is_alive()
            late.cancel()
            _kill(process)
            listener.join(_LAST_WORDS_SECONDS)
            _end(process)
        if is_late:
            raise self._too_slow(arguments[0])
        if process.returncode:
            words = _last_words(b"".join(told))
            raise GitFailedError(arguments[0], words, status=process.returncode)

    def commit_at(self, ref: str) -> str:
        """Where a ref of the repository stands; "" when there is none."""
        try:
            return self.run("rev-parse", "--verify", "--quiet", ref).decode().strip()
        except GitFailedError:
            return ""

    def refs_there(self, address: str, *patterns: str) -> dict[str, str]:
        """The refs of another repository, with the commits that they stand at."""
        raw = self.run("ls-remote", "--refs", "--", address, *patterns)
        lines = (line.partition("\t") for line in raw.decode("utf-8", "replace").splitlines())
        return {ref: commit for commit, _, ref in lines}

    def _started(self, arguments: Sequence[str], given: int) -> subprocess.Popen[bytes]:
        try:
            return subprocess.Popen(
                ["git", *_SETTINGS, f"--git-dir={self.repository}", *arguments],
                env=_environment(),
                cwd=self._folder(),
                stdin=given,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                start_new_session=True,
            )
        except OSError as error:
            raise RemoteUnavailableError(
                f"git cannot be started: {error.strerror or error}", "Install git."
            ) from error

    def _folder(self) -> Path | None:
        """Where git is started: here, or, for git goes nowhere from a folder that is gone, beside
        the repository."""
        try:
            os.getcwd()
        except FileNotFoundError:
            return self.repository.parent
        return None

    def _too_slow(self, command: str) -> RemoteUnavailableError:
        return RemoteUnavailableError(f"git {command} did not end within {self._seconds:g} s")


def _listen(stream: IO[bytes] | None, told: list[bytes]) -> None:
    """Beside who reads what git prints, so that git never waits to be heard."""
    assert stream is not None
    while some := stream.read(_PIECE_BYTES):
        told[:] = [*told[-1:], some]  # the last words are told


def _end(process: subprocess.Popen[bytes]) -> None:
    """Nothing that git started outlives the call, however it ended."""
    _kill(process)
    for stream in (process.stdin, process.stdout, process.stderr):
        if stream is not None:
            stream.close()


def _kill(process: subprocess.Popen[bytes]) -> None:
    if process.poll() is None:
        with contextlib.suppress(OSError):
            if hasattr(os, "killpg"):
                os.killpg(process.pid, signal.SIGKILL)
            else:  # pragma: no cover - Windows
                process.kill()
        process.wait()


def _environment() -> dict[str, str]:
    kept = {k: v for k, v in os.environ.items() if not k.startswith("GIT_") or k in _KEPT}
    return kept | {
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "file:git:http:https:ssh",
        "GIT_OPTIONAL_LOCKS": "0",
        "GIT_NO_LAZY_FETCH": "1",
        "LC_ALL": "C",
    }


def _last_words(told: bytes) -> str:
    """What went wrong; of a lock file that somebody else left, which one it is."""
    text = _CONTROL.sub("", told.decode("utf-8", "replace"))
    lock = _LOCK_FILE.search(text)
    if lock is not None:
        path = os.path.normpath(lock[1])
        return f"{path[-300:]} is in the way: {_WHOSE_LOCK}"
    lines = [line for line in map(str.strip, text.splitlines()) if line]
    telling = [line for line in lines if not line.startswith(_SAYS_NOTHING)]
    return "; ".join((telling or lines)[-3:])[:500]
