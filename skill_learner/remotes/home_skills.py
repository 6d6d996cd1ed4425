"""The home library as a remote may see it: which skills may leave, in what form, and which may not.

Everything of this machine is taken out: paths of projects become their folder's name, session ids
become hashes, and a text in which a secret or a person is found does not leave at all.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

from skill_learner.errors import SkillLearnerError
from skill_learner.exchange.exported import exported
from skill_learner.exchange.safe_files import SKILL_FILE, check_files, check_path
from skill_learner.learning.redaction import Redactor
from skill_learner.remotes.packed_skill import unpack
from skill_learner.remotes.scope_names import ScopeNames
from skill_learner.remotes.shared_skill import (
    MOST_CHANGES,
    SharedChange,
    SharedSkill,
    hashed_sessions,
    made_by,
    normal_body,
    normal_lines,
    with_lineage,
)
from skill_learner.remotes.sync_state import Pair
from skill_learner.skills.arriving_skill import SYNC
from skill_learner.skills.history import Change
from skill_learner.skills.intake import SkillIntake
from skill_learner.skills.library import SkillLibrary
from skill_learner.skills.our_metadata import PREFIX
from skill_learner.skills.reader import StoredSkill
from skill_learner.skills.validation import name_faults

_NO_TEXT = frozenset({"evidence", "state", "scope", "archive", "restore"})
"""Actions that leave the text as it is."""


@dataclass(frozen=True)
class HomeSkill:
    """A skill at home. shared: as it would travel. pinned: the user wants it as it is."""

    stored: StoredSkill
    shared: SharedSkill
    pinned: bool = False

    @property
    def name(self) -> str:
        return self.stored.place.name

    @property
    def is_ours(self) -> bool:
        return self.stored.skill.ours


class HomeSkills:
    def __init__(
        self, intake: SkillIntake, scopes: ScopeNames, machine: str, redactor: Redactor
    ) -> None:
        self.intake = intake
        self.scopes = scopes
        self.machine = machine
        self.redactor = redactor

    def change_scope(self, old: str, new: str) -> None:
        SkillLibrary(self.intake.skills_dir).change_scope(old, new)

    def find(self, name: str, pair: Pair | None) -> HomeSkill | None:
        stored = self.intake.find(name)
        if stored is None:
            return None
        return replace(self.shared(stored, pair), pinned=name in self.intake.pins.names())

    def earlier_texts(self, home: HomeSkill) -> dict[str, SharedSkill]:
        """The texts that a home skill had (with the attachments of today), by their hash,
        newest last."""
        texts = [
            replace(
                home.shared,
                description=" ".join(parsed.description.split()),
                body=normal_body(parsed.body),
                license=parsed.license,
                metadata=_foreign(parsed.metadata),
                further=normal_lines(parsed.further),
            )
            for parsed in self.intake.versions(home.name)
        ]
        return {text.text_digest: text for text in texts}

    def own_text(self, home: HomeSkill) -> SharedChange | None:
        """The change by which this machine made the text of today; None when that came to it."""
        made = [c for c in self.intake.changes(home.name) if c.action not in _NO_TEXT]
        return self._told(made[-1]) if made and made[-1].action != SYNC else None

    def _told(self, change: Change) -> SharedChange:
        why = self.redactor.redact(change.why)[:300]
        return SharedChange(change.version, change.action, why, self.machine, change.at)

    def shared(self, stored: StoredSkill, pair: Pair | None) -> HomeSkill:
        """What a home skill looks like to a remote that knows it as `pair`: where only trust made
        its state or scope another than the remote's, the remote's stand."""
        skill, base = stored.skill, unpack(pair.base) if pair is not None else None
        state = str(skill.state)
        scope = self.scopes.shared(skill.scope)
        if base is not None and pair is not None:
            state = base.state if state == pair.local_state else state
            scope = base.scope if skill.scope == pair.local_scope else scope
        approved = not skill.ours or self.intake.approved(skill.name)
        name = pair.name if pair is not None else skill.name
        files = exported(skill).files
        shared = SharedSkill(
            name=name,
            description=skill.description,
            body=normal_body(stored.parsed.body),
            license=stored.parsed.license,
            metadata=_foreign(stored.parsed.metadata),
            further=normal_lines(stored.parsed.further),
            attachments={path: file for path, file in files.items() if path != SKILL_FILE},
            state=state,
            scope=scope,
            sessions=hashed_sessions(skill.sessions),
            trigger_key=self.redactor.redact(skill.trigger_key),
            remedy_key=self.redactor.redact(skill.remedy_key),
            origin=made_by(skill.origin),
            unverified=stored.known.unverified,
            approved=approved or (base is not None and base.approved),
            by=self.machine,
            version=skill.version if base is None else base.version + 1,
        )
        return HomeSkill(stored, shared)

    def leaving(self, home: HomeSkill, pair: Pair | None, lineage: tuple[str, ...]) -> SharedSkill:
        """The skill as it is sent: with its history, redacted, and its lineage. lineage: texts that
        it is known to have had, in no order."""
        base = unpack(pair.base) if pair is not None else None
        changes = self.intake.changes(home.name)
        several = len({change.after for change in changes}) > 1
        at_home = (*self.earlier_texts(home),) if several else ()
        own = tuple(self._told(change) for change in changes if change.action != SYNC)
        earlier = base.history if base is not None else ()
        history = tuple(dict.fromkeys((*earlier, *own)))[-MOST_CHANGES:]
        newest = (*(base.lineage if base is not None else ()), *at_home)
        older = tuple(text for text in lineage if text not in newest)
        return with_lineage(replace(home.shared, history=history), older, newest)

    def held(self, home: HomeSkill) -> str:
        """Why a skill has to stay at home; "" when it may leave."""
        shared = home.shared
        if name_faults(shared.name):
            return name_faults(shared.name)[0]
        if home.stored.parsed.uncarried:
            keys = ", ".join(home.stored.parsed.uncarried)
            return "keys of its front matter cannot be told apart: " + keys
        if home.stored.parsed.lost:
            return "text would be lost on the way: " + "; ".join(home.stored.parsed.lost)
        try:
            where = f"skill {shared.name!r}"
            for path in shared.attachments:
                check_path(path, where)
            check_files(shared.attachments, where)
            texts = [*_texts(shared)]
            shared.files()
        except SkillLearnerError as problem:
            return problem.message
        kinds = sorted({found.kind for text in texts for found in self.redactor.findings(text)})
        if kinds:
            return "it holds what must not leave this machine: " + ", ".join(kinds)
        return ""


def _foreign(metadata: Mapping[str, str]) -> dict[str, str]:
    return {key: value for key, value in metadata.items() if not key.startswith(PREFIX)}


def _texts(shared: SharedSkill) -> list[str]:
    attached = [
        text
        for path, file in shared.attachments.items()
        for text in (path, file.data.decode("utf-8", "replace"))
    ]
    extra = [f"{key}: {value}" for key, value in shared.metadata.items()]
    extra += shared.further.values()
    return [shared.name, shared.description, shared.body, shared.license, *extra, *attached]
