"""Writes what every event's hook needs as code in one file, which `hooks/entry.py` loads at once.

A cache like `__pycache__`: a hook that finds it missing, or older than a module's source, imports
as usual and writes it anew before it ends.
"""

import marshal
import sys

from skill_learner.hook_runtime.state_folder import make_folder
from skill_learner.hook_runtime.system import system
from skill_learner.targets import TARGETS

# Each after what it imports. A test holds this against what a hook really loads.
HOT_MODULES = (
    "skill_learner",
    "skill_learner.events",
    "skill_learner.targets",
    "skill_learner.hook_runtime",
    "skill_learner.hook_runtime.system",
    "skill_learner.hook_runtime.deadline",
    "skill_learner.hook_runtime.payload",
    "skill_learner.hook_runtime.project_key",
    "skill_learner.hook_runtime.state_folder",
    "skill_learner.hook_runtime.cached_code",
    "skill_learner.hook_runtime.process",
)


PROMPT_MODULES = (
    "skill_learner.ranking",
    "skill_learner.ranking.stop_words",
    "skill_learner.ranking.words",
    "skill_learner.ranking.plan",
    "skill_learner.ranking.score",
    "skill_learner.ranking.sqlite_reader",
    "skill_learner.ranking.background",
    "skill_learner.ranking.strength",
    "skill_learner.ranking.typos",
    "skill_learner.ranking.find",
    "skill_learner.hook_runtime.json_bytes",
    "skill_learner.hook_runtime.offer",
    "skill_learner.hook_runtime.bare_sqlite",
    "skill_learner.hook_runtime.prompt_search",
)
"""What a prompt needs beyond that, each after what it imports: in the file `prompt`."""

PROMPT = "prompt"


def write_code_cache(root: str, state: str, target: str) -> None:
    """Write the file of a target, or PROMPT. Raises OSError where it cannot be written."""
    entries = []
    for name in PROMPT_MODULES if target == PROMPT else _hot_modules(target):
        file = f"{root}/{name.replace('.', '/')}.py"
        if getattr(sys.modules.get(name), "__path__", None) is not None:
            file = f"{root}/{name.replace('.', '/')}/__init__.py"
        status = system.stat(file)
        code = compile(_read(file), file, "exec", dont_inherit=True)
        entries.append((name, file, (status.st_mtime_ns, status.st_size), code))
    key = f"{sys.version}\n{root}\n".encode("utf-8", "surrogateescape")
    folder = f"{state}/code".encode("utf-8", "surrogateescape")
    make_folder(folder)
    path = folder + b"/" + target.encode("ascii")
    draft = path + b".%d" % system.getpid()
    flags = system.O_WRONLY | system.O_CREAT | system.O_EXCL | system.O_CLOEXEC
    descriptor = system.open(draft, flags, 0o600)
    try:
        data = key + marshal.dumps(entries)
        if system.write(descriptor, data) != len(data):
            raise OSError("the code cache was not written whole")
        system.rename(draft, path)
    except OSError:
        system.unlink(draft)
        raise
    finally:
        system.close(descriptor)


def _hot_modules(target: str) -> tuple[str, ...]:
    module = TARGETS[target]
    if getattr(sys.modules.get(module), "TWINS", False):
        return (*HOT_MODULES, "skill_learner.hook_runtime.twins", module)
    return (*HOT_MODULES, module)


def _read(file: str) -> bytes:
    descriptor = system.open(file, system.O_RDONLY | system.O_CLOEXEC)
    try:
        return system.read(descriptor, 1 << 20)
    finally:
        system.close(descriptor)
