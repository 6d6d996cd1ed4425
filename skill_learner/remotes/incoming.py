"""Carries out what `arriving` decides: the one way a remote's text reaches the home library."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skill_learner.errors import RemoteUnavailableError, SkillFormatError, SkillLearnerError
from skill_learner.remotes.arrival_form import Terms, as_home_is
from skill_learner.remotes.arrival_workers import WORTH_A_WORKER, Workers, arrivals
from skill_learner.remotes.arriving import Arrival
from skill_learner.remotes.first_arrivals import may_be_first
from skill_learner.remotes.garbage_pause import GarbagePause
from skill_learner.remotes.home_skills import HomeSkill, HomeSkills
from skill_learner.remotes.meeting import Meeting
from skill_learner.remotes.other_names import other_names
from skill_learner.remotes.outcomes import WORDS, Outcome
from skill_learner.remotes.packed_skill import pack, unpack
from skill_learner.remotes.protocol import RemoteSkill
from skill_learner.remotes.scope_names import wanted
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import SharedSkill, read_shared
from skill_learner.remotes.sync_state import Pair, SyncState
from skill_learner.remotes.waiting import NOT_PARKED, Waiting, settled
from skill_learner.skills.arrivals import ArrivedEntry
from skill_learner.skills.arriving_skill import ReadySkill, made_ready
from skill_learner.skills.bulk import BulkIntake
from skill_learner.skills.history import now


@dataclass
class _Batch:
    """Pairs and lineages that are written down together once the files are on disk."""

    bulk: BulkIntake
    knows: Callable[[str], bool]
    at: str
    pairs: dict[str, Pair] = field(default_factory=dict)
    lineage: dict[str, set[str]] = field(default_factory=dict)
    outcomes: dict[str, Outcome] = field(default_factory=dict)
    taken: set[str] = field(default_factory=set)
    unpaired: set[str] = field(default_factory=set)


BATCH = 10_000


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
        self.is_dry = dry_run
        self._terms = Terms(settings, homes.scopes, homes.redactor)
        self._waiting = Waiting(settings, homes.intake)
        self._meeting = Meeting(settings, homes, state)
        self._workers = Workers()
        self._garbage = GarbagePause()
        self.fresh: dict[str, int] = {}
        """Names of skills that this object wrote just as they came, with the size of their file:
        there is nothing to send of them."""
        self.alone: set[str] = set()
        """Those of them without further files."""
        self.to_ask_again: set[str] = set()
        """Remote's names of skills that a fault of this machine kept from being taken."""

    def foretold(self, count: int) -> None:
        """So many skills are about to come; who helps with them gets ready meanwhile."""
        if count >= WORTH_A_WORKER:
            self._garbage.begin()
        if not self.is_dry:
            self._workers.get_ready(count)

    def close(self) -> None:
        """Nobody is ready for more any longer."""
        self._workers.end()
        self._garbage.end()

    def take(self, skills: Sequence[RemoteSkill]) -> list[Outcome]:
        """Bring home up to date with these versions; each is old or new at any moment, and one that
        cannot be taken stops no other."""
        pairs = self._state.pairs()
        done: list[Outcome] = []
        for start in range(0, len(skills), BATCH):
            some = skills[start : start + BATCH]
            # a dry run writes nothing, and may be where no lock can be made
            lock = contextlib.nullcontext() if self.is_dry else self._intake.locked()
            with lock, self._batch() as batch:
                paired = {pair.local.casefold() for pair in pairs.values()}
                batch.unpaired = {n for n in batch.taken - paired if n[0] != "."}
                self._take_some(some, pairs, batch)
                if not self.is_dry:
                    with self._state.at_once():
                        self.fresh.update(batch.bulk.commit(lambda: self._note(batch)))
            pairs.update(batch.pairs)
            done += [batch.outcomes[s.name] for s in some if s.name in batch.outcomes]
        return done

    def _note(self, batch: _Batch) -> None:
        self._state.save_lineage(batch.lineage)
        self._state.save_pairs(batch.pairs.values())

    @contextlib.contextmanager
    def _batch(self) -> Iterator[_Batch]:
        bulk = self._intake.bulk()
        with contextlib.nullcontext() if self.is_dry else bulk:
            taken = self._intake.taken_names()
            yield _Batch(bulk, self._intake.may_know(), now(), taken=taken)

    def _take_some(
        self, skills: Sequence[RemoteSkill], pairs: Mapping[str, Pair], batch: _Batch
    ) -> None:
        others = skills
        if not self.is_dry:
            new = (s for s in skills if may_be_first(s) and s.name not in pairs)
            first = {s.name: s for s in new if not self._knows(s.name, batch)}
            others = [s for s in skills if first.get(s.name) is not s]
            batch.taken.update(first)
            self._take_first([*first.values()], batch)
        for skill in others:
            try:
                self._take_one(skill, pairs.get(skill.name), batch)
                self.to_ask_again.discard(skill.name)
            except RemoteUnavailableError:
                raise  # the files of those that follow cannot be read either
            except (SkillLearnerError, OSError) as problem:
                is_theirs = isinstance(problem, SkillFormatError)
                why = getattr(problem, "message", str(problem))
                self._refuse(skill.name, why, batch, ask_again=not is_theirs)

    def _knows(self, name: str, batch: _Batch) -> bool:
        """Whether anything here bears that name, or might be the skill of that name."""
        if name in batch.taken or batch.knows(name):
            return True
        return bool(batch.taken) and any(other_names(name, self._settings.name, batch.taken))

    def _take_first(self, skills: Sequence[RemoteSkill], batch: _Batch) -> None:
        """Skills whose names nobody here knows."""
        bulk = batch.bulk
        found = arrivals(skills, self._terms, batch.at, bulk.root, bulk.plan, self._workers)
        with contextlib.closing(found):
            for one, mark in found:
                if one.kind == "refused":
                    self._refuse(one.name, one.why, batch, ask_again=one.ask_again)
                    continue
                self.to_ask_again.discard(one.name)
                if one.kind != "create":
                    continue
                noted = ArrivedEntry(*one.noted)
                if one.attachments:
                    bulk.put(ReadySkill(one.name, one.data, noted, one.attachments))
                else:
                    bulk.add_written(noted, one.size, mark)
                    self.alone.add(one.name)
                batch.pairs[one.name] = Pair(*one.pair)
                batch.lineage[one.name] = set(one.lineage)
                batch.outcomes[one.name] = Outcome("in", one.name, WORDS["create"], one.why)

    def _refuse(self, name: str, why: str, batch: _Batch, *, ask_again: bool = False) -> None:
        if ask_again:
            self.to_ask_again.add(name)
        batch.outcomes[name] = Outcome("in", name[:80], "refused", why)

    def settle(self, pair: Pair, *, take: bool) -> Outcome:
        """End a wait: `take` the remote's version, or keep home's and send it next."""
        known = settled(pair)
        with self._intake.locked(), self._batch() as batch:
            home = self._homes.find(pair.local, pair)
            if take and home is not None:
                theirs = unpack(pair.parked_base)
                arrival = Arrival("update", theirs, theirs, theirs.state, "taken by the user")
                self._write(known, home, arrival, batch, actor="user")
                known = batch.pairs[pair.name]
            self._waiting.end(pair)
            self._state.save_pairs([known])
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
            self._refuse(skill.name, skill.fault, batch)
            return
        if skill.lost and skill.files is None:
            if pair is not None:
                batch.pairs[skill.name] = pair._replace(token="", local_hash="")
            return
        theirs = self._theirs(skill, pair)
        if theirs is None or (pair is None and not wanted(theirs, self._settings)):
            return
        home, arrival = self._meeting.of(skill, theirs, pair, batch.taken, batch.unpaired)
        if home is not None:
            batch.unpaired.discard(home.name.casefold())
        self._carry_out(skill, pair, home, arrival, batch)

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
        if self.is_dry:
            word = f"would be {word}" if arrival.kind != "same" else word
            batch.outcomes[skill.name] = Outcome("in", skill.name, word, arrival.why)
            return
        born = pair.born if pair is not None else ("home" if home is not None else "remote")
        fresh = Pair(skill.name, "", skill.token, pack(arrival.base), "", "", "", born)
        if pair is not None:
            fresh = pair._replace(token=skill.token, base=pack(arrival.base), **NOT_PARKED)
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
            batch.outcomes[skill.name] = Outcome("in", skill.name, word, detail.strip("; "))

    def _create(self, pair: Pair, arrival: Arrival, batch: _Batch) -> None:
        """A new skill, under a name that is free here."""
        shared = arrival.skill or arrival.base
        local = self._intake.plan_name(shared.name, self._settings.name, batch.taken)
        version = self._intake.next_version(local) if batch.knows(local) else 1
        new, digest = self._terms.new(arrival)
        batch.bulk.put(made_ready(local, new, self._terms.actor, version, batch.at))
        batch.pairs[pair.name] = pair._replace(
            local=local,
            local_hash=digest,
            local_state=arrival.state,
            local_scope=new.arriving.record.scope,
        )
        batch.lineage.setdefault(local, set()).update((*shared.lineage, shared.text_digest))

    def _write(
        self, pair: Pair, home: HomeSkill, arrival: Arrival, batch: _Batch, *, actor: str = ""
    ) -> None:
        shared = arrival.skill or arrival.base
        self._intake.update(
            home.name,
            self._terms.arriving(shared, arrival.state, home),
            expected=home.stored.skill.content_hash,
            actor=actor or self._terms.actor,
            why=self._terms.told_why(arrival.base, arrival.why),
        )
        self._remember(pair._replace(local=home.name), home.name, shared, batch)

    def _remember(self, pair: Pair, local: str, shared: SharedSkill, batch: _Batch) -> None:
        """Note a pair as it stands after a write; what a merge added at home is sent next."""
        stored = self._intake.find(local)
        if stored is None:
            return
        base = unpack(pair.base)
        pair = as_home_is(pair, stored.skill, base, shared)
        digest = self._homes.shared(stored, pair).shared.digest
        merged = shared.digest != base.digest
        batch.pairs[pair.name] = pair._replace(local_hash="" if merged else digest)
        batch.lineage.setdefault(local, set()).update((*shared.lineage, shared.text_digest))

    def _note_same(self, pair: Pair, home: HomeSkill, batch: _Batch) -> None:
        base = unpack(pair.base)
        pair = as_home_is(pair._replace(local=home.name), home.stored.skill, base, home.shared)
        digest = self._homes.shared(home.stored, pair).shared.digest
        same = digest == base.digest
        batch.pairs[pair.name] = pair._replace(local_hash=digest if same else "")
        batch.lineage.setdefault(home.name, set()).update((*base.lineage, base.text_digest))
