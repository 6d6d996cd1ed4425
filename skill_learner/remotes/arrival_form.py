"""What a remote's skill looks like once it is at home: its parts, its record, the reason told."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from skill_learner.learning.redaction import Redactor
from skill_learner.remotes.arriving import Arrival
from skill_learner.remotes.scope_names import ScopeNames
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import (
    MOST_SESSIONS,
    SharedSkill,
    hashed_sessions,
    origin_of,
)
from skill_learner.skills.arriving_skill import ArrivingSkill, NewSkill
from skill_learner.skills.records import SkillRecord

if TYPE_CHECKING:  # a worker is there the sooner for what it need not load
    from skill_learner.models import Skill
    from skill_learner.remotes.home_skills import HomeSkill
    from skill_learner.remotes.sync_state import Pair


@dataclass(frozen=True)
class Terms:
    """On which terms skills come from one remote to this machine."""

    settings: RemoteSettings
    scopes: ScopeNames
    redactor: Redactor

    @property
    def actor(self) -> str:
        return f"remote:{self.settings.name}"

    def told_why(self, shared: SharedSkill, why: str) -> str:
        """The reason that the ledger tells."""
        told = f"from {self.settings.name}, by {shared.by or 'an unknown machine'}"
        last = shared.history[-1] if shared.history else None
        told += f": {last.action}, {last.why}" if last is not None and last.why else ""
        return f"{told}; {why}" if why else told

    def arriving(self, shared: SharedSkill, state: str, home: HomeSkill | None) -> ArrivingSkill:
        """What the skill is to be here, where home has that one of it."""
        sessions, origin = shared.sessions, origin_of(shared, self.settings.name)
        scope = self.scopes.home(shared.scope)
        dropped: tuple[str, ...] = ()
        if home is not None:
            own = home.stored.skill
            known = set(hashed_sessions(own.sessions))
            sessions = (*(s for s in shared.sessions if s not in known), *own.sessions)
            origin = own.origin if "via " not in own.origin else origin
            scope = own.scope if home.shared.scope == shared.scope else scope
            dropped = tuple(sorted(set(home.shared.attachments) - set(shared.attachments)))
        return ArrivingSkill(
            description=shared.description,
            body=shared.body,
            license=shared.license,
            metadata=shared.metadata,
            attachments={p: (f.data, f.executable) for p, f in shared.attachments.items()},
            record=SkillRecord(
                hash="",
                state=state,
                sessions=sessions[-MOST_SESSIONS:],
                trigger_key=shared.trigger_key,
                remedy_key=shared.remedy_key,
                origin=origin,
                scope=scope,
                unverified=shared.unverified,
            ),
            dropped=dropped,
            further=shared.further,
        )

    def new(self, arrival: Arrival) -> tuple[NewSkill, str]:
        """A skill that home does not have; and the digest that home's copy will have, which is
        known before it is written."""
        shared = arrival.skill or arrival.base
        arriving = self.arriving(shared, arrival.state, None)
        why = self.told_why(shared, arrival.why)
        return NewSkill(arriving, why), self._as_sent(shared).digest

    def _as_sent(self, shared: SharedSkill) -> SharedSkill:
        """What a skill that was just written as it came would be sent as."""
        sessions = hashed_sessions(shared.sessions)
        if sessions == shared.sessions and not (shared.trigger_key or shared.remedy_key):
            return shared
        return replace(
            shared,
            sessions=sessions,
            trigger_key=self.redactor.redact(shared.trigger_key),
            remedy_key=self.redactor.redact(shared.remedy_key),
        )


def as_home_is(pair: Pair, skill: Skill, base: SharedSkill, merged: SharedSkill) -> Pair:
    """The pair with home's state and scope, as far as they stand for the remote's; where home
    decided otherwise they are left open, so that its decision is sent."""
    return pair._replace(
        local_state=str(skill.state) if merged.state == base.state else "",
        local_scope=skill.scope if merged.scope == base.scope else "",
    )
