"""What the last sync with each remote came to, as this machine remembers it; nobody is asked."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from skill_learner.remotes.damaged_state import damaged_since
from skill_learner.remotes.fleet_trouble import FLEET_NOTE
from skill_learner.remotes.sync_state import SyncState

_LOST = (
    "what was remembered of it was damaged and is set aside; the next sync compares everything"
    " again, and loses nothing"
)


@dataclass(frozen=True)
class LastSync:
    """synced_at: unix seconds of the last one that ended, None when there was none. error: why the
    latest attempt came to nothing. proposed: where what was sent waits for a person. held, refused:
    skills that stayed at home, and that were not taken, with why. waiting: skills of which two
    versions wait for the user. uses: of all machines together, by skill."""

    remote: str
    synced_at: float | None = None
    error: str = ""
    proposed: str = ""
    held: Mapping[str, str] = field(default_factory=dict)
    refused: Mapping[str, str] = field(default_factory=dict)
    waiting: Sequence[str] = ()
    uses: Mapping[str, int] = field(default_factory=dict)


def last_syncs(db: Path, remotes: Sequence[str]) -> list[LastSync]:
    """One for each name of a remote. db: the state of all syncs, which may not exist yet."""
    return [_last_sync(db, name) if db.exists() else LastSync(name) for name in remotes]


def _last_sync(db: Path, remote: str) -> LastSync:
    state = SyncState(db, remote)
    try:
        uses: Counter[str] = Counter()
        for (_, skill, kind), value in state.counters().items():
            uses[skill] += value if kind == "uses" else 0
        synced_at = float(state.note("synced_at") or 0)
        return LastSync(
            remote,
            synced_at=synced_at or None,
            error=state.note("error") or _alone(state.note(FLEET_NOTE)) or _lost(db, synced_at),
            proposed=state.note("proposed"),
            held=_told(state.note("held")),
            refused=_told(state.note("refused")),
            waiting=json.loads(state.note("waiting") or "[]"),
            uses=dict(uses),
        )
    finally:
        state.close()


def _alone(trouble: str) -> str:
    return f"reviews go on without the fleet: {trouble}" if trouble else ""


def _lost(db: Path, synced_at: float) -> str:
    return _LOST if damaged_since(db, synced_at) else ""


def _told(noted: str) -> dict[str, str]:
    """`name: why` lines as a map."""
    lines = json.loads(noted or "[]")
    return {name: why for name, _, why in (line.partition(": ") for line in lines)}
