"""Skills of which two versions wait for a person: nothing of either is lost or overwritten."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from skill_learner.remotes import arriving
from skill_learner.remotes.arriving import Arrival
from skill_learner.remotes.home_skills import HomeSkill
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.sync_state import Pair
from skill_learner.skills.arriving_skill import ArrivingSkill
from skill_learner.skills.intake import SkillIntake
from skill_learner.skills.our_metadata import UNDECIDED
from skill_learner.skills.records import SkillRecord

NOT_PARKED: dict[str, Any] = {
    "parked": "",
    "parked_home": "",
    "parked_as": "",
    "parked_base": b"",
}
_GONE = "-"
"""Stands for the token of a version that is to be none: the skill is no longer there."""


def settled(pair: Pair) -> Pair:
    """The pair of a skill that no longer waits: what waited is what both sides know now, and home's
    version is to be looked at anew."""
    token = "" if pair.parked == _GONE else pair.parked
    return pair._replace(token=token, base=pair.parked_base, local_hash="", **NOT_PARKED)


class Waiting:
    def __init__(self, settings: RemoteSettings, intake: SkillIntake) -> None:
        self._settings = settings
        self._intake = intake

    def resolved(self, pair: Pair, home: HomeSkill | None) -> bool:
        """Whether a person settled a wait by what they did: rejected the candidate that shows both
        versions; changed the text of the skill, archived or removed it. What a review or the gate
        does to it meanwhile decides nothing for them."""
        shown = self._intake.find(pair.parked_as) if pair.parked_as else None
        if pair.parked_as and (shown is None or shown.place.archived):
            return True
        if home is None:
            return self._intake.size(pair.local) < 0
        digest, text, changes = (*pair.parked_home.split(), "", "")[:3]
        if home.shared.digest == digest:
            return False
        if not text:  # noted by an earlier version of this program
            return True
        if home.shared.text_digest == text and not home.stored.place.archived:
            return False
        since = self._intake.changes(home.name)[int(changes) :]
        return not home.is_ours or any(change.actor == "user" for change in since)

    def park(self, fresh: Pair, pair: Pair | None, home: HomeSkill, arrival: Arrival) -> Pair:
        """Home stays; the remote's version waits, in full, for a person."""
        shown = ""
        if arrival.kind == "park" and arrival.skill is not None:
            shown = self._show_both(home, arrival)
        if pair is None:
            skill = home.stored.skill
            state, scope = str(skill.state), skill.scope
            pair = fresh._replace(token="", local=home.name, local_state=state, local_scope=scope)
        else:
            self.end(pair)
        return pair._replace(
            parked=fresh.token or _GONE,
            parked_home=self._as_it_is(home),
            parked_as=shown,
            parked_base=fresh.base,
        )

    def _as_it_is(self, home: HomeSkill) -> str:
        """What `resolved` compares with later."""
        shared = home.shared
        return f"{shared.digest} {shared.text_digest} {len(self._intake.changes(home.name))}"

    def _show_both(self, home: HomeSkill, arrival: Arrival) -> str:
        remote = self._settings.name
        description, body = arriving.undecided_text(home, arrival.base, arrival.why, remote)
        record = SkillRecord(
            hash="", state="candidate", scope=home.stored.skill.scope, origin=f"sync with {remote}"
        )
        files = {path: (f.data, f.executable) for path, f in arrival.base.attachments.items()}
        shown = ArrivingSkill(description, body, "", {UNDECIDED: home.name}, files, record)
        written = self._intake.create(
            f"{home.name}-undecided",
            shown,
            prefix=remote,
            actor=f"remote:{remote}",
            why=arrival.why,
        )
        return written.name

    def end(self, pair: Pair) -> None:
        """Put away the candidate that showed both versions."""
        if pair.parked_as:
            self._intake.archive(
                pair.parked_as, actor=f"remote:{self._settings.name}", why="settled"
            )

    def end_all(self, pairs: Sequence[Pair]) -> None:
        """None of these waits any more: what is known of their remote is to be forgotten."""
        with self._intake.locked():
            for pair in pairs:
                self.end(pair)
