"""What counts as a counter, whichever engine keeps it."""

from __future__ import annotations

from skill_learner.exchange.safe_files import is_safe_part
from skill_learner.remotes.protocol import CounterKey

_MOST_COUNTED = 2**53
_LONGEST_NAME = 200


def is_countable(key: CounterKey, value: object) -> bool:
    """Whether a counter can be kept anywhere: plain names, of which the machine's may name a file,
    and a number that is no mischief. What can not is left out, on the way there and back."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 <= value < _MOST_COUNTED:
        return False
    plain = all(part.isprintable() and len(part) <= _LONGEST_NAME for part in key)
    return plain and is_safe_part(key[0])
