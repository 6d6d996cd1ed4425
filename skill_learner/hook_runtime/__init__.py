"""What runs inside a hook process: built-in modules only, as each import is paid per call."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_PREFIX = "skill_learner."
_PACKAGES = (_PREFIX + "targets",)
_LARGEST = 1 << 20


def load_modules_fast(root: str) -> None:
    """From now on load this package's cached bytecode below `root` without searching for it.

    Finding and checking one module costs the standard machinery twice what loading it costs, which
    for a hook adds up to a twentieth of the whole process. Bytecode that is missing or older than
    its source is left to that machinery, which then writes it anew. For hook processes only.
    """
    import marshal
    import posix
    import sys
    from _frozen_importlib import ModuleSpec
    from _frozen_importlib_external import MAGIC_NUMBER

    checked_by_time = MAGIC_NUMBER + bytes(4)
    ending = f".{sys.implementation.cache_tag}.pyc"

    class BytecodeFinder:
        @classmethod
        def find_spec(
            cls, name: str, _path: object = None, _target: object = None
        ) -> "ModuleSpec | None":
            if not name.startswith(_PREFIX):
                return None
            base = f"{root}/{name.replace('.', '/')}"
            is_package = name in _PACKAGES
            if is_package:
                base += "/__init__"
            folder, _, stem = base.rpartition("/")
            try:
                source = posix.stat(base + ".py")
                cached = posix.open(f"{folder}/__pycache__/{stem}{ending}", posix.O_RDONLY)
                data = posix.read(cached, _LARGEST)
                posix.close(cached)
            except OSError:
                return None
            stamp = int(source.st_mtime).to_bytes(4, "little") + source.st_size.to_bytes(
                4, "little"
            )
            if data[:16] != checked_by_time + stamp:
                return None
            spec = ModuleSpec(name, cls, loader_state=data, is_package=is_package)  # type: ignore[arg-type]
            if is_package:
                spec.submodule_search_locations = [folder]
            return spec

        @staticmethod
        def create_module(_spec: ModuleSpec) -> None:
            return None

        @staticmethod
        def exec_module(module: "ModuleType") -> None:
            state = module.__spec__.loader_state if module.__spec__ else b""
            exec(marshal.loads(memoryview(state)[16:]), module.__dict__)

    sys.meta_path.insert(0, BytecodeFinder)
