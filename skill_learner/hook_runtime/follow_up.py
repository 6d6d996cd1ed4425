"""What follows once an event is in the journal: does this moment ask for a review?

A request is written before anything is started, so that a start that fails, or is killed, is made
good by the next one.
"""

import time

from skill_learner.events import SESSION_END, SESSION_START, HookCall
from skill_learner.hook_runtime.project_key import safe_name
from skill_learner.hook_runtime.requests import ReviewRequests
from skill_learner.hook_runtime.state_folder import read_file
from skill_learner.hook_runtime.system import IS_WINDOWS, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_LONGEST_REST = 3600
_ENOUGH_TO_BE_WORK = 65536
_WORK = (b'"e":"PostToolUse', b'"e":"UserPromptSubmit"')


def follow_up(call: HookCall, target: "ModuleType") -> bytes:
    """Requests and starts a review where one is due; returns what is to be printed."""
    kind = call.event.kind
    if kind == SESSION_START:
        from skill_learner.hook_runtime.session_start import on_start

        return on_start(call, target)
    if _session_is_due(call) if kind == SESSION_END else _turn_is_due(call):
        reason = b"session_end" if kind == SESSION_END else b"nudge"
        _request_and_start(call, reason)
    return b""


def _turn_is_due(call: HookCall) -> bool:
    key = call.event.project_key
    return 0 < _interval(call) <= unreviewed(call.state, key) and not _rests(call.state, key)


def _interval(call: HookCall) -> int:
    """The threshold; a project may have one of its own: `nudge_interval.<project key>=<n>`."""
    interval = call.settings[b"nudge_interval"]
    if call.environ.get(b"SKILL_LEARNER_NUDGE_INTERVAL", b"").isdigit():
        return interval
    own = b"nudge_interval." + call.event.project_key.encode("ascii")
    for line in read_file(call.state + b"/hook.conf", 1 << 20).split(b"\n"):
        key, _, value = line.partition(b"=")
        if key.strip() == own and value.strip().isdigit():
            interval = int(value)
    return interval


def _rests(state: bytes, key: str) -> bool:
    """Whether a review of the project has just ended, failed, or met a ceiling: the count that
    asked for it may stay where it is, and every turn would start another."""
    until = read_file(state + b"/tally/" + key.encode("ascii") + b".wait", 64).strip()
    rest = int(until) - time.time() if until.isdigit() else 0
    return 0 < rest < _LONGEST_REST  # more is a clock that was put back


def unreviewed(state: bytes, key: str) -> int:
    """Tool calls and turns of a project that no completed review has covered."""
    tally = state + b"/tally/" + key.encode("ascii")
    try:
        count = system.stat(tally).st_size
    except OSError:
        return 0
    base = read_file(tally + b".base", 64).strip()
    return count - int(base) if base.isdigit() else count


def _session_is_due(call: HookCall) -> bool:
    """Whether something happened between the last review's mark and this end."""
    if call.event.cause == b"resume":  # the same session goes on
        return False
    mark = read_mark(call.state, safe_name(call.event.session_id or b"unknown"))
    unseen = call.size_before - mark
    if unseen > _ENOUGH_TO_BE_WORK:
        return True
    return unseen > 0 and holds_work(call.journal, mark, unseen)


def holds_work(journal: bytes, start: int, size: int) -> bool:
    """Whether a stretch of a journal records a tool call or a prompt."""
    descriptor = system.open(journal, system.O_RDONLY | system.O_CLOEXEC)
    try:
        stretch = system.pread(descriptor, size, start)
    finally:
        system.close(descriptor)
    return any(event in stretch for event in _WORK)


def read_mark(state: bytes, session_file: bytes) -> int:
    """Offset up to which a completed review has seen the session's journal: `{"to": <n>}`."""
    text = read_file(state + b"/marks/" + session_file + b".json", 4096)
    digits = text.partition(b'"to"')[2].lstrip(b" :\t\n").split(b",", 1)[0].strip(b" \t\r\n}")
    return int(digits) if digits.isdigit() else 0


def _request_and_start(call: HookCall, reason: bytes) -> None:
    requests = ReviewRequests(call.state)
    event = call.event
    session = event.session_id or b"unknown"
    if not requests.is_pending(session):
        requests.write(
            reason, session, event.project, event.project_key.encode("ascii"), event.editor
        )
    elif _review_is_running(call.state):
        return  # it looks for requests again before it ends
    from skill_learner.hook_runtime.detach import start_review

    start_review(call)


def _review_is_running(state: bytes) -> bool:
    """Whether the review lock is held. flock, as `files.locked` takes it."""
    try:
        descriptor = system.open(state + b"/review.lock", system.O_RDWR | system.O_CLOEXEC)
    except OSError:
        return False
    try:
        if IS_WINDOWS:
            from skill_learner.hook_runtime.windows_system import take_lock

            return not take_lock(descriptor, 0)
        import fcntl

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        system.close(descriptor)
    return False
