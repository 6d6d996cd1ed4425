"""Starts the review process so that it outlives the hook.

An editor that cancels a hook kills all its descendants by parentage, sessions of their own or not.
Only a process whose parent has already gone, and which init has taken over, is left alone.
"""

import sys

from skill_learner.events import HookCall
from skill_learner.hook_runtime.system import IS_WINDOWS, system

TYPE_CHECKING = False
if TYPE_CHECKING:
    import signal as _signal  # `signal` itself imports enum: far too slow here
else:
    import _signal

_FIRST_FREE = 3
_MOST_DESCRIPTORS = 4096


def start_review(call: HookCall) -> None:
    """Returns as soon as the review is nobody's child here; OSError when it cannot start."""
    if IS_WINDOWS:
        from skill_learner.hook_runtime import windows_detach

        windows_detach.start_review(call)
        return
    child = system.fork()
    if child:
        _, status = system.waitpid(child, 0)
        if status:
            raise OSError("the review could not be started; it is requested for the next start")
        return
    status = 1
    try:
        system.setsid()
        if not system.fork():
            _become_review(call)
        status = 0
    finally:
        system._exit(status)


def _become_review(call: HookCall) -> None:
    try:
        system.umask(call.umask)
        for number in (_signal.SIGALRM, _signal.SIGPIPE):
            _signal.signal(number, _signal.SIG_DFL)
        system.chdir(call.state)
        environ = dict(call.environ)
        environ[b"SKILL_LEARNER_REVIEW"] = b"1"
        environ[b"SKILL_LEARNER_STATE_DIR"] = call.state
        nowhere = system.open("/dev/null", system.O_RDWR)
        for stream in range(_FIRST_FREE):
            system.dup2(nowhere, stream)
        system.closerange(_FIRST_FREE, _MOST_DESCRIPTORS)
        program = sys.executable
        # -B: on a full disk older Pythons leave cut bytecode behind
        arguments = [program, "-B", "-m", "skill_learner", "review", "--detached"]
        system.execve(program, arguments, environ)
    except BaseException as fault:
        from skill_learner.hook_runtime.fault_log import log_fault

        log_fault(call.state, "review start", fault)
    finally:
        system._exit(127)
