"""What a sync tells of each skill."""

from __future__ import annotations

from dataclasses import dataclass

WAITS = "waits for you"


@dataclass(frozen=True)
class Outcome:
    """What became of one skill. direction: in, out or stays. outcome: one word. detail: why."""

    direction: str
    name: str
    outcome: str
    detail: str = ""


WORDS = {
    "create": "new",
    "rename": "new, renamed",
    "same": "the same",
    "update": "updated",
    "merge": "merged",
    "park": WAITS,
    "pinned": "kept, pinned",
}
"""The word for each kind of arrival."""
