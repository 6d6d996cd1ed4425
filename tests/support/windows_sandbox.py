"""Hooks as Windows starts them, where there is no Windows: the entry that init registers there, run
as a process in which `posix` and its kin cannot be imported and Windows' own modules are played.

What is played, and so not proved: that `nt`, `msvcrt` and `_winapi` do what their documents say.
"""

from __future__ import annotations

import json
import os
from pathlib import Path

from hook_sandbox import CHECKOUT, HookSandbox

from skill_learner.hook_runtime.launcher import launch_arguments
from skill_learner.targets import get_target

POSIX_ONLY = ("posix", "fcntl", "resource", "pwd", "grp", "termios", "syslog", "pty", "tty")

PLAYED = """
import sys, os, time, types, posix, fcntl, _signal
class Refused:
    def __getattr__(self, name):
        raise AttributeError(f"{name} is not there on Windows")
nt = types.ModuleType("nt")
missing = {"fork", "lockf", "F_LOCK", "F_TLOCK", "pread", "setsid", "geteuid", "getuid", "killpg",
    "set_blocking", "O_CLOEXEC", "O_NONBLOCK", "O_NOFOLLOW", "O_DIRECTORY", "kill", "getcwdb"}
nt.__dict__.update({k: v for k, v in vars(posix).items() if k not in missing})
nt.O_BINARY, nt.O_NOINHERIT = 0x8000, posix.O_CLOEXEC
nt.environ = {os.fsdecode(k).lower() if k == b"SKILL_LEARNER_OFF" else os.fsdecode(k):
    os.fsdecode(v) for k, v in posix.environ.items()}
def unprivileged(*_, **__):
    raise OSError(1314, "A required privilege is not held by the client")
nt.symlink = unprivileged
msvcrt = types.ModuleType("msvcrt")
msvcrt.LK_UNLCK, msvcrt.LK_LOCK, msvcrt.LK_NBLCK = 0, 1, 2
def locking(descriptor, mode, size):
    kind = fcntl.LOCK_EX | fcntl.LOCK_NB if mode else fcntl.LOCK_UN
    fcntl.lockf(descriptor, kind, size, 0, 1)
msvcrt.locking = locking
winapi = types.ModuleType("_winapi")
winapi.CreateJunction = lambda source, link: posix.symlink(source.replace("\\\\", "/"), link)
started = types.ModuleType("subprocess")
started.DEVNULL = -3
def popen(command, **how):
    with open(@STARTED@, "a") as told:
        env = how["env"]
        told.write(f"{env['SKILL_LEARNER_REVIEW']}|{env['SKILL_LEARNER_STATE_DIR']}|"
            f"{' '.join(command[1:])}|{how['creationflags']:#x}\\n")
started.Popen = popen
class Kernel:
    def OpenProcess(self, rights, inherit, pid):
        return 7 if os.path.exists(f"/proc/{pid}") else 0
    def GetLastError(self):
        return 87
    def GetExitCodeProcess(self, handle, code):
        code.value = 259
        return 1
    def CloseHandle(self, handle):
        pass
ctypes = types.ModuleType("ctypes")
ctypes.windll = types.SimpleNamespace(kernel32=Kernel())
ctypes.c_ulong = lambda: types.SimpleNamespace(value=0)
ctypes.byref = lambda code: code
signals = types.ModuleType("_signal")
signals.SIGINT, signals.signal = 2, _signal.signal
sys.modules.update(nt=nt, msvcrt=msvcrt, _winapi=winapi, subprocess=started, ctypes=ctypes,
    _signal=signals)
for name in @POSIX_ONLY@:
    sys.modules[name] = None
"""


class WindowsSandbox(HookSandbox):
    """As a HookSandbox, with one target's entry for Windows that names program and arguments."""

    def _entry(self, root: Path) -> Path:
        (root / "hooks").mkdir()
        entry = root / "hooks" / "entry.py"
        played = PLAYED.replace("@STARTED@", repr(str(self.started)))
        source = (CHECKOUT / "hooks" / "entry.py").read_text(encoding="utf-8")
        entry.write_text(played.replace("@POSIX_ONLY@", repr(POSIX_ONLY)) + source)
        return entry

    def command(self, event: str) -> list[str]:
        launch = launch_arguments(self.interpreter, self.entry, self.state, CHECKOUT)
        (hook,) = get_target("claude-code").windows_entry(event, launch)["hooks"]
        return [str(self._played_shell()), *hook["args"]]

    def _played_shell(self) -> Path:
        """cmd, as far as the registered words need it: `/d /c if exist <file> … <program> …`."""
        path = self.home / "cmd"
        if path.exists():
            return path
        path.write_text(
            "#!/bin/sh\nshift 2\n"
            'while [ "$1 $2" = "if exist" ]; do [ -e "$3" ] || exit 0; shift 3; done\nexec "$@"\n'
        )
        path.chmod(0o755)
        return path

    def wishes(self) -> list[str]:
        """The reviews that were started, each as environment, command line and flags."""
        return self.started.read_text().splitlines() if self.started.exists() else []


def journal_line(session: str, project: Path, key: str, pid: int, event: str) -> bytes:
    payload = {"session_id": session, "hook_event_name": event, "prompt": "x"}
    told = (json.dumps(event), json.dumps(os.fspath(project)), json.dumps(payload))
    return (
        f'\n{{"v":1,"t":1700000000,"e":{told[0]},"ed":"claude-code","k":"{key}","p":{told[1]},'
        f'"c":{pid},"d":{told[2]}}}'
    ).encode()
