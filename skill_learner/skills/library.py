"""The library: SKILL.md files are the truth; every change is locked, atomic, recorded, undoable.

A skill is ours when its bytes are what we wrote last. Any other file is the user's: it is listed,
and never written. Nothing is deleted; the archive takes what is retired.
"""

from __future__ import annotations

import contextlib
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, timezone
from pathlib import Path

from skill_learner.errors import LibraryError, SkillLearnerError
from skill_learner.models import ENOUGH_SESSIONS, CreateSkill, PatchSkill, Skill, SkillState
from skill_learner.skills.adopting import AdoptedSkill, Adopting
from skill_learner.skills.encounters import EncounterStore
from skill_learner.skills.folder import Place, SkillFolder
from skill_learner.skills.frontmatter import render
from skill_learner.skills.history import Change, Entry, History, content_hash, new_change, now
from skill_learner.skills.library_lock import library_lock
from skill_learner.skills.our_metadata import UNDECIDED, with_our_metadata
from skill_learner.skills.patching import occurrence_lines, replace_once
from skill_learner.skills.pins import Pins
from skill_learner.skills.proofs import ProofStore
from skill_learner.skills.proposals import ProposalStore
from skill_learner.skills.reader import LibraryLook, SkillReader, StoredSkill
from skill_learner.skills.records import RecordStore, SkillRecord
from skill_learner.skills.validation import slugify_name
from skill_learner.skills.writer import UNDO, SkillWriter, free_name, undo_target

USER = "user"
GUARDRAIL_DAYS = 30
"""How long a warning of a failure without a remedy is given to agents."""

Skills = list[Skill]
Changes = list[Change]
Entries = list[Entry]
Errors = list[SkillLearnerError]
Adopted = list[str | LibraryError]


