"""Joins a transcript whose tool calls have no ids to the journal of the same session, by order.

What both tell stands in the same order in both, so the longest run of equal prompts and calls ties
them together. The journal has the results; the transcript has the prose, and what came before the
hooks were there.
"""

from __future__ import annotations

import json
from dataclasses import replace
from difflib import SequenceMatcher

from skill_learner.journal_session import JournalSession
from skill_learner.models import Session, Step
from skill_learner.transcripts.steps import UNNAMED_CALL


def is_without_call_ids(session: Session) -> bool:
    calls = [step.call.call_id for step in session.steps if step.call and step.call.call_id]
    return bool(calls) and all(call_id.startswith(UNNAMED_CALL) for call_id in calls)


def joined_by_order(written: Session, told: JournalSession, reviewed_to: int) -> Session:
    """The session with every step of either once. reviewed_to: see `load_session`."""
    journal = told.session
    steps: list[Step] = []
    first_new = 1
    for step, is_told in _merged(written.steps, journal.steps):
        steps.append(replace(step, number=len(steps) + 1))
        if is_told and told.end_of(step) <= reviewed_to:
            first_new = len(steps) + 1
    return replace(
        journal,
        steps=tuple(steps),
        first_new_step=first_new,
        turn_end=journal.turn_end if written.turn_end == "open" else written.turn_end,
        loaded_skills=journal.loaded_skills | written.loaded_skills,
        parent=written.parent or journal.parent,
        damaged=written.damaged + journal.damaged,
    )


def _merged(written: tuple[Step, ...], told: tuple[Step, ...]) -> list[tuple[Step, bool]]:
    """Each step, and whether it is the journal's."""
    matcher = SequenceMatcher(
        None, [_key(step) for step in written], [_key(step) for step in told], autojunk=False
    )
    merged: list[tuple[Step, bool]] = []
    at_written = at_told = 0
    for block in matcher.get_matching_blocks():
        merged += [(step, False) for step in written[at_written : block.a]]
        merged += [(step, True) for step in told[at_told : block.b + block.size]]
        at_written, at_told = block.a + block.size, block.b + block.size
    return merged


def _key(step: Step) -> str:
    if step.call is None or step.kind != "tool":
        return f"{step.kind} {' '.join(step.text.split())}"
    call = step.call
    told = call.input.get("command") or call.input.get("file_path")
    if not isinstance(told, str):
        told = json.dumps(call.input, sort_keys=True, default=str)
    return f"tool {call.name} {told}"
