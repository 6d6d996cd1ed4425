"""Carries out what `arriving` decides: the one way a remote's text reaches the home library."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from skill_learner.errors import SkillFormatError, SkillLearnerError
from skill_learner.models import Skill
from skill_learner.remotes import arriving
from skill_learner.remotes.arriving import Arrival
from skill_learner.remotes.home_skills import (
    HomeSkill,
    HomeSkills,
    origin_of,
    pack,
    unpack,
    wanted,
)
from skill_learner.remotes.other_names import other_names
from skill_learner.remotes.outcomes import WORDS, Outcome
from skill_learner.remotes.protocol import RemoteSkill
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import (
    MOST_SESSIONS,
    SharedSkill,
    hashed_sessions,
    read_shared,
)
from skill_learner.remotes.sync_state import Pair, SyncState
from skill_learner.remotes.waiting import NOT_PARKED, Waiting
from skill_learner.skills.history import now
from skill_learner.skills.intake import ArrivingSkill, NewSkill
from skill_learner.skills.records import SkillRecord


@dataclass
class _Batch:
    """Pairs and lineages that are written down together once the files are on disk."""

    pairs: dict[str, Pair] = field(default_factory=dict)
    lineage: dict[str, set[str]] = field(default_factory=dict)
    outcomes: list[Outcome] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    unpaired: set[str] = field(default_factory=set)
    new: dict[str, NewSkill] = field(default_factory=dict)


BATCH = 1000
_NOT_HERE = ("create", "rename", "ignore")


class Incoming:
    def __init__(
        self,
        settings: RemoteSettings,
        homes: HomeSkills,
        state: SyncState,
        *,
        dry_run: bool = False,
    ) -> None:
        self._settings = settings
        self._homes = homes
        self._intake = homes.intake
        self._state = state
        self._dry = dry_run
        self._waiting = Waiting(settings, homes.intake)
        self.fresh: dict[str, int] = {}
        """Names of skills that this object wrote just as they came, with the size of their file:
        there is nothing to send of them."""
        self.to_ask_again: set[str] = set()
        """Remote's names of skills that a fault of this machine kept from being taken."""

    def take(self, skills: Sequence[RemoteSkill]) -> list[Outcome]:
        """Bring home up to date with these versions; each is old or new at any moment, and one that
        cannot be taken stops no other."""
        pairs = self._state.pairs()
        done: list[Outcome] = []
        for start in range(0, len(skills), BATCH):
            batch = _Batch()
            with self._intake.locked():
                batch.taken = self._intake.taken_names()
                paired = {pair.local.casefold() for pair in pairs.values()}
                batch.unpaired = {n for n in batch.taken - paired if n[0] != "."}
                for skill in skills[start : start + BATCH]:
                    try:
                        self._take_one(skill, pairs.get(skill.name), batch)
                        self.to_ask_again.discard(skill.name)
                    except (SkillLearnerError, OSError) as problem:
                        if not isinstance(problem, SkillFormatError):
                            self.to_ask_again.add(skill.name)
                        why = getattr(problem, "message", str(problem))
                        batch.outcomes.append(Outcome("in", skill.name[:80], "refused", why))
                if not self._dry:
                    made = self._intake.create_many(batch.new, f"remote:{self._settings.name}")
                    self.fresh.update(made)
                    self._state.save_lineage(batch.lineage)
                    self._state.save_pairs(batch.pairs.values())
            pairs.update(batch.pairs)
            done += batch.outcomes
        return done

    def settle(self, pair: Pair, *, take: bool) -> Outcome:
        """End a wait: `take` the remote's version, or keep home's and send it next."""
        settled = replace(
            pair, token=pair.parked, base=pair.parked_base, local_hash="", **NOT_PARKED
        )
        batch = _Batch()
        with self._intake.locked():
            home = self._homes.find(pair.local, pair)
            if take and home is not None:
                theirs = unpack(pair.parked_base)
                arrival = Arrival("update", theirs, theirs, theirs.state, "taken by the user")
                self._write(settled, home, arrival, batch, actor="user")
                settled = batch.pairs[pair.name]
            self._waiting.end(pair)
            self._state.save_pairs([settled])
        return Outcome("in" if take else "stays", pair.local, "taken" if take else "kept")

    def settle_decided(self) -> None:
        for pair in self._state.parked():
            if self._waiting.resolved(pair, self._homes.find(pair.local, pair)):
                self.settle(pair, take=False)

    # -- one skill -----------------------------------------------------------------------------

    def _take_one(self, skill: RemoteSkill, pair: Pair | None, batch: _Batch) -> None:
        known = pair is not None and skill.token in (pair.token, pair.parked)
        if known and skill.token and not skill.fault:
            return
        if skill.fault:
            batch.outcomes.append(Outcome("in", skill.name[:80], "refused", skill.fault))
            return
        if skill.lost:
            if pair is not None:
                batch.pairs[skill.name] = replace(pair, token="", local_hash="")
            return
        theirs = self._theirs(skill, pair)
        if theirs is None or (pair is None and not wanted(theirs, self._settings)):
            return
        home, arrival = self._decide(theirs, pair, pair.local if pair else skill.name, batch)
        if pair is None and batch.unpaired and arrival.kind in _NOT_HERE:
            for name in other_names(skill.name, self._settings.name, batch.taken):
                other, meeting = self._decide(theirs, None, name, batch)
                if name in batch.unpaired and meeting.kind not in _NOT_HERE:
                    home, arrival = other, meeting
                    break
        if home is not None:
            batch.unpaired.discard(home.name.casefold())
        self._carry_out(skill, pair, home, arrival, batch)

    def _decide(
        self, theirs: SharedSkill, pair: Pair | None, local: str, batch: _Batch
    ) -> tuple[HomeSkill | None, Arrival]:
        home = self._homes.find(local, pair) if local.casefold() in batch.taken else None
        texts: frozenset[str] = frozenset()
        if home is not None and pair is None:
            texts = frozenset(self._state.lineage(home.name)) | self._homes.earlier_texts(home)
        return home, arriving.decide(theirs, home, pair, self._settings, texts)

    def _theirs(self, skill: RemoteSkill, pair: Pair | None) -> SharedSkill | None:
        """The remote's version; one that is gone there counts as archived there."""
        if skill.files is not None:
            return read_shared(skill.name, skill.files)
        return None if pair is None else replace(unpack(pair.base), state="archived")

    def _carry_out(
        self,
        skill: RemoteSkill,
        pair: Pair | None,
        home: HomeSkill | None,
        arrival: Arrival,
        batch: _Batch,
    ) -> None:
        if arrival.kind == "ignore":
            return
        word = WORDS[arrival.kind]
        if self._dry:
            word = f"would be {word}" if arrival.kind != "same" else word
            batch.outcomes.append(Outcome("in", skill.name, word, arrival.why))
            return
        born = pair.born if pair is not None else ("home" if home is not None else "remote")
        fresh = Pair(skill.name, "", skill.token, pack(arrival.base), "", "", "", born)
        if pair is not None:
            fresh = replace(pair, token=skill.token, base=pack(arrival.base), **NOT_PARKED)
        if arrival.kind in ("create", "rename"):
            self._create(fresh, arrival, batch)
        elif home is not None and arrival.kind in ("update", "merge"):
            self._write(fresh, home, arrival, batch)
        elif home is not None and arrival.kind == "same":
            self._note_same(fresh, home, batch)
        elif home is not None:
            batch.pairs[skill.name] = self._waiting.park(fresh, pair, home, arrival)
        if pair is not None and pair.parked and arrival.kind not in ("park", "pinned"):
            self._waiting.end(pair)
        if arrival.kind != "same" or pair is None:
            local = batch.pairs[skill.name].local
            detail = arrival.why if local == skill.name else f"as {local}; {arrival.why}"
            batch.outcomes.append(Outcome("in", skill.name, word, detail.strip("; ")))

    def _create(self, pair: Pair, arrival: Arrival, batch: _Batch) -> None:
        """Plan a new skill; the batch writes it. What home will look like is known beforehand."""
        shared = arrival.skill or arrival.base
        local = self._intake.plan_name(shared.name, self._settings.name, batch.taken)
        arriving = self._arriving(shared, arrival.state, None)
        batch.new[local] = NewSkill(arriving, self._why(shared, arrival.why))
        batch.pairs[pair.name] = replace(
            pair,
            local=local,
            local_hash=self._homes.as_sent(shared).digest,
            local_state=arrival.state,
            local_scope=arriving.record.scope,
        )
        batch.lineage.setdefault(local, set()).update((*shared.lineage, shared.text_digest))

    def _write(
        self, pair: Pair, home: HomeSkill, arrival: Arrival, batch: _Batch, *, actor: str = ""
    ) -> None:
        shared = arrival.skill or arrival.base
        self._intake.update(
            home.name,
            self._arriving(shared, arrival.state, home),
            expected=home.stored.skill.content_hash,
            actor=actor or f"remote:{self._settings.name}",
            why=self._why(arrival.base, arrival.why),
        )
        self._remember(replace(pair, local=home.name), home.name, shared, batch)

    def _remember(self, pair: Pair, local: str, shared: SharedSkill, batch: _Batch) -> None:
        """Note a pair as it stands after a write; what a merge added at home is sent next."""
        stored = self._intake.find(local)
        if stored is None:
            return
        base = unpack(pair.base)
        pair = _as_home_is(pair, stored.skill, base, shared)
        digest = self._homes.shared(stored, pair).shared.digest
        merged = shared.digest != base.digest
        batch.pairs[pair.name] = replace(pair, local_hash="" if merged else digest)
        batch.lineage.setdefault(local, set()).update((*shared.lineage, shared.text_digest))

    def _note_same(self, pair: Pair, home: HomeSkill, batch: _Batch) -> None:
        base = unpack(pair.base)
        pair = _as_home_is(replace(pair, local=home.name), home.stored.skill, base, home.shared)
        digest = self._homes.shared(home.stored, pair).shared.digest
        same = digest == base.digest
        batch.pairs[pair.name] = replace(pair, local_hash=digest if same else "")
        batch.lineage.setdefault(home.name, set()).update((*base.lineage, base.text_digest))

    # -- words and shapes ----------------------------------------------------------------------

    def _why(self, shared: SharedSkill, why: str) -> str:
        told = f"from {self._settings.name}, by {shared.by or 'an unknown machine'}"
        last = shared.history[-1] if shared.history else None
        told += f": {last.action}, {last.why}" if last is not None and last.why else ""
        return f"{told}; {why}" if why else told

    def _arriving(self, shared: SharedSkill, state: str, home: HomeSkill | None) -> ArrivingSkill:
        stored = home.stored if home is not None else None
        own = stored.skill.sessions if stored is not None else ()
        known = set(hashed_sessions(own))
        sessions = (*(s for s in shared.sessions if s not in known), *own)[-MOST_SESSIONS:]
        keep = stored is not None and home is not None and "via " not in stored.skill.origin
        scope = self._homes.scopes.home(shared.scope)
        if home is not None and home.shared.scope == shared.scope:
            scope = home.stored.skill.scope
        record = SkillRecord(
            hash="",
            created=now(),
            state=state,
            sessions=sessions,
            trigger_key=shared.trigger_key,
            remedy_key=shared.remedy_key,
            origin=stored.skill.origin
            if stored is not None and keep
            else origin_of(shared, self._settings.name),
            scope=scope,
            unverified=shared.unverified,
        )
        return ArrivingSkill(
            description=shared.description,
            body=shared.body,
            license=shared.license,
            metadata=shared.metadata,
            attachments={p: (f.data, f.executable) for p, f in shared.attachments.items()},
            record=record,
            dropped=tuple(
                sorted(set(home.shared.attachments) - set(shared.attachments)) if home else ()
            ),
            further=shared.further,
        )


def _as_home_is(pair: Pair, skill: Skill, base: SharedSkill, merged: SharedSkill) -> Pair:
    """The pair with home's state and scope, as far as they stand for the remote's; where home
    decided otherwise they are left open, so that its decision is sent."""
    return replace(
        pair,
        local_state=str(skill.state) if merged.state == base.state else "",
        local_scope=skill.scope if merged.scope == base.scope else "",
    )
