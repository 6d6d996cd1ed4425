"""Finds work that nobody will review: the client was killed, or the hook of a session's end."""

import time

from skill_learner.events import HookCall
from skill_learner.hook_runtime.clients import is_gone
from skill_learner.hook_runtime.follow_up import holds_work, read_mark
from skill_learner.hook_runtime.requests import ReviewRequests
from skill_learner.hook_runtime.state_folder import read_file
from skill_learner.hook_runtime.system import system

_MOST_JOURNALS = 200
_MOST_REQUESTS = 20
_BLOCK = 4096
_MOST_BLOCKS = 64
_RECORD = b'\n{"v":1,"t":'
_END = b'"e":"SessionEnd"'
_LEFT_FOR_ANOTHER = b'"reason":"resume"'  # the client goes on, and may come back
_END_IS_REVIEWED = 600  # seconds in which whatever is queued or running may be an end's review
_MOST_HELD = 65536


def request_lost_sessions(call: HookCall, requests: ReviewRequests, is_pending: bool) -> None:
    """Writes one request per lost session; only the newest journals are looked at.

    is_pending: whether a review is queued or running; it may be of a session that has just ended.
    """
    found = 0
    now = time.time()
    is_pending = is_pending or requests.any()
    for path, size, changed in _newest_journals(call.state + b"/journal"):
        if path == call.journal:
            continue
        mark = read_mark(call.state, path.rpartition(b"/")[2][: -len(b".jsonl")])
        if mark >= size:
            continue
        envelope, _, payload = _last_record(path, size).partition(b',"d":')
        idle = now - changed
        if _END in envelope and _LEFT_FOR_ANOTHER not in payload.replace(b" ", b""):
            if is_pending and 0 <= idle < _END_IS_REVIEWED:
                continue
        elif not is_gone(_pid(envelope), idle):
            continue
        if not holds_work(path, mark, min(size - mark, _MOST_HELD)):
            continue
        if _request(path, requests):
            found += 1
            if found >= _MOST_REQUESTS:
                return


def _newest_journals(folder: bytes) -> list[tuple[bytes, int, float]]:
    journals = []
    try:
        with system.scandir(folder) as entries:
            for entry in entries:
                if entry.name.endswith(b".jsonl"):
                    status = entry.stat(follow_symlinks=False)
                    journals.append((status.st_mtime, folder + b"/" + entry.name, status.st_size))
    except OSError:
        return []
    journals.sort(reverse=True)
    return [(path, size, changed) for changed, path, size in journals[:_MOST_JOURNALS]]


def _last_record(path: bytes, size: int) -> bytes:
    """The beginning of the last record; b"" when none is found near the end."""
    descriptor = system.open(path, system.O_RDONLY | system.O_CLOEXEC)
    try:
        text = b""
        end = size
        for _ in range(_MOST_BLOCKS):
            start = max(0, end - _BLOCK)
            text = system.pread(descriptor, end - start, start) + text[: len(_RECORD)]
            place = text.rfind(_RECORD)
            if place >= 0:
                return system.pread(descriptor, _BLOCK, start + place)
            if not start:
                break
            end = start
    finally:
        system.close(descriptor)
    return b""


def _pid(envelope: bytes) -> int:
    digits = envelope.rpartition(b',"c":')[2]
    return int(digits) if digits.isdigit() else 0


def _request(path: bytes, requests: ReviewRequests) -> bool:
    """Ask for a review of the session whose journal lies at `path`, by what its first line says."""
    from skill_learner.hook_runtime.payload import read_fields

    line = read_file(path, 65536).lstrip(b"\n").partition(b"\n")[0]
    envelope, _, payload = line.partition(b',"d":')
    fields = read_fields(envelope + b"}")
    session = read_fields(payload).get(b"session_id", b"")
    if not session:
        session = path.rpartition(b"/")[2][: -len(b".jsonl")]
    if requests.is_pending(session):
        return False
    requests.write(
        b"recover",
        session,
        fields.get(b"p", b""),
        fields.get(b"k", b""),
        fields.get(b"ed", b"").decode("ascii", "replace"),
    )
    return True
