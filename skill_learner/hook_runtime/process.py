"""A hook process from start to exit: stdin, stdout and exit status belong to this module alone.

Whatever happens, the editor gets exit status 0, nothing on stderr, and on stdout nothing or exactly
one JSON object.
"""

import sys
import time

from skill_learner.events import (
    PROMPT,
    SESSION_END,
    SESSION_START,
    TOOL_FAILURE,
    TURN_END,
    HookCall,
    HookEvent,
)
from skill_learner.hook_runtime import deadline
from skill_learner.hook_runtime.cached_code import load_code
from skill_learner.hook_runtime.payload import as_json_value, read_fields
from skill_learner.hook_runtime.project_key import is_absolute, locate, project_key, safe_name
from skill_learner.hook_runtime.state_folder import (
    append_byte,
    append_record,
    read_file,
    read_settings,
    switch,
)
from skill_learner.hook_runtime.system import IS_WINDOWS, system
from skill_learner.targets import TARGETS, fired_by

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal  # `signal` itself imports enum: far too slow here
    from types import ModuleType
else:
    import _signal

_TRY_AGAIN = 0.1
_MOST_INPUT = 256 * 1024 * 1024
_unread = -1  # what was stdin when its time was over
_ANSWERED = (PROMPT, SESSION_START, TURN_END, SESSION_END)
_RECURSION_MARK = b"SKILL_LEARNER_REVIEW"
_PLAIN_PATH = (
    b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789/-_.+,:;=@%~#()[]{} '!$&*<>?^`|"
)


def run(code_was_cached: bool) -> None:
    """`entry.py <package root> <state folder> <target> <event>`; never returns."""
    deadline.begin()
    try:
        reply = _handle(sys.argv[2:])
        if reply:
            system.write(1, reply)
        if not code_was_cached and _is_ours(_state_dir(sys.argv[2])):
            _cache_code(sys.argv[3])
    except BaseException as fault:
        _log(fault)
    finally:
        system._exit(0)


def _cache_code(name: str) -> None:
    """Make the next hook faster; one that cannot be made so works all the same."""
    from skill_learner.hook_runtime.code_cache import write_code_cache

    try:  # noqa: SIM105 - contextlib is too slow to import here
        write_code_cache(sys.argv[1], sys.argv[2], name)
    except OSError:
        pass


def _handle(arguments: list[str]) -> bytes:
    environ = system.environ
    if environ.get(_RECURSION_MARK) or switch(environ):
        return b""
    state, target_name, name = _state_dir(arguments[0]), arguments[1], arguments[2]
    payload = _read_stdin()
    settings = read_settings(state, environ)
    if _is_off(settings) or not _is_ours(state):
        return b""
    fields = read_fields(payload)
    target = _target(fired_by(target_name, fields, environ))
    event: HookEvent = target.read_event(name, fields, environ)
    if not _find_project(event) or (
        settings[b"ignores"] and _is_ignored(state, event, fields, payload)
    ):
        return b""
    call = HookCall(state, event, environ)
    call.settings = settings
    call.umask = system.umask(0o077)
    if not _journal(call, payload):
        return b""
    return _answer(call, target, fields)


def _answer(call: HookCall, target: "ModuleType", fields: dict[bytes, bytes]) -> bytes:
    """The event is kept; what else there is to do has what is left of the time."""
    event = call.event
    if event.name == TOOL_FAILURE:
        if not _knows_errors(call):
            return b""
    elif event.kind not in _ANSWERED:
        return b""
    deadline.give_up_in_time()
    try:
        if event.kind is PROMPT:
            return _offer(call, target, fields)
        if event.name == TOOL_FAILURE:
            from skill_learner.hook_runtime.offer import offer_for_failure

            return offer_for_failure(call, target, fields.get(b"error", b""))

        from skill_learner.hook_runtime.follow_up import follow_up

        return follow_up(call, target)
    finally:
        deadline.stay()


def _offer(call: HookCall, target: "ModuleType", fields: dict[bytes, bytes]) -> bytes:
    cached = load_code(call.state + b"/code/prompt")
    from skill_learner.hook_runtime.offer import offer_for_prompt

    reply = offer_for_prompt(call, target, fields.get(b"prompt", b""))
    if not cached and "skill_learner.hook_runtime.prompt_search" in sys.modules:
        _cache_code("prompt")
    return reply


def _knows_errors(call: HookCall) -> bool:
    for scope in (call.event.project_key.encode("ascii"), b"user"):
        try:
            system.stat(call.state + b"/published/" + scope + b".errors")
            return True
        except OSError:
            pass
    return False


def _state_dir(argument: str) -> bytes:
    chosen = system.environ.get(b"SKILL_LEARNER_STATE_DIR", b"")
    if is_absolute(chosen):
        return chosen
    return argument.encode(sys.getfilesystemencoding(), sys.getfilesystemencodeerrors())


def _is_ours(state: bytes) -> bool:
    """Another user's folder is left alone (sudo keeps HOME on some systems)."""
    try:
        return system.stat(state).st_uid == system.geteuid()
    except FileNotFoundError:
        system.mkdir(state, 0o700)
        return True


