"""Which of home's skills a remote's skill is, and what its arrival means."""

from __future__ import annotations

from collections.abc import Collection

from skill_learner.remotes import arriving
from skill_learner.remotes.arriving import Arrival, Texts
from skill_learner.remotes.home_skills import HomeSkill, HomeSkills
from skill_learner.remotes.other_names import labelled, other_names
from skill_learner.remotes.packed_skill import pack
from skill_learner.remotes.protocol import RemoteSkill
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import SharedSkill
from skill_learner.remotes.sync_state import Pair, SyncState

_NOT_HERE = ("create", "rename", "ignore")


class Meeting:
    def __init__(self, settings: RemoteSettings, homes: HomeSkills, state: SyncState) -> None:
        self._settings = settings
        self._homes = homes
        self._state = state

    def of(
        self,
        skill: RemoteSkill,
        theirs: SharedSkill,
        pair: Pair | None,
        taken: set[str],
        unpaired: Collection[str],
    ) -> tuple[HomeSkill | None, Arrival]:
        """taken: names at home, in one case. unpaired: those that the remote is not known to have
        under any name."""
        if pair is None:
            return self._unpaired(theirs, skill.name, taken, unpaired)
        home = self._homes.find(pair.local, pair) if pair.local.casefold() in taken else None
        if home is not None and skill.lost:  # what both knew is older than the pair tells
            base = arriving.common(theirs, home.shared, self._texts(home))
            pair = pair if base is None else pair._replace(base=pack(base))
        return home, arriving.decide(theirs, home, pair, self._settings)

    def _unpaired(
        self, theirs: SharedSkill, name: str, taken: set[str], unpaired: Collection[str]
    ) -> tuple[HomeSkill | None, Arrival]:
        """What bears the name here, or a name by which the same skill came or left, and has a text
        in common. What this remote has already under another name of that kind comes in no second
        time: two machines with two remotes would name it anew for ever."""
        first = self._decide(theirs, name, taken)
        for tried in (name, *other_names(name, self._settings.name, taken)):
            home, arrival = first if tried == name else self._decide(theirs, tried, taken)
            if home is None or arrival.kind in _NOT_HERE:
                continue
            if tried in unpaired:
                return home, arrival
            if tried in (name, labelled(name)):
                why = f"the same as {home.name}, which the remote has under another name"
                return home, Arrival("ignore", theirs, why=why)
        return first

    def _decide(
        self, theirs: SharedSkill, name: str, taken: set[str]
    ) -> tuple[HomeSkill | None, Arrival]:
        home = self._homes.find(name, None) if name.casefold() in taken else None
        if home is None:
            return None, arriving.decide(theirs, None, None, self._settings)
        return home, arriving.decide(theirs, home, None, self._settings, self._texts(home))

    def _texts(self, home: HomeSkill) -> Texts:
        earlier = self._homes.earlier_texts(home)
        lineage = frozenset((*self._state.lineage(home.name), *earlier))
        return Texts(lineage, earlier, self._homes.own_text(home))
