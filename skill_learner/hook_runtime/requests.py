"""Requests for a review: small files that a review process turns into durable jobs."""

import time

from skill_learner.hook_runtime.state_folder import make_folder, read_file
from skill_learner.hook_runtime.system import system

_MOST_READ = 200


class ReviewRequests:
    """The requests of one state folder that nobody has taken yet."""

    def __init__(self, state: bytes) -> None:
        self._state = state
        self._folder = state + b"/requests"
        try:
            self._names = [name for name in system.listdir(self._folder) if name[:1] != b"."]
        except OSError:
            self._names = []
        self._sessions: set[bytes] | None = None

    def any(self) -> bool:
        return bool(self._names)

    def is_pending(self, session: bytes) -> bool:
        if self._sessions is None:
            self._sessions = set()
            for name in self._names[:_MOST_READ]:
                for line in self._read(name).split(b"\n"):
                    if line.startswith(b"session="):
                        self._sessions.add(line[8:])
        return _one_line(session) in self._sessions

    def write(self, reason: bytes, session: bytes, project: bytes, key: bytes, editor: str) -> None:
        """The file appears whole or not at all."""
        lines = b"reason=%s\nsession=%s\nproject=%s\nkey=%s\neditor=%s\n" % (
            reason,
            _one_line(session),
            _one_line(project),
            _one_line(key),
            editor.encode("ascii"),
        )
        name = b"%d-%d" % (time.time_ns() // 1_000_000, system.getpid())
        while name in self._names:
            name += b"x"
        draft = self._state + b"/.request-%d" % system.getpid()
        flags = (
            system.O_WRONLY | system.O_CREAT | system.O_TRUNC | system.O_CLOEXEC | system.O_NOFOLLOW
        )
        descriptor = system.open(draft, flags, 0o600)
        try:
            written = system.write(descriptor, lines)
            system.close(descriptor)
            descriptor = -1
            if written != len(lines):
                raise OSError("the request was not written whole")
            make_folder(self._folder)
            system.rename(draft, self._folder + b"/" + name)
        except BaseException:  # of which one is that the time is over
            if descriptor >= 0:
                system.close(descriptor)
            system.unlink(draft)
            raise
        self._names.append(name)
        if self._sessions is not None:
            self._sessions.add(_one_line(session))

    def _read(self, name: bytes) -> bytes:
        return read_file(self._folder + b"/" + name)


def _one_line(value: bytes) -> bytes:
    """A value that cannot begin another line of the file."""
    return value.replace(b"\n", b"%0a").replace(b"\r", b"%0d")
