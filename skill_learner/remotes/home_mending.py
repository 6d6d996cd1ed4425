"""What a sync puts right at home before anything is merged: skills that nothing tells of any more,
folders that are gone, projects that are known only now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from skill_learner.remotes.home_skills import HomeSkills
from skill_learner.remotes.packed_skill import unpack
from skill_learner.remotes.protocol import Pulled, RemoteSkill
from skill_learner.remotes.sync_state import Pair, SyncState
from skill_learner.remotes.waiting import NOT_PARKED
from skill_learner.skills.arriving_skill import ArrivingSkill


def note_arrivals_again(homes: HomeSkills, state: SyncState) -> int:
    """Note again what arrived in bulk, once the store that told of it is damaged; how many.

    Without it such skills would count as files of the user's: as written and approved by a person
    here, for every machine that trusts what a person approved. Only where the file is, byte for
    byte, what is written for the version that arrived: anything else is somebody's edit."""
    intake = homes.intake
    found: dict[str, tuple[ArrivingSkill, str]] = {}
    for remote, pair in state.arrived(intake.may_know()):
        arriving = _as_it_arrived(homes, remote, pair)
        if arriving is not None:
            found[pair.local] = arriving, remote
    if not found:
        return 0
    with intake.locked():
        return intake.note_again(found)


def _as_it_arrived(homes: HomeSkills, remote: str, pair: Pair) -> ArrivingSkill | None:
    stored = homes.intake.find(pair.local)
    if stored is None or stored.record is not None or stored.place.archived:
        return None
    told, base = stored.known, unpack(pair.base)
    if f" via {remote} (" not in told.origin:
        return None
    record = replace(
        told,
        state=pair.local_state,
        sessions=base.sessions,
        trigger_key=base.trigger_key,
        remedy_key=base.remedy_key,
        unverified=base.unverified,
    )
    return ArrivingSkill(
        base.description, base.body, base.license, base.metadata, {}, record, further=base.further
    )


def give_projects(homes: HomeSkills, state: SyncState) -> None:
    """Skills of a project that is known here only now get its scope."""
    known = homes.scopes.arrived()
    pairs = [p for p in state.pairs().values() if p.local_scope in known]
    for old in {pair.local_scope for pair in pairs}:
        homes.change_scope(old, known[old])
    state.save_pairs(p._replace(local_scope=known[p.local_scope]) for p in pairs)


def came_back(
    homes: HomeSkills, state: SyncState, pulled: Sequence[RemoteSkill]
) -> list[RemoteSkill]:
    """Skills whose folder is gone at home: they were not archived, so they come back."""
    told = {skill.name for skill in pulled}
    present = {key.rpartition("/")[2] for key in homes.intake.stamps()}
    missing = [
        (pair, base)
        for pair in state.pairs().values()
        if pair.local not in present and (base := unpack(pair.base)).state != "archived"
    ]
    state.save_pairs(pair._replace(token="?", **NOT_PARKED) for pair, _ in missing)
    return [
        RemoteSkill(pair.name, pair.token, base.files())
        for pair, base in missing
        if pair.name not in told
    ]


def lost_there(state: SyncState, pulled: Pulled) -> list[RemoteSkill]:
    """Skills that a remote had before it was set back, and of which it knows nothing now."""
    if not pulled.set_back:
        return []
    told = {skill.name for skill in pulled.skills}
    return [
        RemoteSkill(pair.name, "", None, lost=True)
        for pair in state.pairs().values()
        if pair.token and pair.name not in told
    ]
