"""What waits for a person at the remote instead of being in force, and what people declined of it.

A proposal that is gone from there while what it told of is not in force was taken away by somebody:
that is an answer. The same text is not proposed again before it changed, or the user asks for it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence

from skill_learner.remotes.outcomes import Outcome
from skill_learner.remotes.outgoing import Collected, Leaving
from skill_learner.remotes.protocol import ProposingRemote, Pushed, Remote
from skill_learner.remotes.sync_state import SyncState

NO_PROPOSAL: Mapping[str, str] = {
    "proposal": "",
    "proposed": "",
    "proposal_place": "",
    "proposal_texts": "",
}
"""The notes of a proposal, as they are while none waits."""
_DECLINED = "declined"
_COUNTERS = "counters"
"""Stands among the declined texts while counters alone are no reason for another proposal."""


class Proposals:
    """Those to one remote."""

    def __init__(self, remote: Remote, state: SyncState, name: str) -> None:
        self._remote = remote
        self._state = state
        self._name = name

    def hold_declined(self, collected: Collected, *, dry_run: bool) -> None:
        """Keep what was declined from leaving."""
        declined = self._texts(_DECLINED)
        if self._is_taken_away():
            declined |= {*self._texts("proposal_texts"), _COUNTERS}
            declined &= {*map(_text, collected.leaving), _COUNTERS}
            if not dry_run:
                self._state.save_notes({**NO_PROPOSAL, _DECLINED: sorted(declined)})
        why = (
            "declined: the branch that proposed it was deleted and is not merged; change it, or"
            f" `skill-learner sync {self._name} --again` proposes it again"
        )
        held = [one for one in collected.leaving if _text(one) in declined]
        collected.held += [Outcome("stays", one.pair.local, "held back", why) for one in held]
        collected.leaving = [one for one in collected.leaving if _text(one) not in declined]

    def keeps_counters(self) -> bool:
        """Whether counters wait until a skill leaves, too."""
        return _COUNTERS in self._texts(_DECLINED)

    def waiting(self, fingerprint: str) -> str:
        """Where the proposal of just this waits, in words; "" when none does."""
        is_same = fingerprint == self._state.note("proposal")
        return self._state.note("proposed") if is_same else ""

    def note(self, fingerprint: str, pushed: Pushed, leaving: Sequence[Leaving]) -> None:
        """Remember what came of a push."""
        if pushed.proposed:
            told = {"proposal": fingerprint, "proposed": pushed.proposed}
            texts = sorted(map(_text, leaving))
            self._state.save_notes(
                {**told, "proposal_place": pushed.place, "proposal_texts": texts}
            )
        elif pushed.accepted and self.keeps_counters():
            self._state.save_notes({_DECLINED: sorted(self._texts(_DECLINED) - {_COUNTERS})})

    def _is_taken_away(self) -> bool:
        place = self._state.note("proposal_place")
        if not place or not isinstance(self._remote, ProposingRemote):
            return False
        return not self._remote.waits_at(place)

    def _texts(self, note: str) -> set[str]:
        return set(json.loads(self._state.note(note) or "[]"))


def propose_again(state: SyncState) -> None:
    """Nothing counts as declined any more."""
    state.save_notes({_DECLINED: ""})


def _text(one: Leaving) -> str:
    return f"{one.shared.name} {one.shared.digest}"
