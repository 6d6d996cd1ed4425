"""What a name means to `approve` and `reject`: a skill, or a proposal that waits."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from skill_learner.models import Skill
    from skill_learner.skills.library import SkillLibrary
    from skill_learner.skills.proposals import Parked


def meant_by(library: SkillLibrary, names: Sequence[str]) -> list[Skill | Parked]:
    """What each name means, all before the first is touched. LibraryError when one means nothing,
    or several proposals."""
    found: list[Skill | Parked] = []
    for name in names:
        one = _meant(library, name)
        if one not in found:  # an id and its skill's name may mean the same
            found.append(one)
    return found


def _meant(library: SkillLibrary, name: str) -> Skill | Parked:
    parked = library.proposals.of(name)
    if any(one.id == name for one in parked):
        return library.proposals.one(name)
    skill = library.get(name)
    return library.proposals.one(name) if parked and skill.state == "active" else skill
