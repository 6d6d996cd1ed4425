"""One module per editor. The tables are all that the rest of the house knows of them."""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from skill_learner.targets.protocol import Target

TARGETS: dict[str, str] = {
    "claude-code": "skill_learner.targets.claude_code",
    "codex": "skill_learner.targets.codex",
    "cursor": "skill_learner.targets.cursor",
}

MARKS: dict[str, tuple[bytes, bytes]] = {
    "cursor": (b"cursor_version", b"CURSOR_VERSION"),
}
"""Of editors that run hooks which were registered with another one: a payload field and a variable
of the hook's environment that only they set."""


def fired_by(
    registered: str, fields: "Mapping[bytes, bytes]", environ: "Mapping[bytes, bytes]"
) -> str:
    """The editor that ran a hook. The payload knows; the environment, which a nested agent
    inherits, is asked only when the payload says nothing at all."""
    for name, (field, variable) in MARKS.items():
        if field in fields or (not fields and variable in environ):
            return name
    return registered


def get_target(name: str) -> "Target":
    """The target's module; InstallError naming the known ones otherwise."""
    import importlib
    from typing import cast

    if name not in TARGETS:
        from skill_learner.errors import InstallError

        known = ", ".join(sorted(TARGETS))
        raise InstallError(f"unknown target {name!r}", f"Known targets: {known}")
    return cast("Target", importlib.import_module(TARGETS[name]))
