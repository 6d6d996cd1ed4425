"""Messages typed while the model was busy.

They are queued first. Afterwards they may stand in the transcript as a user line, as an attachment,
or, in older versions, nowhere but in the queue's own records.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from skill_learner.transcripts.steps import Place


class _Queued(NamedTuple):
    text: str
    place: Place


class PromptQueue:
    """Follows `queue-operation` records and says which messages were delivered by them alone."""

    def __init__(self) -> None:
        self._waiting: list[_Queued] = []
        self._removed: list[_Queued] = []
        self._delivered: list[tuple[int, str]] = []

    def operate(self, record: Mapping[str, Any], place: Place) -> None:
        operation, content = record.get("operation"), record.get("content")
        if operation == "enqueue":
            if isinstance(content, str) and content.strip():
                self._waiting.append(_Queued(content, place))
        elif operation == "dequeue":
            # The message becomes a turn of its own and gets a user line.
            del self._waiting[:1]
        elif operation == "popAll":
            # Taken back into the input line: it was not sent, or is queued again after editing.
            self._waiting.clear()
        elif operation == "remove" and self._waiting:
            taken = next((q for q in self._waiting if q.text == content), self._waiting[0])
            self._waiting.remove(taken)
            self._removed.append(taken._replace(place=taken.place._replace(line=place.line)))

    def delivered(self, text: str, place: Place) -> None:
        """A user line or attachment with this text stands at `place`."""
        self._delivered.append((place.line, _normal(text)))

    def undelivered(self) -> list[tuple[str, Place]]:
        """What was taken from the queue, or is left in it, and stands nowhere else."""
        found = []
        for queued in (*self._removed, *self._waiting):
            text = _normal(queued.text)
            if text.startswith(("/", "{")):
                continue  # a command of the editor, or a record of background work
            if not any(text in given for _, given in self._delivered):
                found.append((queued.text, queued.place))
        return found


def _normal(text: str) -> str:
    return " ".join(text.split())
