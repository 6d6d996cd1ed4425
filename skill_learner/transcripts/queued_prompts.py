"""Messages typed while the model was busy.

They are queued first. Afterwards they may stand in the transcript as a user line, as an attachment,
or, in older versions, nowhere but in the queue's own records.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from typing import Any, NamedTuple

from skill_learner.transcripts.steps import Place


class _Queued(NamedTuple):
    """place: of its enqueuing, for its id and time. taken: the line where it left the queue."""

    text: str
    place: Place
    taken: int


class PromptQueue:
    """Follows `queue-operation` records and says which messages were delivered by them alone."""

    def __init__(self) -> None:
        self._waiting: list[_Queued] = []
        self._removed: list[_Queued] = []
        self._delivered: list[str] = []
        self._delivery_lines: list[int] = []

    def operate(self, record: Mapping[str, Any], place: Place) -> None:
        operation, content = record.get("operation"), record.get("content")
        if operation == "enqueue":
            if isinstance(content, str) and content.strip():
                self._waiting.append(_Queued(content, place, place.line))
        elif operation == "dequeue":
            # The message becomes a turn of its own and gets a user line.
            del self._waiting[:1]
        elif operation == "popAll":
            # Taken back into the input line: it was not sent, or is queued again after editing.
            self._waiting.clear()
        elif operation == "remove" and self._waiting:
            taken = next((q for q in self._waiting if q.text == content), self._waiting[0])
            self._waiting.remove(taken)
            self._removed.append(taken._replace(taken=place.line))

    def delivered(self, text: str, place: Place) -> None:
        """A user line or attachment with this text stands at `place`."""
        self._delivery_lines.append(place.line)
        self._delivered.append(f"\n{_normal(text)}\n")

    def undelivered(self) -> list[tuple[str, Place]]:
        """What was taken from the queue, or is left in it, and stands nowhere else."""
        found = []
        for queued in (*self._removed, *self._waiting):
            text = _normal(queued.text)
            if text.startswith(("/", "{")):
                continue  # a command of the editor, or a record of background work
            if not self._was_delivered(text, queued.place.line):
                found.append((queued.text, queued.place._replace(line=queued.taken)))
        return found

    def _was_delivered(self, text: str, enqueued: int) -> bool:
        """Several queued messages may have been delivered as one, each on lines of its own."""
        later = bisect_right(self._delivery_lines, enqueued)
        return f"\n{text}\n" in "".join(self._delivered[later:])


def _normal(text: str) -> str:
    """The text's lines without blank ones and without white space around them."""
    return "\n".join(filter(None, map(str.strip, text.split("\n"))))
