"""One sync with one remote: pull, merge, push, and again where somebody else was faster.

Nothing here holds a lock while the network is asked, and nothing is noted as done before it is: a
kill at any step leaves each skill old or new on each side, and the next sync goes on from there.
"""

from __future__ import annotations

import contextlib
import json
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from skill_learner.errors import RemoteError, RemoteUnavailableError, SkillLearnerError
from skill_learner.files import locked
from skill_learner.remotes import protocol
from skill_learner.remotes.home_mending import (
    came_back,
    give_projects,
    lost_there,
    note_arrivals_again,
)
from skill_learner.remotes.home_skills import HomeSkills
from skill_learner.remotes.home_watch import HomeWatch, Marks
from skill_learner.remotes.incoming import Incoming
from skill_learner.remotes.outcomes import WAITS, Outcome
from skill_learner.remotes.outgoing import Collected, Outgoing
from skill_learner.remotes.proposals import NO_PROPOSAL
from skill_learner.remotes.protocol import HintingRemote, LookingRemote, Remote
from skill_learner.remotes.sending import Sending
from skill_learner.remotes.settings import RemoteSettings
from skill_learner.remotes.sync_state import SyncState
from skill_learner.remotes.waiting import Waiting
from skill_learner.usage import SkillUse

MOST_ROUNDS = 6
_LOCK_SECONDS = 120.0
UNPUBLISHED = "unpublished"
"""The note that home changed, and editors were not shown it yet."""


