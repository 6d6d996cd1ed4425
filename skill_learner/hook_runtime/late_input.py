"""Input that is late because the machine is busy: a process that nobody waits for reads the rest,
so that neither the editor waits nor the event is lost. Loaded only then.
"""

from skill_learner.hook_runtime import deadline
from skill_learner.hook_runtime.state_folder import read_file
from skill_learner.hook_runtime.system import system

PATIENCE = 10.0
"""Seconds for the rest of it."""


def go_on_alone(unread: int) -> bool:
    """True in a process of its own, with `unread` as stdin and new time; the hook's own process
    ends here. False where the machine is not busy or no process can be made."""
    if not machine_is_busy():
        return False
    try:
        child = system.fork()
    except OSError:
        return False
    if child:
        system.waitpid(child, 0)
        system._exit(0)
    try:
        system.setsid()
        if system.fork():
            system._exit(0)
        nowhere = system.open("/dev/null", system.O_RDWR)
        for stream, source in ((0, unread), (1, nowhere), (2, nowhere)):
            system.dup2(source, stream)
        for descriptor in {unread, nowhere} - {0, 1, 2}:
            system.close(descriptor)
    except OSError:
        system._exit(0)
    deadline.begin()
    return True


def machine_is_busy() -> bool:
    """Whether more wants to run now than two per processor (Linux; elsewhere unknown, so no)."""
    runnable = read_file(b"/proc/loadavg").partition(b"/")[0].rpartition(b" ")[2]
    return runnable.isdigit() and int(runnable) > 2 * (system.cpu_count() or 1)
