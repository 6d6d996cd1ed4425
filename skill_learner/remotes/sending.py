"""Sends what is to leave, and notes what became of it.

What a push carries is noted before it starts. A push whose end nobody saw (the process was killed,
the answer was lost, a git that it had started went on alone) may still land, at once or later: when
its text comes back from the remote it is known as this machine's own, not as somebody's change.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field

from skill_learner.errors import SkillFormatError
from skill_learner.remotes.home_skills import HomeSkills
from skill_learner.remotes.outcomes import Outcome
from skill_learner.remotes.outgoing import Collected, Leaving, own_counters
from skill_learner.remotes.packed_skill import unpack
from skill_learner.remotes.proposals import Proposals
from skill_learner.remotes.protocol import CounterKey, Pushed, Remote, RemoteSkill
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.shared_skill import SharedSkill, read_shared
from skill_learner.remotes.sync_state import Pair, SyncState
from skill_learner.remotes.waiting import Waiting
from skill_learner.usage import SkillUse

_UNKNOWN = "?"
"""No token of any engine: what is at the remote is yet to be met."""


@dataclass
class Sent:
    """What came of one push. is_end: no further round is needed. cursor, proposed, busy: as a
    `Pushed` tells them."""

    is_end: bool = True
    outcomes: list[Outcome] = field(default_factory=list)
    cursor: str = ""
    proposed: str = ""
    busy: str = ""


class Sending:
    """The pushes of one sync."""

    def __init__(
        self,
        settings: RemoteSettings,
        remote: Remote,
        homes: HomeSkills,
        state: SyncState,
        uses: Callable[[], Mapping[str, SkillUse]],
    ) -> None:
        self._settings = settings
        self._remote = remote
        self._homes = homes
        self._state = state
        self._uses = uses
        self._proposals = Proposals(remote, state, settings.name)
        self._in_vain: set[tuple[str, str]] = set()

    def without_own(
        self, pulled: Sequence[RemoteSkill], *, dry_run: bool = False
    ) -> list[RemoteSkill]:
        """What was pulled, without what an earlier push of this machine brought there after all:
        that push is noted as accepted now."""
        sent = self._state.sent() if pulled else {}
        if not sent:
            return list(pulled)
        others, landed = [], []
        for skill in pulled:
            mine = {digest: pair for (name, digest), pair in sent.items() if name == skill.name}
            seen, is_all = self._landed(skill, mine) if mine else (None, False)
            if seen is not None:
                landed.append(seen)
            if not is_all:
                others.append(skill)
        if landed and not dry_run:
            self._save(landed)
        return others

    def _landed(self, skill: RemoteSkill, mine: Mapping[str, Pair]) -> tuple[Pair | None, bool]:
        """The last of these that is, or was, at the remote, and whether that is all that is there;
        else somebody went on from it, and has to be met."""
        if skill.files is None or not any(self._homes.intake.find(p.local) for p in mine.values()):
            return None, False
        try:
            theirs = read_shared(skill.name, skill.files)
        except SkillFormatError:
            return None, False
        if theirs.digest in mine:
            return mine[theirs.digest]._replace(token=skill.token), True
        known = self._state.pairs().get(skill.name)
        before = unpack(known.base).lineage if known is not None else ()
        bases = [(pair, unpack(pair.base)) for pair in mine.values()]
        bases = [one for one in bases if _tells_of(theirs, one[1], before)]
        texts = {base.text_digest: pair for pair, base in bases}
        last = newest(theirs.lineage, {base.text_digest: base.lineage for _, base in bases})
        return (texts[last]._replace(token=_UNKNOWN), False) if last else (None, False)

    def hold_declined(self, collected: Collected, *, dry_run: bool) -> Collected:
        """What may leave of it: not what people at the remote declined."""
        self._proposals.hold_declined(collected, dry_run=dry_run)
        return collected

    def send(self, collected: Collected, cursor: str) -> Sent:
        """cursor: what was pulled last."""
        counters = self._new_counters(collected)
        if not collected.leaving and (not counters or self._proposals.keeps_counters()):
            return Sent()
        proposal = _fingerprint(collected.leaving, counters, cursor)
        if waiting := self._proposals.waiting(proposal):
            return Sent(proposed=waiting)
        self._state.save_sent(
            {(one.shared.name, one.shared.digest): one.pair for one in collected.leaving}
        )
        pushed = self._remote.push([one.outgoing for one in collected.leaving], counters)
        outcomes = self._note_accepted(collected, pushed, counters)
        sent = Sent(not pushed.raced, outcomes, pushed.cursor, pushed.proposed, pushed.busy)
        self._proposals.note(proposal, pushed, collected.leaving)
        if pushed.proposed:
            sent.is_end = True
        elif self._settings.pulls and (pushed.raced or pushed.refused):
            sent.is_end = not pushed.raced and self._is_stuck(collected, pushed)
        else:
            why = "the remote has another version; this remote is never pulled from"
            sent.outcomes += [Outcome("out", name, "refused", why) for name in pushed.refused]
        return sent

    def _is_stuck(self, collected: Collected, pushed: Pushed) -> bool:
        """Whether all that was refused is refused again, as a change of the version that home has
        had before: what the remote has instead could not be taken, and no further round helps."""
        refused = [one for one in collected.leaving if one.shared.name in pushed.refused]
        sent = {(one.shared.name, one.outgoing.expected) for one in refused}
        if not sent <= self._in_vain:
            self._in_vain |= sent
            return False
        why = "the remote's version could not be taken here, and is not overwritten"
        collected.held += [Outcome("stays", o.pair.local, "held back", why) for o in refused]
        return True

    def _note_accepted(
        self, collected: Collected, pushed: Pushed, counters: Mapping[CounterKey, int]
    ) -> list[Outcome]:
        accepted = [one for one in collected.leaving if one.shared.name in pushed.accepted]
        self._save([o.pair._replace(token=pushed.accepted[o.shared.name]) for o in accepted])
        self._state.save_lineage({one.pair.local: one.shared.lineage for one in accepted})
        if not (pushed.raced or pushed.proposed):
            self._state.save_counters(counters)
        return [
            Outcome("out", one.pair.local, "sent", f"as {one.shared.name}")
            if one.pair.local != one.shared.name
            else Outcome("out", one.pair.local, "sent", one.shared.state)
            for one in accepted
        ]

    def _save(self, accepted: Sequence[Pair]) -> None:
        """Both sides have these now: a wait that one of them had is over, and no earlier push of
        one can land any more."""
        names = {pair.name for pair in accepted}
        over = [pair for pair in self._state.parked() if pair.name in names]
        if over:
            waiting = Waiting(self._settings, self._homes.intake)
            with self._homes.intake.locked():
                for pair in over:
                    waiting.end(pair)
        self._state.save_pairs(accepted)
        self._state.forget_sent(names)

    def _new_counters(self, collected: Collected) -> dict[CounterKey, int]:
        pairs = self._state.pairs() if (uses := self._uses()) else {}
        pairs.update({one.pair.name: one.pair for one in collected.leaving})
        known = self._state.counters()
        own = own_counters(self._homes.machine, uses, pairs)
        return {key: value for key, value in own.items() if value > known.get(key, 0)}


def _tells_of(theirs: SharedSkill, pushed: SharedSkill, before: Collection[str]) -> bool:
    """Whether theirs may have come of what was pushed: of a text that the remote had before it,
    too, only the history tells."""
    if pushed.text_digest not in before:
        return True
    return bool(pushed.history) and any(map(pushed.history[-1].is_same, theirs.history))


def newest(told: Sequence[str], pushes: Mapping[str, Collection[str]]) -> str:
    """Of the texts that pushes carried, each with the texts before it, the last one that is told
    of; "" when none is. What went before a push, it knows by itself: the order in which a machine
    that merged tells both sides' texts counts only where a text was taken back."""
    found = [text for text in told if text in pushes]
    ends = [
        text
        for text in found
        if not any(text in pushes[other] and other not in pushes[text] for other in found)
    ]
    return next(reversed(ends or found), "")


def _fingerprint(
    leaving: Sequence[Leaving], counters: Mapping[CounterKey, int], cursor: str
) -> str:
    told = [cursor, *sorted(f"{o.shared.name} {o.shared.digest}" for o in leaving)]
    told += [str(item) for item in sorted(counters.items())]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
