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

_LABELLED = re.compile(r"(.+)-m-[0-9a-f]{8}")


def other_names(name: str, remote: str, taken: set[str]) -> Iterator[str]:
    """Of the `taken` names (in one case) those that a remote's skill may have beside its own."""
    labelled = _LABELLED.fullmatch(name)
    if labelled is not None and labelled[1] in taken:
        yield labelled[1]
    names = numbered_names(slugify_name(name), slugify_name(remote))
    yield from (tried for tried in islice(names, 2) if tried in taken and tried != name)
    yield from takewhile(taken.__contains__, names)
