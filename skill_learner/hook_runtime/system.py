"""The operating system as hooks use it: the module `posix`, or what stands for it on Windows."""

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

__all__ = ["IS_WINDOWS", "system"]
