"""One `Session` from what there is of it: the hooks' journal, the editor's transcript, or both.

The transcript tells more (failures that fire no hook, prose), so it is the base; the journal fills
what is missing there, says what is new since the last review, and is enough by itself.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace
from pathlib import Path

from skill_learner.errors import TranscriptError
from skill_learner.hook_runtime.project_key import locate
from skill_learner.journal import read_journal
from skill_learner.journal_session import JournalSession, session_from_journal
from skill_learner.models import Session, Step, ToolCall, TurnEnd
from skill_learner.session_by_order import is_without_call_ids, joined_by_order
from skill_learner.transcripts import read_transcript
from skill_learner.transcripts.results import EDIT_TOOLS, changed_files


def load_session(
    journal: Path | None, transcript: Path | None = None, *, reviewed_to: int = 0
) -> Session:
    """Read a session from its journal, its transcript, or both.

    transcript: None takes the one that the journal names. A transcript that is missing, broken or
    of an unknown format is no obstacle where the journal tells something, nor the other way round;
    TranscriptError is raised when neither does.
    reviewed_to: journal offset that a completed review has seen, which becomes first_new_step.
    """
    told = session_from_journal(read_journal(journal), journal) if journal else None
    path = transcript or (Path(told.transcript) if told and told.transcript else None)
    written: Session | None = None
    problem = TranscriptError(f"{journal or 'session'}: no event and no transcript to learn from")
    if path is not None:
        try:
            written = read_transcript(path)
        except TranscriptError as error:
            problem = error
    if told is None and written is None:
        raise problem
    if told is None or (written is not None and not told.session.steps):
        assert written is not None
        return _placed(written, told.project if told else "")
    if written is not None and is_without_call_ids(written):
        return _placed(joined_by_order(written, told, reviewed_to), told.project)
    if written is None or _calls(written) < _calls(told.session):
        first_new = _first_new_told(told, reviewed_to)
        base = replace(told.session, first_new_step=first_new)
        return _placed(base if written is None else _with_origin(base, written), told.project)
    return _placed(_Merge(written, told).session(reviewed_to), told.project)


@dataclass(frozen=True)
class _Merge:
    """A transcript completed by a journal of the same session."""

    written: Session
    told: JournalSession

    def session(self, reviewed_to: int) -> Session:
        told = self.told.session
        calls = {s.call.call_id: s.call for s in told.steps if s.kind == "tool" and s.call}
        return replace(
            self.written,
            id=told.id or self.written.id,
            steps=tuple(_filled(step, calls) for step in self.written.steps),
            turn_end=_turn_end(self.written.turn_end, told.turn_end),
            first_new_step=max(self.written.first_new_step, self._first_new(reviewed_to)),
            loaded_skills=self.written.loaded_skills | told.loaded_skills,
            parent=self.written.parent or told.parent,
            damaged=self.written.damaged + told.damaged,
        )

    def _first_new(self, reviewed_to: int) -> int:
        """The step behind the last reviewed one. Journal steps are found again in the transcript by
        their call's id, words by their text behind the step found before."""
        if reviewed_to <= 0:
            return 1
        by_call = {
            s.call.call_id: s.number for s in self.written.steps if s.call and s.call.call_id
        }
        found = 0
        for step in self.told.session.steps:
            new = self.told.end_of(step) > reviewed_to
            if new and found:
                break
            at = by_call.get(step.call.call_id, 0) if step.call else self._same_words(step, found)
            if new and at:
                return at
            found = max(found, at)
        return found + 1

    def _same_words(self, step: Step, behind: int) -> int:
        for candidate in self.written.steps[behind:]:
            if candidate.kind == step.kind and candidate.text == step.text:
                return candidate.number
        return 0


def _filled(step: Step, told: dict[str, ToolCall]) -> Step:
    call = step.call
    if step.kind != "tool" or call is None or call.call_id not in told:
        return step
    known = told[call.call_id]
    if call.result is None and known.result is not None:
        call = replace(known, input=call.input or known.input, changed_files=known.changed_files)
    elif not call.changed_files and known.changed_files:
        call = replace(call, changed_files=known.changed_files)
    return replace(step, call=call)


def _turn_end(written: TurnEnd, told: TurnEnd) -> TurnEnd:
    """The transcript's word, unless the journal knows how an open turn ended."""
    return told if told == "api_error" or written == "open" else written


def _with_origin(told: Session, written: Session) -> Session:
    return replace(
        told,
        parent=written.parent or told.parent,
        loaded_skills=told.loaded_skills | written.loaded_skills,
        damaged=told.damaged + written.damaged,
    )


def _first_new_told(told: JournalSession, reviewed_to: int) -> int:
    return 1 + sum(told.end_of(step) <= reviewed_to for step in told.session.steps)


def _calls(session: Session) -> int:
    return sum(step.kind == "tool" for step in session.steps)


def _placed(session: Session, project: str) -> Session:
    """The session with the main worktree as its project, and changed files relative to the worktree
    that it ran in, which may be another one."""
    started_in = session.project
    top = started_in
    if started_in and os.path.isdir(started_in):
        top, main = map(os.fsdecode, locate(os.fsencode(started_in)))
        project = project or main
    elif project and _inside(started_in, project):
        top = project
    project = project or started_in
    steps = session.steps
    if top != started_in:
        steps = tuple(_relative_to(step, top) for step in steps)
    return replace(session, project=project, steps=steps)


def _inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/\\") + os.sep)


def _relative_to(step: Step, top: str) -> Step:
    call = step.call
    if call is None or not call.changed_files or call.name not in EDIT_TOOLS:
        return step
    files = changed_files(call.name, call.input, None, top)
    return replace(step, call=replace(call, changed_files=files or call.changed_files))
