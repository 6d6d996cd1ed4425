# hook.sh starts this by path with `-I -S`: <package root> <state folder> <target> <event>.
# It is compiled at every start, so it is short. What every event needs comes in one file (written
# by hook_runtime/code_cache.py); importing the modules one by one costs a tenth of the whole call.
import marshal
import sys

# On a full disk older Pythons leave cut bytecode behind, on which every later start would fail.
sys.dont_write_bytecode = True
try:
    import posix as system
except ImportError:
    import nt as system  # type: ignore[no-redef]

cached = False
try:
    root, state, target = sys.argv[1:4]
    sys.path.insert(0, root)
    try:
        descriptor = system.open(
            f"{state}/code/{target}", system.O_RDONLY | getattr(system, "O_BINARY", 0)
        )
        data = system.read(descriptor, 1 << 20)
        key = f"{sys.version}\n{root}\n".encode("utf-8", "surrogateescape")
        if data.startswith(key):
            entries = marshal.loads(memoryview(data)[len(key) :])
            for _, file, stamp, _ in entries:
                status = system.stat(file)
                if (status.st_mtime_ns, status.st_size) != stamp:
                    raise ImportError
            for name, file, _, code in entries:
                module = sys.modules[name] = type(sys)(name)
                parent, _, last = name.rpartition(".")
                module.__package__ = parent
                if file.endswith("__init__.py"):
                    module.__package__ = name
                    module.__path__ = [file[:-12]]
                if parent:
                    setattr(sys.modules[parent], last, module)
                exec(code, module.__dict__)
            cached = True
    except Exception:
        for name in [name for name in sys.modules if name.startswith("skill_learner")]:
            del sys.modules[name]
    from skill_learner.hook_runtime import process

    process.run(cached)
finally:
    system._exit(0)
