"""Taking skills into a library: byte for byte, never over one that is there, marked as imported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from skill_learner.errors import SkillLearnerError
from skill_learner.exchange.exported import exported
from skill_learner.exchange.incoming import Incoming, IncomingSkill
from skill_learner.exchange.safe_files import SKILL_FILE, SkillFileData
from skill_learner.models import Skill, SkillState
from skill_learner.skills.adopting import AdoptedSkill
from skill_learner.skills.library import SkillLibrary

Suspicions = Callable[[str], list[str]]
"""Why a text looks like an instruction that was smuggled in, in words."""


@dataclass(frozen=True)
class ImportTarget:
    """Where skills go: the scope they get, and the slug in front of a name that is taken.

    known: scopes that an export may name, and what each is called here; a skill of such a one goes
    back to it.
    """

    scope: str
    project_slug: str
    dry_run: bool
    known: Mapping[str, str] = field(default_factory=dict)

    def scope_of(self, skill: IncomingSkill) -> str:
        return self.known.get(skill.scope, self.scope)


@dataclass(frozen=True)
class Imported:
    """What became of one skill. outcome: written (or "would be written"), unchanged, kept (another
    of that name is there, and stays) or refused. scope: whose it is now, "" unless written."""

    name: str
    outcome: str
    detail: str = ""
    scope: str = ""


def import_skills(
    incoming: Incoming, library: SkillLibrary, target: ImportTarget, suspicions: Suspicions
) -> list[Imported]:
    """Write the skills that are not there yet. A skill of the same name is never changed."""
    present = library.named({skill.name for skill in incoming.skills})
    done: list[Imported] = []
    new: dict[int, AdoptedSkill] = {}
    for place, skill in enumerate(incoming.skills):
        if skill.name in present:
            done.append(_kept(skill, present[skill.name]))
            continue
        new[place], told = _as_it_comes(skill, target, suspicions)
        done.append(told)
    if not target.dry_run:
        names = _written([*new.values()], library, target.project_slug)
        for place, name in zip(new, names, strict=True):
            if isinstance(name, SkillLearnerError):
                done[place] = Imported(done[place].name, "refused", name.message)
            else:
                done[place] = replace(done[place], name=name, outcome="written")
    return done + [Imported(one.name, "refused", one.reason) for one in incoming.refused]


def _written(
    skills: Sequence[AdoptedSkill], library: SkillLibrary, project_slug: str
) -> Sequence[str | SkillLearnerError]:
    """For each the name that it got, or why it was not written."""
    if not skills:
        return []
    try:
        return library.adopt(skills, project_slug=project_slug)
    except SkillLearnerError as problem:
        return [problem] * len(skills)


def state_of(skill: IncomingSkill, suspicions: Suspicions) -> tuple[SkillState, tuple[str, ...]]:
    """The state an imported skill gets, and the reasons that keep it from being active."""
    text = f"{skill.parsed.name}\n{skill.parsed.description}\n{skill.parsed.body}"
    holding = [f"looks like a smuggled instruction: {why}" for why in suspicions(text)]
    if not skill.parsed.description:
        holding.append("it has no description")
    holding += [note for note in skill.parsed.warnings if "hidden characters" in note]
    if holding:
        return "candidate", tuple(dict.fromkeys(holding))
    return ("active" if skill.state in ("", "active") else "candidate"), ()


def _kept(incoming: IncomingSkill, present: Skill) -> Imported:
    there = exported(present).files
    coming = {SKILL_FILE: SkillFileData(incoming.data), **incoming.attachments}
    if {p: f.data for p, f in there.items()} == {p: f.data for p, f in coming.items()}:
        return Imported(incoming.name, "unchanged", f"already there, {present.state}")
    return Imported(incoming.name, "kept", "a different skill of this name is there and stays")


def _as_it_comes(
    skill: IncomingSkill, target: ImportTarget, suspicions: Suspicions
) -> tuple[AdoptedSkill, Imported]:
    """What is to be written of a skill, and what is to be told of it."""
    state, holding = state_of(skill, suspicions)
    archived = "archived in the export" if skill.state == "archived" else ""
    notes: list[str] = ["archived" if archived else state]
    if skill.attachments:
        notes.append(f"{len(skill.attachments)} further files")
    scope = target.scope_of(skill)
    if scope != target.scope:
        notes.append("for all projects" if scope == "user" else f"for the project {scope}")
    notes += [*holding, *skill.parsed.warnings]
    further = {path: (file.data, file.executable) for path, file in skill.attachments.items()}
    adopted = AdoptedSkill(skill.name, skill.data, further, state, scope, archived)
    told = ", ".join(dict.fromkeys(notes))
    return adopted, Imported(skill.name, "would be written", told, scope)
