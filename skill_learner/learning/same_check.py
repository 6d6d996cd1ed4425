"""When is a later command the same check as an earlier one, run again?"""

from __future__ import annotations

import re
from typing import Literal

from skill_learner.learning.command_effects import changes_something
from skill_learner.learning.commands import (
    Part,
    goal,
    normal_form,
    parts_of,
    positionals,
    work_parts,
)

Likeness = Literal["same", "form", ""]
"""same: the earlier command is contained as it was. form: same purpose, other options."""

_COSMETIC = frozenset(
    "-v -vv -vvv -q -x -s -l -sv -vs -xvs --verbose --quiet --silent --color --no-color --no-cov "
    "--no-coverage --coverage --maxfail=N --tb=short --tb=long --tb=line --tb=no -n N --no-header "
    "--runInBand --pretty --colour --progress --no-progress".split()
)
_BROAD = frozenset({"./...", ".", "...", "./", "all"})
_TOKEN = re.compile(r"[\w.@-]{3,}")


def likeness(earlier: str, later: str, project: str = "") -> Likeness:
    """How the later line repeats the check of the earlier one."""
    before, after = work_parts(earlier), work_parts(later)
    if not before or not after:
        return ""
    forms = [normal_form(part, project) for part in before]
    later_forms = {normal_form(part, project) for part in after}
    if forms[-1] in later_forms or set(forms) <= later_forms:
        return "same"
    return "form" if any(_same_purpose(before[-1], part) for part in after) else ""


def matching_part(earlier: str, later: str, project: str = "") -> Part | None:
    """The part of the later line that repeats the earlier check."""
    before, after = work_parts(earlier), work_parts(later)
    if not before:
        return None
    wanted = normal_form(before[-1], project)
    for part in after:
        if normal_form(part, project) == wanted:
            return part
    for part in after:
        if _same_purpose(before[-1], part):
            return part
    return None


def _same_purpose(earlier: Part, later: Part) -> bool:
    if goal(earlier) != goal(later):
        return False
    if earlier.program == "git":
        return True
    ours, theirs = _targets(earlier), _targets(later)
    if not theirs or theirs & _BROAD:
        return True
    if not ours:
        return False
    words, later_words = _tokens(ours), _tokens(theirs)
    if not words or not later_words:
        return ours == theirs
    return len(words & later_words) * 2 >= min(len(words), len(later_words))


def _targets(part: Part) -> set[str]:
    """What a command works on: its positional words, and what stands behind `--`, beyond the words
    that already are its purpose."""
    purpose = set(re.findall(r"[\w.@/:-]+", goal(part))) | {"run", "exec", "test", "build"}
    named = {word for word in positionals(part) if word not in purpose}
    if "--" in part.words:
        named |= {word.strip("'\"") for word in part.words[part.words.index("--") + 1 :]}
    return {word for word in named if word}


def _tokens(words: set[str]) -> set[str]:
    return {token for word in words for token in _TOKEN.findall(word)}


def differs_in_substance(earlier: str, later: str, project: str = "") -> bool:
    """True when the later form of the check differs by more than options of display, or does
    something more in front of it."""
    old, new = work_parts(earlier)[-1:], matching_part(earlier, later, project)
    if not old or new is None:
        return False
    difference = set(normal_form(old[0], project).split()) ^ set(normal_form(new, project).split())
    if difference - _COSMETIC:
        return True
    extra = [part for part in parts_of(later) if changes_something(part.text)]
    known = {normal_form(part, project) for part in (*parts_of(earlier), new)}
    return any(normal_form(part, project) not in known for part in extra)
