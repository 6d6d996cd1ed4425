"""Names under which a skill of a remote may stand at home, when its own name there is another's.

A name that was taken is changed on the way, in one of two ways: what comes in gets the remote's
name in front, what goes out this machine's label behind. Once the memory of a remote is lost,
nothing but these names leads back to the skill that was paired; whether it is the same, its texts
show.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import islice, takewhile

from skill_learner.skills.validation import slugify_name
from skill_learner.skills.writer import numbered_names

_SLUG = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+)*")
_SHORT = 30
_LABELLED = re.compile(r"(.+)-m-[0-9a-f]{8}")


def other_names(name: str, remote: str, taken: set[str]) -> Iterator[str]:
    """Of the `taken` names (in one case) those that a remote's skill may have beside its own."""
    if (stem := labelled(name)) in taken:
        yield stem
    if _is_slug(name) and _is_slug(remote) and f"{remote}-{name}" not in taken:
        return
    names = numbered_names(slugify_name(name), slugify_name(remote))
    yield from (tried for tried in islice(names, 2) if tried in taken and tried != name)
    yield from takewhile(taken.__contains__, names)


def labelled(name: str) -> str:
    """The name before a machine's label was put behind it; "" when there is none."""
    found = _LABELLED.fullmatch(name)
    return found[1] if found is not None else ""


def _is_slug(name: str) -> bool:
    """Whether it is written as it stands, whatever is put before it."""
    return len(name) <= _SHORT and _SLUG.fullmatch(name) is not None
