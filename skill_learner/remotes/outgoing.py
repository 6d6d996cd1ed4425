"""Finds what of the home library the remote does not have yet, and what has to stay at home."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from skill_learner.errors import SkillLearnerError
from skill_learner.remotes.home_skills import HomeSkill, HomeSkills
from skill_learner.remotes.incoming import Incoming
from skill_learner.remotes.outcomes import Outcome
from skill_learner.remotes.packed_skill import pack
from skill_learner.remotes.protocol import CounterKey, OutgoingSkill
from skill_learner.remotes.scope_names import wanted
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import SharedSkill
from skill_learner.remotes.sync_state import Pair, SyncState
from skill_learner.remotes.waiting import Waiting, settled
from skill_learner.skills.folder import ARCHIVE
from skill_learner.skills.looks import size_told
from skill_learner.skills.our_metadata import UNDECIDED
from skill_learner.usage import SkillUse


@dataclass(frozen=True)
class Leaving:
    """A skill to send: its pair as it will be once it is accepted, but for the token."""

    outgoing: OutgoingSkill
    pair: Pair
    shared: SharedSkill


@dataclass
class Collected:
    """seen: stamps of the skills that need nothing, with why they are held. waiting: names of
    pairs that a person has to settle."""

    leaving: list[Leaving] = field(default_factory=list)
    seen: dict[str, tuple[str, str]] = field(default_factory=dict)
    gone: list[str] = field(default_factory=list)
    held: list[Outcome] = field(default_factory=list)
    waiting: list[str] = field(default_factory=list)


class Outgoing:
    def __init__(
        self, settings: RemoteSettings, homes: HomeSkills, state: SyncState, incoming: Incoming
    ) -> None:
        self._settings = settings
        self._homes = homes
        self._state = state
        self._incoming = incoming

    def collect(self) -> Collected:
        """Look at every home skill that changed since the last look; the others are not read."""
        seen = self._state.seen()
        stamps = self._homes.intake.stamps(self._incoming.alone)
        found = Collected(gone=[key for key in seen if key not in stamps])
        others = self._not_just_come(stamps, found)
        pairs = self._state.pairs() if others else {}
        by_local = {pair.local: pair for pair in pairs.values()}
        for key, stamp in others.items():
            name = key.removeprefix(f"{ARCHIVE}/")
            if key != name and name in stamps:
                continue
            pair = by_local.get(name)
            known, held = seen.get(key, ("", ""))
            if known and known == stamp and not (pair and (pair.parked or not pair.local_hash)):
                if held:
                    found.held.append(Outcome("stays", name, "held back", held))
                continue
            try:
                self._look(key, stamp, pair, pairs, found)
            except (SkillLearnerError, OSError) as problem:
                why = getattr(problem, "message", str(problem))
                found.held.append(Outcome("stays", name, "unreadable", why))
        return found

    def _not_just_come(self, stamps: Mapping[str, str], found: Collected) -> dict[str, str]:
        """Those that did not come by this sync, just as they are; the others are seen."""
        fresh, seen = self._incoming.fresh, found.seen
        if not fresh:
            return dict(stamps)
        others = {}
        for key, stamp in stamps.items():
            written = fresh.get(key)
            if written is not None and written == (
                size_told(stamp) if stamp else self._homes.intake.size(key)
            ):
                seen[key] = (stamp, "")
            else:
                others[key] = stamp
        return others

    def _look(
        self, key: str, stamp: str, pair: Pair | None, pairs: Mapping[str, Pair], found: Collected
    ) -> None:
        home = self._homes.shared(self._homes.intake.at(key), pair)
        if pair is not None and pair.parked:
            if not Waiting(self._settings, self._homes.intake).resolved(pair, home):
                found.waiting.append(pair.local)
                return
            pair = settled(pair)
            home = self._homes.shared(home.stored, pair)
        if not self._may_leave(home, pair) or (pair and pair.local_hash == home.shared.digest):
            found.seen[key] = (stamp, "")
            return
        why = self._homes.held(home)
        if why:
            found.seen[key] = (stamp, why)
            found.held.append(Outcome("stays", home.name, "held back", why))
            return
        found.leaving.append(self._leaving(home, pair, pairs))

    def _may_leave(self, home: HomeSkill, pair: Pair | None) -> bool:
        if UNDECIDED in home.stored.parsed.metadata:
            return False
        if not wanted(home.shared, self._settings):
            return False
        return pair is not None or home.stored.skill.state in self._settings.states

    def _leaving(self, home: HomeSkill, pair: Pair | None, pairs: Mapping[str, Pair]) -> Leaving:
        if pair is None and home.shared.name in pairs:
            other = f"{home.name[: 63 - len(self._homes.machine)]}-{self._homes.machine}"
            home = replace(home, shared=replace(home.shared, name=other))
        shared = self._homes.leaving(home, pair, self._state.lineage(home.name))
        skill = home.stored.skill
        expected = pair.token if pair is not None else ""
        fresh = Pair(
            name=shared.name,
            local=home.name,
            token="",
            base=pack(shared),
            local_hash=home.shared.digest,
            local_state=str(skill.state),
            local_scope=skill.scope,
            born=pair.born if pair is not None else "home",
        )
        last = shared.history[-1].why if shared.history else ""
        outgoing = OutgoingSkill(shared.name, shared.files(), expected, last)
        return Leaving(outgoing, fresh, shared)


def own_counters(
    machine: str, uses: Mapping[str, SkillUse], pairs: Mapping[str, Pair]
) -> dict[CounterKey, int]:
    """This machine's uses of the skills that it shares, in sums that only grow."""
    counted: dict[CounterKey, int] = {}
    for pair in pairs.values():
        use = uses.get(pair.local)
        if use is not None:
            counted[(machine, pair.name, "uses")] = use.count
            counted[(machine, pair.name, "sessions")] = use.sessions
    return counted
