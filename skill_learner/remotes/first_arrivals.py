"""Skills that nobody here knows: checked, decided on and put into form, each by itself.

What is done here needs nothing but the skill and the terms on which it comes, so that a process
beside may do it for some of them. The checks are those of every arrival.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

from skill_learner.errors import SkillFormatError, SkillLearnerError
from skill_learner.exchange.safe_files import SkillFileData
from skill_learner.remotes import arriving
from skill_learner.remotes.arrival_form import Terms
from skill_learner.remotes.home_skills import pack, wanted
from skill_learner.remotes.protocol import RemoteSkill
from skill_learner.remotes.shared_skill import read_shared
from skill_learner.skills.arriving_skill import Attachments, made_ready
from skill_learner.skills.validation import name_faults

_PlainFiles = tuple[tuple[str, bytes, bool], ...]
PlainSkill = tuple[str, str, _PlainFiles]
"""A remote's skill as plain values: name, token, files."""


class FirstArrival(NamedTuple):
    """What became of one, as plain values. kind: "create", "refused", or "" where nothing is to be
    done. ask_again: whether a fault of this machine refused it. pair: the values of its Pair.
    lineage: hashes of its texts. noted: the values of its ArrivedEntry. size: of its SKILL.md.
    data, attachments: what is still to be written, when it has attachments."""

    name: str
    kind: str = ""
    why: str = ""
    ask_again: bool = False
    pair: tuple[Any, ...] = ()
    lineage: tuple[str, ...] = ()
    noted: tuple[Any, ...] = ()
    size: int = 0
    data: bytes = b""
    attachments: Attachments | None = None


Write = Callable[[str, bytes], None]
"""Writes the draft of the SKILL.md of a name."""


def may_be_first(skill: RemoteSkill) -> bool:
    """Whether it is here, in full, under a name that can be written as it is."""
    return not (skill.files is None or skill.fault or skill.lost or name_faults(skill.name))


def plain(skill: RemoteSkill) -> PlainSkill:
    files = (skill.files or {}).items()
    return skill.name, skill.token, tuple((p, f.data, f.executable) for p, f in files)


def arrive(
    skills: Sequence[PlainSkill], terms: Terms, at: str, write: Write
) -> list[tuple[Any, ...]]:
    """The values of a `FirstArrival` for each; drafts of those without attachments are written.
    OSError and LibraryError of a write end it."""
    found = [_arrival(skill, terms, at) for skill in skills]
    # Apart from writing, for either finds the processor's caches full of its own then.
    for number, one in enumerate(found):
        if one.kind == "create" and not one.attachments:
            write(one.name, one.data)
            found[number] = one._replace(data=b"")
    return [tuple(one) for one in found]


def _arrival(skill: PlainSkill, terms: Terms, at: str) -> FirstArrival:
    name, token, files = skill
    try:
        theirs = read_shared(name, {p: SkillFileData(data, mode) for p, data, mode in files})
        if not wanted(theirs, terms.settings):
            return FirstArrival(name)
        arrival = arriving.decide(theirs, None, None, terms.settings)
        if arrival.kind != "create":
            return FirstArrival(name)
        new, digest = terms.new(arrival)
        ready = made_ready(name, new, terms.actor, 1, at)
    except SkillLearnerError as problem:
        is_theirs = isinstance(problem, SkillFormatError)
        return FirstArrival(name, "refused", problem.message, not is_theirs)
    record = new.arriving.record
    base = pack(arrival.base)
    pair = (name, name, token, base, digest, arrival.state, record.scope, "remote")
    return FirstArrival(
        name,
        "create",
        arrival.why,
        pair=pair,
        lineage=(*theirs.lineage, theirs.text_digest),
        noted=tuple(ready.noted),
        size=len(ready.data),
        data=ready.data,
        attachments=ready.attachments or None,
    )
