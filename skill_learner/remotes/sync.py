"""One sync with one remote: pull, merge, push, and again where somebody else was faster.

Nothing here holds a lock while the network is asked, and nothing is noted as done before it is: a
kill at any step leaves each skill old or new on each side, and the next sync goes on from there.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from skill_learner.errors import RemoteError, RemoteUnavailableError, SkillLearnerError
from skill_learner.files import locked
from skill_learner.remotes.home_mending import came_back, give_projects, note_arrivals_again
from skill_learner.remotes.home_skills import HomeSkills
from skill_learner.remotes.home_watch import HomeWatch, Marks
from skill_learner.remotes.incoming import WAITS, Incoming, Outcome
from skill_learner.remotes.outgoing import Collected, Leaving, Outgoing, own_counters
from skill_learner.remotes.protocol import (
    CounterKey,
    HintingRemote,
    Pushed,
    Remote,
)
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.sync_state import SyncState
from skill_learner.usage import SkillUse

MOST_ROUNDS = 6
_LOCK_SECONDS = 120.0


@dataclass
class SyncReport:
    """What one sync did. error: why the remote could not be reached; home goes on without it."""

    remote: str
    outcomes: list[Outcome] = field(default_factory=list)
    proposed: str = ""
    error: str = ""
    rounds: int = 0

    @property
    def changed_home(self) -> bool:
        return any(one.direction == "in" and one.outcome != "refused" for one in self.outcomes)


@dataclass(frozen=True)
class Place:
    """Where a sync keeps its lock, and which paths tell that home changed."""

    lock: Path
    watched: tuple[Path, ...]


class Synchroniser:
    """Reusable within one process: a sync with nothing to do costs one question to the remote."""

    def __init__(
        self,
        settings: RemoteSettings,
        remote: Remote,
        homes: HomeSkills,
        state: SyncState,
        place: Place,
        uses: Callable[[], Mapping[str, SkillUse]] = dict,
    ) -> None:
        self._settings = settings
        self._remote = remote
        self._homes = homes
        self._state = state
        self._place = place
        self._uses = uses
        self._watch = HomeWatch(place.watched)
        self._cursor = ""
        self._told: set[str] = set()
        self._in_vain: set[tuple[str, str]] = set()

    def sync(self, *, dry_run: bool = False) -> SyncReport:
        """Raises RemoteError for what a person has to look at; an unreachable remote is a note in
        the report."""
        report = SyncReport(self._settings.name)
        try:
            with locked(self._place.lock, timeout=_LOCK_SECONDS):
                if dry_run or not self._nothing_to_do():
                    self._run(report, dry_run)
        except RemoteUnavailableError as problem:
            report.error = problem.message
        except SkillLearnerError as problem:
            if not dry_run:
                self._note_error(problem.message)
            raise
        except TimeoutError:
            report.error = "another sync with it has been running for long"
        except OSError as problem:
            report.error = f"this machine: {problem}"
        if report.error and not dry_run:
            self._watch.forget()
            self._note_error(report.error)
        return report

    def settle(self, local: str, *, take: bool) -> Outcome:
        """Decide on a skill of which two versions wait."""
        for pair in self._state.pairs().values():
            if local in (pair.local, pair.parked_as) and pair.parked:
                with locked(self._place.lock, timeout=_LOCK_SECONDS):
                    return Incoming(self._settings, self._homes, self._state).settle(
                        pair, take=take
                    )
        raise RemoteError(
            f"no version of {local!r} from {self._settings.name} waits for a decision",
            f"`skill-learner sync {self._settings.name} --dry-run` lists what waits.",
        )

    @property
    def gives_hints(self) -> bool:
        return isinstance(self._remote, HintingRemote)

    def wait_for_hint(self, seconds: float) -> bool:
        return isinstance(self._remote, HintingRemote) and self._remote.wait(seconds)

    def close(self) -> None:
        self._remote.close()
        self._state.close()

    # -- the rounds ----------------------------------------------------------------------------

    def _run(self, report: SyncReport, dry_run: bool) -> None:
        marks = self._watch.marks()
        self._cursor = self._state.note("cursor") if self._same_settings(dry_run) else ""
        self._told, self._in_vain = set(), set()
        if not dry_run:
            note_arrivals_again(self._homes, self._state)
            give_projects(self._homes, self._state)
        incoming = Incoming(self._settings, self._homes, self._state, dry_run=dry_run)
        outgoing = Outgoing(self._settings, self._homes, self._state, incoming)
        collected = Collected()
        for report.rounds in range(1, MOST_ROUNDS + 1):
            pulled = self._remote.pull(self._cursor)
            bring = self._settings.pulls and not dry_run
            back = came_back(self._homes, self._state, pulled.skills) if bring else []
            skills = [*back, *pulled.skills]
            self._told |= {skill.name[:80] for skill in skills}
            if self._settings.pulls and skills:
                report.outcomes += incoming.take(skills)
            if not dry_run:
                self._state.save_counters(pulled.counters)
                self._pulled_to(pulled.cursor, incoming)
            if not self._settings.pushes:
                break
            collected = outgoing.collect()
            if dry_run:
                report.outcomes += [
                    Outcome("out", one.pair.local, "would be sent", one.shared.state)
                    for one in collected.leaving
                ]
                break
            if self._push(collected, incoming, report):
                break
        else:
            report.error = f"others write faster than we can: {MOST_ROUNDS} rounds were not enough"
        report.outcomes += [*collected.held, *self._still_waiting(report)]
        if not dry_run:
            self._ended(report, collected, marks)

    def _push(self, collected: Collected, incoming: Incoming, report: SyncReport) -> bool:
        """Send what is to leave; whether that is the end of it."""
        counters = self._new_counters(collected)
        if not collected.leaving and not counters:
            return True
        proposal = _fingerprint(collected.leaving, counters, self._cursor)
        if proposal == self._state.note("proposal"):
            report.proposed = self._state.note("proposed")
            return True
        pushed = self._remote.push([one.outgoing for one in collected.leaving], counters)
        self._note_accepted(collected, pushed, counters, report)
        if pushed.cursor:
            self._pulled_to(pushed.cursor, incoming)
        if pushed.proposed:
            report.proposed = pushed.proposed
            self._state.save_notes({"proposal": proposal, "proposed": pushed.proposed})
            return True
        if self._settings.pulls and (pushed.raced or pushed.refused):
            return not pushed.raced and self._is_stuck(collected, pushed)
        for name in pushed.refused:
            why = "the remote has another version; this remote is never pulled from"
            report.outcomes.append(Outcome("out", name, "refused", why))
        return not pushed.raced

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

    def _still_waiting(self, report: SyncReport) -> list[Outcome]:
        """What waits for the user since an earlier sync."""
        told = {one.name for one in report.outcomes if one.direction == "in"}
        waiting = [pair for pair in self._state.parked() if pair.name not in told]
        return [Outcome("stays", p.local, WAITS, "--take or --keep it") for p in waiting]

    def _note_accepted(
        self,
        collected: Collected,
        pushed: Pushed,
        counters: Mapping[CounterKey, int],
        report: SyncReport,
    ) -> None:
        accepted = [one for one in collected.leaving if one.shared.name in pushed.accepted]
        self._state.save_pairs(
            replace(one.pair, token=pushed.accepted[one.shared.name]) for one in accepted
        )
        self._state.save_lineage({one.pair.local: one.shared.lineage for one in accepted})
        if not (pushed.raced or pushed.proposed):
            self._state.save_counters(counters)
        report.outcomes += [
            Outcome("out", one.pair.local, "sent", f"as {one.shared.name}")
            if one.pair.local != one.shared.name
            else Outcome("out", one.pair.local, "sent", one.shared.state)
            for one in accepted
        ]

    def _new_counters(self, collected: Collected) -> dict[CounterKey, int]:
        pairs = self._state.pairs()
        pairs.update({one.pair.name: one.pair for one in collected.leaving})
        known = self._state.counters()
        own = own_counters(self._homes.machine, self._uses(), pairs)
        return {key: value for key, value in own.items() if value > known.get(key, 0)}

    def _note_error(self, error: str) -> None:
        """For `status`, where it can be written down: the fault may be a full disk."""
        with contextlib.suppress(RemoteError):
            self._state.save_notes({"error": error, "error_at": time.time()})

    # -- what is remembered ----------------------------------------------------------------------

    def _pulled_to(self, cursor: str, incoming: Incoming) -> None:
        """What could not be taken is told again: until then nothing counts as pulled."""
        if self._settings.pulls and not incoming.to_ask_again and cursor != self._cursor:
            self._state.save_notes({"cursor": cursor})
            self._cursor = cursor

    def _same_settings(self, dry_run: bool) -> bool:
        """Whether the cursor was written under these settings: what they once left out would
        otherwise never be asked for again."""
        kept = [self._settings.url, self._settings.branch, self._settings.library]
        now = "\n".join([*kept, *self._settings.scope, "", *self._settings.tags])
        if self._state.note("settings") == now:
            return True
        if not dry_run:
            self._state.save_notes({"settings": now, "cursor": ""})
        return False

    def _ended(self, report: SyncReport, collected: Collected, marks: Marks) -> None:
        self._state.save_seen(collected.seen, collected.gone)
        told = [f"{one.name}: {one.detail}" for one in collected.held]
        earlier = json.loads(self._state.note("refused") or "[]")
        refused = [line for line in earlier if line.partition(": ")[0] not in self._told]
        refused += [f"{o.name}: {o.detail}" for o in report.outcomes if o.outcome == "refused"]
        notes: dict[str, object] = {
            "held": told,
            "refused": list(dict.fromkeys(refused)),
            "waiting": [pair.local for pair in self._state.parked()],
            "synced_at": time.time(),
            "error": report.error,
        }
        if not report.proposed:
            notes |= {"proposal": "", "proposed": ""}
        self._state.save_notes(notes)
        if not report.error:
            self._watch.remember(marks)

    def _nothing_to_do(self) -> bool:
        """Whether home and remote are as the last sync of this process left them."""
        if not self._watch.is_unchanged():
            return False
        pulled = self._remote.pull(self._cursor)
        if not pulled.skills and not pulled.counters:
            self._cursor = pulled.cursor
            return True
        return False


def _fingerprint(
    leaving: Sequence[Leaving], counters: Mapping[CounterKey, int], cursor: str
) -> str:
    told = [cursor, *sorted(f"{o.shared.name} {o.shared.digest}" for o in leaving)]
    told += [str(item) for item in sorted(counters.items())]
    return hashlib.sha256("\n".join(told).encode()).hexdigest()
