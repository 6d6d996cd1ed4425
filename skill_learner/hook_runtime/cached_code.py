"""Modules from one file of code, which `hook_runtime/code_cache.py` writes."""

import sys

from skill_learner.hook_runtime.state_folder import read_file
from skill_learner.hook_runtime.system import system


def load_code(path: bytes) -> bool:
    """Load what a search needs from one file, as `hooks/entry.py` does with the rest; False where
    the file is missing or out of date."""
    key = f"{sys.version}\n{sys.argv[1]}\n".encode("utf-8", "surrogateescape")
    data = read_file(path, 1 << 20)
    if not data.startswith(key):
        return False
    import gc
    import marshal

    gc.disable()  # nothing here lives long enough to be worth collecting

    try:
        entries = marshal.loads(memoryview(data)[len(key) :])
        for _, file, stamp, _ in entries:
            status = system.stat(file)
            if (status.st_mtime_ns, status.st_size) != stamp:
                return False
    except (OSError, ValueError, EOFError, TypeError):
        return False
    for name, file, _, code in entries:
        module = sys.modules[name] = type(sys)(name)
        parent, _, last = name.rpartition(".")
        module.__file__ = file
        module.__package__ = parent
        if file.endswith("__init__.py"):
            module.__package__ = name
            module.__path__ = [file[:-12]]
        setattr(sys.modules[parent], last, module)
        exec(code, module.__dict__)
    return True
