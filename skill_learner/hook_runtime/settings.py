"""The few settings a hook reads: `key=value` lines of hook.conf, overruled by the environment."""

import posix

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

DEFAULTS = {b"nudge_interval": 10, b"payload_cap": 16 * 1024 * 1024, b"off": 0}


def read_settings(state: bytes, environ: "Mapping[bytes, bytes]") -> dict[bytes, int]:
    """Every key of DEFAULTS. A line or variable that is no number is passed over."""
    settings = dict(DEFAULTS)
    for line in read_file(state + b"/hook.conf").split(b"\n"):
        key, _, value = line.partition(b"=")
        key, value = key.strip(), value.strip()
        if key in settings and value.isdigit():
            settings[key] = int(value)
    for key in settings:
        value = environ.get(b"SKILL_LEARNER_" + key.upper(), b"")
        if value.isdigit():
            settings[key] = int(value)
    return settings


def read_file(path: bytes, most: int = 65536) -> bytes:
    """Up to `most` bytes of a file; b"" when it cannot be read."""
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError:
        return b""
    try:
        return posix.read(descriptor, most)
    except OSError:
        return b""
    finally:
        posix.close(descriptor)
