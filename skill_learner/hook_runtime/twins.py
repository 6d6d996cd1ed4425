"""One record for an event for which the editor runs several of our hooks at once.

Cursor runs the hooks of every file it knows, Claude Code's settings included, some milliseconds
apart. Loaded only for editors that do so.
"""

import time

from skill_learner.events import TOOL, HookEvent
from skill_learner.hook_runtime.project_key import fnv1a
from skill_learner.hook_runtime.state_folder import append_record, open_to_append, take_lock
from skill_learner.hook_runtime.system import system

_TWINS_APART = 10  # seconds; a tool call's id is unique for ever, other keys may come again
_TAIL = 256 * 1024


def append_unless_there(folder: bytes, name: bytes, record: bytes, event: HookEvent) -> int:
    """As `append_record`, but -1 and nothing written when the same event stands near the end of the
    journal already.

    Looking and appending happen under one lock, taken on a file beside the journals. Who does not
    get it in time appends all the same: whoever reads the journal joins twins once more.
    """
    now = int(time.time())
    key = b"%016x" % fnv1a(event.twin_key)
    lock = open_to_append(folder, b".twins.lock")
    try:
        take_lock(lock)
        tail = _end_of(folder + b"/" + name)
        if _stands_in(tail, key, now, for_ever=event.kind is TOOL):
            return -1
        return append_record(folder, name, b'%s,"x":"%s:%d"}' % (record[:-1], key, now))
    finally:
        system.close(lock)


def _end_of(path: bytes) -> bytes:
    try:
        descriptor = system.open(path, system.O_RDONLY | system.O_CLOEXEC)
    except FileNotFoundError:
        return b""
    try:
        size = system.fstat(descriptor).st_size
        return system.pread(descriptor, _TAIL, max(0, size - _TAIL))
    finally:
        system.close(descriptor)


def _stands_in(tail: bytes, key: bytes, now: int, *, for_ever: bool) -> bool:
    _, found, behind = tail.rpartition(b',"x":"' + key + b":")
    if not found:
        return False
    at = behind.partition(b'"')[0]
    return for_ever or (at.isdigit() and abs(now - int(at)) <= _TWINS_APART)