def _target(name: str) -> "ModuleType":
    path = TARGETS[name]
    __import__(path)
    return sys.modules[path]


def _find_project(event: HookEvent) -> bool:
    """Fill in the event's project; False where the user switched us off."""
    try:
        start = event.start_dir if is_absolute(event.start_dir) else system.getcwdb()
        event.worktree, event.project = locate(start)
    except (OSError, ValueError):  # the folder is gone, or cannot be; the event is not
        event.worktree = event.project = b"/"
    for folder in {event.worktree, event.project}:
        try:
            system.lstat(folder + b"/.skill-learner-off")
            return False
        except OSError:
            pass
    event.project_key = project_key(event.project)
    return True


def _is_off(settings: dict[bytes, int]) -> bool:
    return bool(settings[b"off"]) or settings[b"paused_until"] > time.time()


def _is_ignored(state: bytes, event: HookEvent, fields: dict[bytes, bytes], payload: bytes) -> bool:
    from skill_learner.hook_runtime.privacy import is_ignored

    conf = read_file(state + b"/hook.conf", 1 << 20)
    return is_ignored(conf, (event.worktree, event.project), fields, payload, system.environ)


def _journal(call: HookCall, payload: bytes) -> bool:
    """Whether the event is new: False when another hook of ours has already journalled it."""
    event = call.event
    name = safe_name(event.session_id or b"unknown") + b".jsonl"
    folder = call.state + b"/journal"
    data = as_json_value(payload, call.environ, call.settings[b"payload_cap"])
    record = build_record(event, int(time.time()), data)
    if event.twin_key:
        from skill_learner.hook_runtime.twins import append_unless_there

        call.size_before = append_unless_there(folder, name, record, event)
        if call.size_before < 0:
            return False
    else:
        call.size_before = append_record(folder, name, record)
    call.journal = folder + b"/" + name
    if event.counts:
        append_byte(call.state + b"/tally", event.project_key.encode("ascii"))
    return True


def build_record(event: HookEvent, at: int, data: bytes) -> bytes:
    """One journal line (format: ARCHITECTURE.md). The newline begins it, and none ends it: a line
    torn by a kill can then never swallow the next one."""
    return b'\n{"v":1,"t":%d,"e":"%s","ed":"%s","k":"%s","p":%s,"c":%d,"d":%s}' % (
        at,
        event.name.encode("ascii", "replace"),
        event.editor.encode("ascii"),
        event.project_key.encode("ascii"),
        _path(event.project),
        event.client_pid,
        data,
    )


def _path(path: bytes) -> bytes:
    if not path.translate(None, _PLAIN_PATH):
        return b'"' + path + b'"'
    from skill_learner.hook_runtime.json_bytes import quoted_path

    return quoted_path(path)


def _read_stdin() -> bytes:
    """Everything up to the end of input, or what has come when the time for it is over."""
    patience = deadline.left(deadline.READING, deadline.READING)
    if IS_WINDOWS:
        from skill_learner.hook_runtime.windows_stdin import read_for

        return read_for(patience, lambda size: system.read(0, size), most=_MOST_INPUT)
    chunks: list[bytes] = []
    _read_for(patience, chunks)
    if _unread >= 0:
        from skill_learner.hook_runtime.late_input import PATIENCE, go_on_alone

        if go_on_alone(_unread):
            _read_for(PATIENCE, chunks)
    return b"".join(chunks) if len(chunks) != 1 else chunks[0]


def _read_for(patience: float, chunks: list[bytes]) -> None:
    _signal.signal(_signal.SIGALRM, _end_input)
    _signal.setitimer(_signal.ITIMER_REAL, patience, _TRY_AGAIN)
    size = sum(map(len, chunks))
    try:
        while size < _MOST_INPUT:
            chunk = _read_chunk(1 << 20 if size >= 1 << 16 else 1 << 16)
            if not chunk:
                break
            chunks.append(chunk)
            size += len(chunk)
    finally:
        _signal.setitimer(_signal.ITIMER_REAL, 0)


def _read_chunk(size: int) -> bytes:
    try:
        return system.read(0, size)
    except BlockingIOError:
        system.set_blocking(0, True)
        return system.read(0, size)
    except OSError:  # no stdin at all
        return b""


def _end_input(_signum: int, _frame: object) -> None:
    """Swap stdin for an empty one: the interrupted read is tried again and sees the end, and what
    was read before is kept. (An exception here could lose a chunk that has just arrived.)"""
    global _unread  # noqa: PLW0603 - a signal handler has no other way to tell
    if _unread < 0:
        _unread = system.dup(0)
    empty = system.open("/dev/null", system.O_RDONLY)
    system.dup2(empty, 0)
    system.close(empty)


def _log(fault: BaseException) -> None:
    try:
        from skill_learner.hook_runtime.fault_log import log_fault

        log_fault(_state_dir(sys.argv[2]), " ".join(sys.argv[3:]), fault)
    except BaseException:
        pass