class SkillLibrary:
    """The skills of one folder. Reading needs no lock and creates nothing on disk."""

    def __init__(self, skills_dir: Path, *, lock_timeout: float = 30.0) -> None:
        self._folder = SkillFolder(skills_dir)
        self.skills_dir = self._folder.root
        self._records = RecordStore(self.skills_dir / ".records")
        self._history = History(self.skills_dir / ".history")
        self.encounters = EncounterStore(self.skills_dir / ".encounters")
        self._reader = SkillReader(self._folder, self._records, self._history, self.encounters)
        self._writer = SkillWriter(self._folder, self._records, self._history, self._reader)
        self._lock_timeout = lock_timeout
        self.proposals = ProposalStore(self.skills_dir / ".proposals")
        self.proofs = ProofStore(self.skills_dir / ".proofs")
        self.pins = Pins(self.skills_dir / ".pins.json")

    # -- reading -------------------------------------------------------------------------------

    def list(
        self,
        states: Collection[SkillState] = ("active", "candidate"),
        scope: str | None = None,
    ) -> Skills:
        """The skills in one of `states`, by name; of one scope exactly, or of all (None). Files
        that cannot be used are left out; `problems` names them."""
        return [
            skill
            for place in self._places(archived="archived" in states)
            if (skill := self._usable(place)) is not None
            and skill.state in states
            and (scope is None or skill.scope == scope)
        ]

    def named(self, names: Collection[str]) -> dict[str, Skill]:
        """The skills of these names, in whatever state; reads no others."""
        places = (place for place in self._places(archived=True) if place.name in names)
        return {skill.name: skill for skill in map(self._usable, places) if skill is not None}

    def get(self, name: str) -> Skill:
        """One skill, archived ones included. LibraryError, with near names, when there is none."""
        return self._stored(name).skill

    def history(self, name: str) -> Changes:
        """The changes that were carried out, oldest first."""
        place = self._folder.find(name)
        return [entry.change for entry in self._landed(name, place)]

    def last_changed(self) -> str:
        """The name of the skill that changed last; LibraryError when none ever did."""
        for name in self._history.names():
            return name
        raise LibraryError("there is no change to undo")

    def is_approved(self, skill: Skill) -> bool:
        """Whether the user, by command, made exactly these bytes of a file of theirs active."""
        digest = skill.content_hash
        if _says_approved(self._records.load(skill.name), digest):
            return True
        return _says_approved(self._reader.ownership(skill.name, digest)[0], digest)

    def version_text(self, digest: str) -> str:
        """The SKILL.md of a change's `before` or `after`; LibraryError when its copy is gone."""
        return self._history.bytes_of(digest).decode("utf-8", "replace")

    def patches_today(self) -> int:
        """How many patches were applied today without the user's command."""
        return self._history.count_today("patch")

    def problems(self) -> Errors:
        """Why files that look like skills cannot be used."""
        return self.read_all()[1]

    def read_all(self) -> tuple[Skills, Errors]:
        """The skills in all states, as `list` gives them, and `problems`, from one reading."""
        skills: Skills = []
        problems: Errors = []
        for place in self._places(archived=True):
            try:
                skills.append(self._reader.read(place).skill)
            except SkillLearnerError as error:
                problems.append(error)
        return skills, problems

    def stamps(self) -> dict[str, str]:
        """For indexes: the key of each skill, archived ones too, with a text that changes when the
        skill does; "" when its file is too new for that to be certain. Reads no skill."""
        return self.look().stamps()

    def look(self) -> LibraryLook:
        """For indexes: the same, and whether anything has changed at all, from one look."""
        return self._reader.look()

    def at(self, key: str) -> Skill:
        """For indexes: the skill with a key from `stamps`; raises when it is gone or unusable."""
        return self._reader.read(self._folder.at(key)).skill

    def _places(self, *, archived: bool) -> Iterator[Place]:
        yield from self._folder.places()
        if archived:
            yield from self._folder.places(archived=True)

    # -- changing ------------------------------------------------------------------------------

    def create(
        self,
        draft: CreateSkill,
        *,
        state: SkillState,
        scope: str,
        project_slug: str,
        origin: str,
        session: str,
    ) -> Skill:
        """Write a new skill. Its name is made valid; where something else holds it, it gets the
        project's slug in front, then a number."""
        with self._locked():
            name = free_name(self._folder, slugify_name(draft.name), slugify_name(project_slug))
            record = SkillRecord(
                hash="",
                version=self._history.last_version(name) + 1,
                created=now(),
                state="active" if state == "active" else "candidate",
                sessions=(session,) if session else (),
                trigger_key=draft.trigger_key,
                remedy_key=draft.remedy_key,
                origin=origin,
                scope=scope,
                unverified="yes" if draft.unverified else "",
                expires=_in_days(GUARDRAIL_DAYS) if draft.guardrail else "",
            )
            data = render(
                name,
                " ".join(draft.description.split()),
                "\n" + draft.body.strip("\n") + "\n",
                metadata=with_our_metadata({}, record),
            )
            why = f"learned by {origin}" if origin else "created"
            why += f": {draft.why}" if draft.why else ""
            change = new_change(name, record, "create", origin, why, session)
            return self._writer.write(self._folder.new_place(name), data, record, change)

    def adopt(self, skills: Sequence[AdoptedSkill], *, project_slug: str) -> Adopted:
        """Take in skills that were written elsewhere, their bytes as they are; only those that we
        wrote are ours again. For each the name that it got, or why it could not be written; an
        error that is raised says that none was."""
        with self._locked():
            adopting = Adopting(self._folder, self._records, self._history)
            return adopting.take(skills, project_slug)

    def patch(self, patch: PatchSkill, *, origin: str, session: str, rebase: bool = False) -> Skill:
        """Replace one unique passage of a body. Refused when the body is no longer the one with
        `base_hash` (the error holds the current text), unless `rebase` is set and the passage
        still occurs exactly once."""
        with self._locked():
            stored = self._ours(patch.name)
            body = stored.parsed.body
            fresh = self._reader.same_body(stored, patch.base_hash)
            if not fresh and not (rebase and len(occurrence_lines(body, patch.old)) == 1):
                raise LibraryError(
                    f"skill {patch.name!r} has changed since it was read "
                    f"(now {stored.skill.content_hash}). Its text is:\n{stored.skill.body}",
                    "Read it again and make the patch against this text.",
                )
            body = replace_once(body, patch.old, patch.new, patch.name)
            if not body.strip():
                raise LibraryError(f"the patch would leave {patch.name!r} without a text")
            why = "; ".join(claim.text for claim in patch.evidence)[:300]
            return self._writer.rewrite(stored, body, "patch", origin, why, session)

    def patch_by_user(self, patch: PatchSkill) -> Skill:
        """Replace one unique passage at the user's own command, in a file of theirs too: there the
        other bytes, front matter included, stay as they are, and the file stays theirs."""
        with self._locked():
            stored = self._stored(patch.name)
            why = "; ".join(claim.text for claim in patch.evidence)[:300]
            if stored.skill.ours and not stored.place.archived:
                body = replace_once(stored.parsed.body, patch.old, patch.new, patch.name)
                return self._writer.rewrite(stored, body, "patch", USER, why, "")
            text = stored.data.decode("utf-8", "surrogateescape")
            text = replace_once(text, patch.old, patch.new, patch.name)
            data = text.encode("utf-8", "surrogateescape")
            return self._writer.write_theirs(stored, data, "patch", why)

    def describe(
        self, name: str, description: str, *, base_hash: str, why: str, actor: str
    ) -> Skill:
        """Give a skill of ours another description; refused when it has changed since."""
        with self._locked():
            stored = self._ours(name)
            if not self._reader.same_body(stored, base_hash):
                raise LibraryError(
                    f"skill {name!r} has changed since it was read", "Read it again."
                )
            parsed = stored.parsed._replace(description=" ".join(description.split()))
            stored = replace(stored, parsed=parsed)
            return self._writer.rewrite(stored, parsed.body, "describe", actor, why, "")

    def add_evidence(self, name: str, *, session: str, promote: bool, why: str) -> Skill:
        """Count a session as evidence for a skill of ours; `promote` makes a candidate active.
        A session counts once, and none after `ENOUGH_SESSIONS`."""
        with self._locked():
            stored = self._ours(name)
            record = stored.known
            promoted = promote and record.state == "candidate"
            promoted = promoted and UNDECIDED not in stored.parsed.metadata
            counts = session not in record.sessions and len(record.sessions) < ENOUGH_SESSIONS
            if not counts and not promoted:
                return stored.skill
            if session and counts:
                record = replace(record, sessions=(*record.sessions, session))
            if promoted:
                record = replace(record, state="active")
            stored = replace(stored, record=record)
            return self._writer.rewrite(
                stored, stored.parsed.body, "evidence", "gate", why, session
            )

    def set_state(self, name: str, state: SkillState, *, why: str, actor: str) -> Skill:
        """Make a skill active or candidate (out of the archive, too), or archive it. On a file that
        is the user's only `actor="user"` may, and its bytes stay as they are."""
        with self._locked():
            stored = self._stored(name)
            if not stored.skill.ours and actor != USER:
                raise self._not_ours(name)
            if state == "active" and (one := stored.parsed.metadata.get(UNDECIDED)):
                raise LibraryError(
                    f"{name!r} shows two versions of the skill {one!r}, and is none by itself",
                    f"`skill-learner show {name}` tells how to take the one or the other.",
                )
            if state == "archived":
                return self._writer.archive(stored, actor, why)
            if stored.place.archived:
                stored = self._writer.restore(stored, actor, why)
            told = stored.skill.ours or actor != USER or self.is_approved(stored.skill)
            if stored.skill.state == state and told:
                return stored.skill
            if not stored.skill.ours:
                return self._writer.note_state(stored, state, actor, why)
            record = replace(stored.known, state=state)
            stored = replace(stored, record=record)
            return self._writer.rewrite(stored, stored.parsed.body, "state", actor, why, "")

    def change_scope(self, old: str, new: str) -> int:
        """Give all skills with one scope another, as after a project moved: the user's files and
        archived ones too. Returns how many there were."""
        with self._locked():
            moved, named = 0, set[str]()
            for place in self._places(archived=True):
                skill = self._usable(place)
                if skill is not None and skill.scope == old and place.name not in named:
                    self._give(self._reader.read(place), new)
                    moved += 1
                named.add(place.name)  # a record is of the library's skill, not of an archived one
            return moved

    def set_scope(self, name: str, scope: str) -> Skill:
        """Give a skill to a project (its key) or to the user. The bytes of a file that is the
        user's stay as they are: its scope is remembered beside it."""
        with self._locked():
            stored = self._stored(name)
            if stored.place.archived:
                raise LibraryError(f"skill {name!r} is archived", f"skill-learner approve {name}")
            return stored.skill if stored.known.scope == scope else self._give(stored, scope)

    def _give(self, stored: StoredSkill, scope: str) -> Skill:
        why = f"scope {stored.known.scope} became {scope}"
        if not stored.skill.ours or stored.place.archived:
            return self._writer.note_scope(stored, scope, USER, why)
        stored = replace(stored, record=replace(stored.known, scope=scope))
        return self._writer.rewrite(stored, stored.parsed.body, "scope", USER, why, "")

    def archive(self, name: str, *, why: str, actor: str) -> Skill:
        return self.set_state(name, "archived", why=why, actor=actor)

    def restore(self, name: str, *, why: str = "", actor: str = USER) -> Skill:
        """Bring a skill back from the archive, in the state that it had."""
        with self._locked():
            stored = self._stored(name)
            if not stored.place.archived:
                raise LibraryError(f"skill {name!r} is not in the archive")
            return self._writer.restore(stored, actor, why).skill

    def undo(
        self,
        name: str | None = None,
        to_version: int | None = None,
        *,
        actor: str = USER,
        overwrite_edits: bool = False,
    ) -> Skill:
        """Bring back the bytes of an earlier version, archived or not; without `to_version` the one
        before the current. Without a name, of the skill that changed last. Undoing a creation
        archives. Edits of the user's are overwritten only when asked, and kept in the history."""
        with self._locked():
            name = name or self.last_changed()
            stored = self._stored(name)
            entries = self._landed(name, stored.place)
            if not entries:
                raise LibraryError(f"skill {name!r} was never changed by us")
            last = entries[-1].change
            moved = stored.place.archived and last.action == "scope"  # its project was, meanwhile
            if to_version is None and (moved or last.action == "archive"):
                return self._writer.restore(stored, actor, UNDO).skill
            if to_version is None and last.action == "restore" and last.why != UNDO:
                return self._writer.archive(stored, actor, UNDO)
            target = undo_target(entries, to_version, name)
            if target is None:
                return self._writer.archive(stored, actor, UNDO)
            if not stored.skill.ours and not overwrite_edits:
                raise self._not_ours(name)
            return self._writer.bring_back(stored, target, actor)

    # -- small questions -------------------------------------------------------------------------

    @contextlib.contextmanager
    def _locked(self) -> Iterator[None]:
        try:
            with library_lock(self.skills_dir, self._lock_timeout):
                yield
        except OSError as error:
            raise LibraryError(f"the library could not be written: {error}") from error

    def _stored(self, name: str) -> StoredSkill:
        place = self._folder.find(name)
        if place is None:
            known = [place.name for place in self._places(archived=True)]
            import difflib

            near = difflib.get_close_matches(name, known, n=3)
            hint = "Did you mean " + ", ".join(near) + "?" if near else "See `skill-learner list`."
            raise LibraryError(f"there is no skill {name!r}", hint)
        return self._reader.read(place)

    def _ours(self, name: str) -> StoredSkill:
        stored = self._stored(name)
        if not stored.skill.ours:
            raise self._not_ours(name)
        if stored.place.archived:
            raise LibraryError(f"skill {name!r} is archived", f"skill-learner approve {name}")
        return stored

    def _not_ours(self, name: str) -> LibraryError:
        return LibraryError(
            f"skill {name!r} was written or edited by the user and is not touched",
            "Edit the file by hand.",
        )

    def _usable(self, place: Place) -> Skill | None:
        try:
            return self._reader.read(place).skill
        except SkillLearnerError:
            return None

    def _landed(self, name: str, place: Place | None) -> Entries:
        disk = content_hash(place.file.read_bytes()) if place is not None else ""
        return self._history.landed(name, disk, archived=place is not None and place.archived)


def _says_approved(record: SkillRecord | None, digest: str) -> bool:
    return record is not None and record.noted_hash == digest and record.noted_state == "active"


def _in_days(days: int) -> str:
    return (datetime.now(timezone.utc) + timedelta(days=days)).date().isoformat()
