"""The operating system as hooks use it: the module `posix`, or what stands for it on Windows."""

import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    import posix as system

    IS_WINDOWS: bool
else:
    try:
        import posix as system

        IS_WINDOWS = False
    except ImportError:
        from skill_learner.hook_runtime.windows_system import make_system

        system = make_system()
        IS_WINDOWS = True

IS_MAC = sys.platform == "darwin"

__all__ = ["IS_MAC", "IS_WINDOWS", "system"]
