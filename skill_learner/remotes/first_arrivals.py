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
from skill_learner.remotes.packed_skill import pack
from skill_learner.remotes.protocol import RemoteSkill
from skill_learner.remotes.scope_names import wanted
from skill_learner.remotes.shared_skill import SharedSkill, read_shared
from skill_learner.skills.arriving_skill import Attachments, NewSkill, ReadySkill, made_ready
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
    coming = [_Coming(skill, terms, at) for skill in skills]
    # One step for all before the next: the processor finds the code of a step in its caches then.
    for step in (_Coming.read, _Coming.decide, _Coming.form, _Coming.tell):
        for one in coming:
            if one.end is None:
                try:
                    step(one)
                except SkillLearnerError as problem:
                    one.refuse(problem)
    for one in coming:
        if one.draft:
            write(one.name, one.draft)
    return [tuple(one.end) for one in coming if one.end is not None]


class _Coming:
    """One of them on its way. end: what became of it, once that is known. draft: the SKILL.md that
    is to be written for it, if any."""

    __slots__ = (
        *("arrival", "at", "digest", "draft", "end", "files", "name", "new", "ready"),
        *("terms", "theirs", "token"),
    )
    theirs: SharedSkill
    arrival: arriving.Arrival
    new: NewSkill
    digest: str
    ready: ReadySkill

    def __init__(self, skill: PlainSkill, terms: Terms, at: str) -> None:
        self.name, self.token, self.files = skill
        self.terms = terms
        self.at = at
        self.end: FirstArrival | None = None
        self.draft = b""

    def refuse(self, problem: SkillLearnerError) -> None:
        is_theirs = isinstance(problem, SkillFormatError)
        self.end = FirstArrival(self.name, "refused", problem.message, not is_theirs)

    def read(self) -> None:
        files = {path: SkillFileData(data, mode) for path, data, mode in self.files}
        self.theirs = read_shared(self.name, files)

    def decide(self) -> None:
        settings = self.terms.settings
        if wanted(self.theirs, settings):
            self.arrival = arriving.decide(self.theirs, None, None, settings)
            if self.arrival.kind == "create":
                return
        self.end = FirstArrival(self.name)

    def form(self) -> None:
        self.new, self.digest = self.terms.new(self.arrival)
        self.ready = made_ready(self.name, self.new, self.terms.actor, 1, self.at)

    def tell(self) -> None:
        name, theirs, arrival, ready = self.name, self.theirs, self.arrival, self.ready
        scope, base = self.new.arriving.record.scope, pack(arrival.base)
        staged = ready.attachments or None
        self.draft = b"" if staged else ready.data
        self.end = FirstArrival(
            name,
            "create",
            arrival.why,
            pair=(name, name, self.token, base, self.digest, arrival.state, scope, "remote"),
            lineage=(*theirs.lineage, theirs.text_digest),
            noted=tuple(ready.noted),
            size=len(ready.data),
            data=ready.data if staged else b"",
            attachments=staged,
        )
