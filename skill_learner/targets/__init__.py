"""One module per editor. The table is all that the rest of the house knows of them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

TARGETS: dict[str, str] = {
    "claude-code": "skill_learner.targets.claude_code",
}


def get_target(name: str) -> "ModuleType":
    """The target's module; InstallError naming the known ones otherwise."""
    import importlib

    if name not in TARGETS:
        from skill_learner.errors import InstallError

        known = ", ".join(sorted(TARGETS))
        raise InstallError(f"unknown target {name!r}", f"Known targets: {known}")
    return importlib.import_module(TARGETS[name])
