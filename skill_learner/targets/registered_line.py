"""What every registered POSIX line says: source the launcher, where there is one. Cold."""

_BEGINNING = 'h="${HOME:-}/.skill_learner/hook.sh";'
_END = '. "$h"'


def launching(target: str, event: str) -> str:
    """The same words on every machine, for every user and version."""
    return f'{_BEGINNING} [ -r "$h" ] || exit 0; set -- {target} {event}; {_END}'


def is_launching(command: str, target: str, before: str = "", after: str = "") -> bool:
    """Whether a command is such a line, of any version: every version begins by naming the
    launcher, sets the target, and ends by sourcing it. A command of the user's that only mentions
    or wraps the launcher is not. before, after: what stands around the line."""
    text = command.strip()
    return (
        text.startswith(before + _BEGINNING)
        and f" set -- {target} " in text
        and text.endswith(_END + after)
    )
