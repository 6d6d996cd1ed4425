"""Why a worker goes on without its fleet, for `status`, and the label that it bears in one."""

from __future__ import annotations

import contextlib
import logging
import secrets
from pathlib import Path

from skill_learner.errors import RemoteError
from skill_learner.remotes.sync_state import SyncState

log = logging.getLogger("skill_learner")

FLEET_NOTE = "fleet_error"
"""The note of a sync's memory that holds it; a sync, which may be well, leaves it alone."""


class FleetTrouble:
    """What is known is written down when it changes. A disk that cannot be written stops nobody."""

    def __init__(self, db: Path, remote: str) -> None:
        self._db = db
        self._remote = remote
        self._told: str | None = None

    def machine(self) -> str:
        """This machine's label; one for now where it cannot be kept."""
        state = SyncState(self._db, self._remote)
        with contextlib.suppress(RemoteError, OSError), contextlib.closing(state):
            return state.machine
        return f"m-{secrets.token_hex(4)}"

    def note(self, trouble: str) -> None:
        """ "" ends it."""
        if trouble == self._told:
            return
        self._told = trouble
        if trouble:
            log.warning("%s: reviews go on without the fleet: %s", self._remote, trouble)
        state = SyncState(self._db, self._remote)
        with contextlib.suppress(RemoteError, OSError), contextlib.closing(state):
            if state.note(FLEET_NOTE) != trouble:
                state.save_notes({FLEET_NOTE: trouble})