@dataclass
class SyncReport:
    """What one sync did. error: why the remote could not be reached; home goes on without it.
    hint: what can be done about that. unpublished: what editors are shown is older than home, by
    this sync or one that was killed, and nobody said since by `note_published` that it is not."""

    remote: str
    outcomes: list[Outcome] = field(default_factory=list)
    proposed: str = ""
    error: str = ""
    hint: str = ""
    rounds: int = 0
    unpublished: bool = False

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
        self._earlier = ""
        self._told: set[str] = set()

    def sync(self, *, dry_run: bool = False) -> SyncReport:
        """Raises RemoteError for what a person has to look at; an unreachable remote is a note in
        the report."""
        report = SyncReport(self._settings.name)
        try:
            with locked(self._place.lock, timeout=_LOCK_SECONDS):
                if dry_run or not self._nothing_to_do():
                    self._run(report, dry_run)
        except RemoteUnavailableError as problem:
            report.error, report.hint = problem.message, problem.hint
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

    def failed(self, problem: SkillLearnerError) -> SyncReport:
        """The report of a sync that raised this."""
        name, left = self._settings.name, self._unpublished()
        return SyncReport(name, error=problem.message, hint=problem.hint, unpublished=left)

    def _unpublished(self) -> bool:
        """Whether a sync changed home, and nobody said since that editors are shown it."""
        with contextlib.suppress(RemoteError):
            return bool(self._state.note(UNPUBLISHED))
        return False

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
        self._told = set()
        try:
            self._begin(dry_run)
            incoming = Incoming(self._settings, self._homes, self._state, dry_run=dry_run)
            with contextlib.closing(incoming):
                self._rounds(incoming, report, marks, dry_run)
        finally:
            report.unpublished = not dry_run and self._unpublished()

    def _rounds(self, incoming: Incoming, report: SyncReport, marks: Marks, dry_run: bool) -> None:
        if not dry_run:
            self._put_right(incoming)
        outgoing = Outgoing(self._settings, self._homes, self._state, incoming)
        sending = Sending(self._settings, self._remote, self._homes, self._state, self._uses)
        collected, busy = Collected(), ""
        for report.rounds in range(1, MOST_ROUNDS + 1):
            pulled = self._pull(self._cursor, incoming)
            report.outcomes += self._brought(pulled, incoming, sending)
            if not dry_run:
                self._state.take_counters(pulled, self._homes.machine, whole=not self._cursor)
                self._pulled_to(pulled.cursor, incoming)
            if not self._settings.pushes:
                break
            collected = sending.hold_declined(outgoing.collect(), dry_run=dry_run)
            if dry_run:
                report.outcomes += [
                    Outcome("out", one.pair.local, "would be sent", one.shared.state)
                    for one in collected.leaving
                ]
                break
            sent = sending.send(collected, self._cursor)
            report.outcomes += sent.outcomes
            report.proposed, busy = sent.proposed, sent.busy
            if sent.cursor:
                self._pulled_to(sent.cursor, incoming)
            if sent.is_end:
                break
        else:
            slow = f"others write faster than we can: {MOST_ROUNDS} rounds were not enough"
            report.error = busy or slow
        report.outcomes += [*collected.held, *self._still_waiting(report)]
        if not dry_run:
            self._ended(report, collected, marks)

    def _pull(self, cursor: str, incoming: Incoming) -> protocol.Pulled:
        if incoming.is_dry and isinstance(self._remote, LookingRemote):
            return self._remote.look(cursor)
        return self._remote.pull(cursor, incoming.foretold)

    def _brought(
        self, pulled: protocol.Pulled, incoming: Incoming, sending: Sending
    ) -> list[Outcome]:
        gone = self._pull(self._earlier, incoming).skills if self._earlier else []
        told = [skill for skill in gone if skill.files is None and not skill.fault]
        told += pulled.skills
        back: list[protocol.RemoteSkill] = []
        if self._settings.pulls and not incoming.is_dry:
            back = came_back(self._homes, self._state, told)
        told = [*back, *told, *lost_there(self._state, pulled)]
        self._told |= {skill.name[:80] for skill in told}
        skills = sending.without_own(told, dry_run=incoming.is_dry)
        if not (self._settings.pulls and skills):
            return []
        if not incoming.is_dry:  # it may be killed once it has begun to change home
            self._state.save_notes({UNPUBLISHED: "1"})
        return incoming.take(skills)

    def _put_right(self, incoming: Incoming) -> None:
        note_arrivals_again(self._homes, self._state)
        give_projects(self._homes, self._state)
        incoming.settle_decided()

    def _still_waiting(self, report: SyncReport) -> list[Outcome]:
        """What waits for the user since an earlier sync."""
        told = {one.name for one in report.outcomes if one.direction == "in"}
        waiting = [pair for pair in self._state.parked() if pair.name not in told]
        return [Outcome("stays", p.local, WAITS, "--take or --keep it") for p in waiting]

    def _note_error(self, error: str) -> None:
        """For `status`, where it can be written down: the fault may be a full disk."""
        with contextlib.suppress(RemoteError, OSError):
            self._state.save_notes({"error": error, "error_at": time.time()})

    # -- what is remembered ----------------------------------------------------------------------

    def _pulled_to(self, cursor: str, incoming: Incoming) -> None:
        """What could not be taken is told again: until then nothing counts as pulled."""
        if not self._settings.pulls:
            self._state.save_notes({"settings": self._place_and_choice})
        elif not incoming.to_ask_again and (cursor, "") != (self._cursor, self._earlier):
            notes = {"cursor": cursor, "settings": self._place_and_choice}
            self._state.save_notes(notes)
            self._cursor, self._earlier = cursor, ""

    def _begin(self, dry_run: bool) -> None:
        """From where the remote is asked. What other settings left out would never be asked for
        again by their cursor, which tells what is gone since all the same. What is known of another
        place is nothing here."""
        before = self._state.note("settings")
        self._cursor, self._earlier = "", self._state.note("cursor")
        if before == self._place_and_choice:
            self._cursor, self._earlier = self._earlier, ""
        elif before and before.split("\n")[:3] != self._place_and_choice.split("\n")[:3]:
            self._earlier = ""
            if dry_run:
                self._state.close()
                self._state = self._state.of_a_stranger()
            else:
                Waiting(self._settings, self._homes.intake).end_all(self._state.parked())
                self._state.forget()

    @property
    def _place_and_choice(self) -> str:
        place = [self._settings.url, self._settings.branch, self._settings.library]
        return "\n".join([*place, *self._settings.scope, "", *self._settings.tags])

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
            notes |= NO_PROPOSAL
        self._state.save_notes(notes)
        if not report.error:
            self._watch.remember(marks)

    def _nothing_to_do(self) -> bool:
        """Whether home and remote are as the last sync of this process left them."""
        if not self._watch.is_unchanged():
            return False
        pulled = self._remote.pull(self._cursor)
        if not (pulled.skills or pulled.counters or pulled.set_back):
            self._cursor = pulled.cursor
            return True
        return False
