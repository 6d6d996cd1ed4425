"""What a project's own settings file may set: a cloned repository brings that file with it.

Until the user trusts it, it may make reviews rarer and what is shown shorter, never the reverse; it
can neither run a program, send data nor choose a path.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

from skill_learner.config import SkillLearnerConfig, user_settings_file
from skill_learner.config_trust import is_trusted

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

_EAGERNESS = ("signal", "", "always")
"""Values of `review_when`: the later, the more is sent."""


def _rises(theirs: Any, mine: Any) -> bool:
    return bool(theirs > mine)


def _falls(theirs: Any, mine: Any) -> bool:
    return bool(theirs < mine)


def _is_more_eager(theirs: Any, mine: Any) -> bool:
    return _EAGERNESS.index(theirs) > _EAGERNESS.index(mine)


_COSTS_MORE: Mapping[str, Callable[[Any, Any], bool]] = {
    "nudge_interval": _falls,
    "review_when": _is_more_eager,
    "index_tokens": _rises,
    "semantic_top_k": _rises,
    "semantic_threshold": _falls,
}
"""For each key that an untrusted file may set, whether its value costs more than the user's. Not
`digest_tokens`: above the user's a request is longer, below it a session takes more of them."""

PROJECT_KEYS = frozenset(_COSTS_MORE)
"""Keys a project's own file may set, as far as that costs no more than the user's own settings."""


def needing_trust(values: Mapping[str, Any], mine: SkillLearnerConfig) -> list[str]:
    """Which of a project's settings count only while the user trusts its file. mine: what is set
    without that file."""
    return sorted(
        key
        for key, value in values.items()
        if key not in PROJECT_KEYS or _COSTS_MORE[key](value, getattr(mine, key))
    )


def counting(
    file: Path, values: Mapping[str, Any], data: bytes, mine: SkillLearnerConfig
) -> tuple[dict[str, Any], list[str]]:
    """Of the values that a project's file sets, those that count: all when the user trusts the file
    with these bytes (`data`), else what costs nobody more; a warning for each of the others."""
    guarded = needing_trust(values, mine)
    if not guarded or is_trusted(mine.state_dir, file, data):
        return dict(values), []
    warnings = []
    for key in guarded:
        more = ", where it would cost more than yours" if key in PROJECT_KEYS else ""
        warnings.append(
            f"{file}: `{key}` is ignored in a project's file{more}; set it in "
            f"{user_settings_file()}, or look at the file and run `skill-learner trust`"
        )
    return {key: value for key, value in values.items() if key not in guarded}, warnings
