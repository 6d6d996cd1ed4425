"""What the editors list of one library: of a project's skills, and of the user's."""

from __future__ import annotations

from pathlib import Path

from skill_learner.config import SkillLearnerConfig
from skill_learner.install.records import load_all
from skill_learner.listing import (
    USER_SHARE,
    Listing,
    choose_listing,
    project_traits,
    usefulness_for,
)
from skill_learner.load_check import fit_for_agents
from skill_learner.models import SkillState
from skill_learner.project import load_project
from skill_learner.skills.library import USER, SkillLibrary
from skill_learner.targets import TARGETS, get_target
from skill_learner.usage import UsageStore

_ACTIVE: tuple[SkillState, ...] = ("active",)


def listing_for(
    config: SkillLearnerConfig, library: SkillLibrary, project: str, key: str
) -> Listing:
    """What the editor shall list of a project (its path and key), or of the user ("" and "user").

    A project's own skills have what the user-wide ones leave of the room.
    """
    store = UsageStore(config.paths.usage_db)
    there = config.paths.usage_db.exists()
    uses, offers = (store.counts(), store.offers()) if there else ({}, {})
    active = fit_for_agents(library, library.list(_ACTIVE))
    room = listing_room(config)
    useful = usefulness_for(uses, offers)
    of_user = [skill for skill in active if skill.scope == USER]
    user_wide = choose_listing(of_user, int(room * USER_SHARE), useful, offers)
    if key == USER:
        return user_wide
    project_record = load_project(config.paths, key)
    # skills learned before the project was moved bear the key it had then
    scopes = {key, *(project_record.aliases if project_record else ())}
    useful = usefulness_for(uses, offers, project_traits(Path(project)))
    own = [skill for skill in active if skill.scope in scopes]
    user_too = any(record.scope == USER for record in load_all(config.paths))
    return choose_listing(own, room - (user_wide.taken if user_too else 0), useful, offers)


def listing_room(config: SkillLearnerConfig) -> int:
    """Characters for learned skills: the setting, else what the narrowest installed editor leaves
    beside what it always lists."""
    if config.listing_characters:
        return config.listing_characters
    installed = {record.target for record in load_all(config.paths)} & set(TARGETS)
    rooms = [get_target(name).LISTING_ROOM for name in installed or TARGETS]
    return min(rooms)
