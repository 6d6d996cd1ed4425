"""The stations of `why` where a library has remotes: whether a skill travelled, stays, or came."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from skill_learner.errors import SkillLearnerError
from skill_learner.models import Skill
from skill_learner.remotes.last_syncs import LastSync, last_syncs
from skill_learner.remotes.scope_names import ScopeNames, bears_a_tag
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.sync_state import SyncState
from skill_learner.session_trace import Station, Surroundings, job_of

Told = Callable[[float], str]


def sync_stations(
    db: Path,
    remotes: Sequence[RemoteSettings],
    skills: Sequence[Skill],
    scopes: ScopeNames,
    told: Told = time.ctime,
) -> Iterator[Station]:
    """One for each remote and skill, by what this machine remembers; nobody is asked. db: the state
    of all syncs. told: a time in words."""
    for settings, last in zip(remotes, last_syncs(db, [r.name for r in remotes]), strict=True):
        there = _names_there(db, settings.name)
        for skill in skills:
            yield _station(settings, last, skill, scopes, skill.name in there, told)


def skill_stations(
    db: Path,
    remotes: Sequence[RemoteSettings],
    name: str,
    skill: Skill | None,
    scopes: ScopeNames,
    told: Told = time.ctime,
) -> Iterator[Station]:
    """What is remembered of a name, by remote. skill: the one here that bears it, where there is
    one that can be read; a remote may have one that was not taken."""
    for settings in remotes:
        (last,) = last_syncs(db, [settings.name])
        again = f"skill-learner sync {settings.name}"
        if skill is not None:
            yield from sync_stations(db, [settings], [skill], scopes, told)
        elif name in last.held:
            what = f"{settings.name}: {name} stays at home: {last.held[name]}"
            yield Station("sync", "stopped", what, f"mend it, then {again}")
        if name in last.refused:
            what = f"{settings.name}: its {name} was not taken: {last.refused[name]}"
            yield Station("sync", "stopped", what, f"mend it there, then {again}")


def skills_written(around: Surroundings, journal: Path) -> list[Skill]:
    """What the session's newest review wrote, and is still there."""
    job = job_of(around.paths, journal)
    found = []
    for item in job.result.get("skills", ()) if job else ():
        with contextlib.suppress(SkillLearnerError, AttributeError):
            found.append(around.get_skill(str(item.get("name", ""))))
    return found


def _station(
    settings: RemoteSettings,
    last: LastSync,
    skill: Skill,
    scopes: ScopeNames,
    is_there: bool,
    told: Told,
) -> Station:
    where, again = f"{settings.name}: {skill.name}", f"skill-learner sync {settings.name}"
    kept, change = _kept_by_settings(settings, skill, scopes)
    if kept and not is_there:
        return Station("sync", "note", f"{where} stays at home: {kept}", change)
    when = f"last sync {told(last.synced_at or 0)}"
    if last.error:
        what = f": the last sync failed: {last.error}"
    elif skill.name in last.held:
        what = f" stays at home: {last.held[skill.name]}"
        again = f"take that out of {skill.path}, then {again}"
    elif skill.name in last.waiting:
        what, again = ": two versions wait for your decision", f"{again} --take {skill.name}"
    elif last.proposed:
        return Station("sync", "note", f"{where}: {last.proposed}, {when}")
    elif is_there:
        return Station("sync", "ok", f"{where} is shared, {when}")
    else:
        what = f" was not sent yet, {when}"
    return Station("sync", "stopped", f"{where}{what}", again)


def _kept_by_settings(
    settings: RemoteSettings, skill: Skill, scopes: ScopeNames
) -> tuple[str, str]:
    """Why the remote's settings keep a skill at home, and what would change that; "" otherwise."""
    at = f"`remotes.{settings.name}"
    if not settings.pushes:
        return "the remote is only pulled from", f"{at}.direction`"
    if skill.state not in settings.states:
        what = f"it is {skill.state}, and only {', '.join(settings.states)} ones travel"
        return what, f"skill-learner approve {skill.name}, or {at}.states`"
    label = scopes.shared(skill.scope).removeprefix("project:")
    if settings.scope and label not in settings.scope:
        return f"skills of {label} do not travel", f"{at}.scope`"
    if not bears_a_tag(skill.metadata, settings):
        return f"it bears none of the tags {', '.join(settings.tags)}", f"{at}.tags`"
    return "", ""


def _names_there(db: Path, remote: str) -> frozenset[str]:
    """Home names of the skills that both sides have."""
    if not db.exists():
        return frozenset()
    state = SyncState(db, remote)
    try:
        return frozenset(pair.local for pair in state.pairs().values())
    finally:
        state.close()
