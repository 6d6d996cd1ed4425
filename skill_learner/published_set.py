"""What the editors list of one library: of a project's skills, and of the user's."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from skill_learner.config import SkillLearnerConfig
from skill_learner.install.records import InstallRecord, load_all
from skill_learner.install.sharing import targets_for_user, targets_in
from skill_learner.listing import (
    USER_SHARE,
    Listing,
    choose_listing,
    declined_offers,
    project_traits,
    usefulness_for,
)
from skill_learner.load_check import fit_for_agents
from skill_learner.models import Skill, SkillState
from skill_learner.others_listed import characters_of_others
from skill_learner.paths import StatePaths
from skill_learner.pipeline.sequences import usual_programs
from skill_learner.project import load_project
from skill_learner.skills.library import USER, SkillLibrary
from skill_learner.targets import TARGETS, get_target
from skill_learner.usage import OfferCount, SkillUse, UsageStore

_ACTIVE: tuple[SkillState, ...] = ("active",)


@dataclass(frozen=True)
class Shared:
    """What the listings of all projects have in common. of_user: the listing of the home folder."""

    active: tuple[Skill, ...]
    uses: dict[str, SkillUse]
    offers: dict[str, OfferCount]
    declined: dict[str, int]
    of_user: Listing


def what_is_shared(
    config: SkillLearnerConfig, library: SkillLibrary, read: Iterable[Skill] | None = None
) -> Shared:
    """read: the library's skills (active ones at least), of who has read them already."""
    uses, offers = usage_of(config.paths)
    declined = declined_offers(offers, uses)
    skills = library.list(_ACTIVE) if read is None else read
    active = fit_for_agents(library, [skill for skill in skills if skill.state in _ACTIVE])
    room, others = listing_room(config, library, None)
    of_user = choose_listing(
        [skill for skill in active if skill.scope == USER],
        int(room * USER_SHARE),
        usefulness_for(uses, offers),
        declined,
    )
    return Shared(tuple(active), uses, offers, declined, replace(of_user, others=others))


def listing_for(
    config: SkillLearnerConfig,
    library: SkillLibrary,
    project: str,
    key: str,
    shared: Shared | None = None,
) -> Listing:
    """What the editor shall list of a project (its path and key), or of the user ("" and "user").

    Where the editor has our skills in the home folder, a project's own have what those leave of the
    room. Else the project gets them too, after its own, those first that fit what it is. shared:
    from `what_is_shared`, for who asks for many.
    """
    shared = shared or what_is_shared(config, library)
    if key == USER:
        return shared.of_user
    records = load_all(config.paths)
    project_record = load_project(config.paths, key)
    # skills learned before the project was moved bear the key it had then
    scopes = {key, *(project_record.aliases if project_record else ())}
    own = [skill for skill in shared.active if skill.scope in scopes]
    of_user = [skill for skill in shared.active if skill.scope == USER]
    in_home = bool(targets_for_user(records) & _editors_of(Path(project), records))
    traits = project_traits(Path(project), usual_programs(config.paths, key))
    room, others = listing_room(config, library, Path(project))
    chosen = choose_listing(
        own if in_home else own + of_user,
        room - (shared.of_user.taken if in_home else 0),
        usefulness_for(shared.uses, shared.offers, traits),
        shared.declined,
    )
    return replace(chosen, others=others)


def usage_of(paths: StatePaths) -> tuple[dict[str, SkillUse], dict[str, OfferCount]]:
    """Uses and offers by skill, as they were last counted."""
    if not paths.usage_db.exists():
        return {}, {}
    store = UsageStore(paths.usage_db)
    return store.counts(), store.offers()


def _editors_of(project: Path, records: Sequence[InstallRecord]) -> set[str]:
    """The editors that a project is worked on with, as far as installs tell."""
    return targets_in(project, records) or targets_for_user(records)


def listing_room(
    config: SkillLearnerConfig, library: SkillLibrary, project: Path | None
) -> tuple[int, int]:
    """(characters for learned skills, those that the user's own skills take): the setting, else
    what the narrowest installed editor leaves beside what it always lists and the user's own."""
    installed = {record.target for record in load_all(config.paths)} & set(TARGETS)
    rooms = []
    for name in sorted(installed or TARGETS):
        others = characters_of_others(get_target(name), project, library.skills_dir)
        room = config.listing_characters or max(0, get_target(name).LISTING_ROOM - others)
        rooms.append((room, others))
    return min(rooms)
