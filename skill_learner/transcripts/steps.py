"""Builds a `Session` step by step from what a transcript or a journal tells."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from skill_learner.models import Session, Step, StepKind, ToolCall, TurnEnd
from skill_learner.transcripts.prompts import Prompt, classify_prompt
from skill_learner.transcripts.results import (
    changed_files,
    rejection_words,
    result_status,
    runs_in_background,
)
from skill_learner.transcripts.skill_loads import loaded_skill_names
from skill_learner.transcripts.tool_names import canonical_call

UNNAMED_CALL = "order:"
"""How ids begin that readers give to calls of formats without ids."""


class Place(NamedTuple):
    """Where a step comes from: its line (which also orders the steps), id and time."""

    line: int
    uuid: str = ""
    at: str = ""


@dataclass
class Draft:
    """A step that may still grow: an answer's next block, a call's result."""

    place: Place
    kind: StepKind
    text: str
    call: ToolCall | None = None
    message_id: str = ""


class ToolResult(NamedTuple):
    """is_error: None when the editor did not say. extra: its structured result."""

    text: str
    is_error: bool | None
    extra: Any = None


class SessionBuilder:
    """Collects steps in the order of their lines; `build` numbers them.

    source: what stands before the line number in `Step.source`.
    project: folder that changed files are given relative to; may become known late.
    turn_end: how the last turn stands so far; the reader may set it.
    """

    def __init__(self, source: str, project: str = "") -> None:
        self.source = source
        self.project = project
        self.turn_end: TurnEnd = "complete"
        self.drafts: list[Draft] = []
        self.loaded: set[str] = set()
        self._calls: dict[str, Draft] = {}
        self._notices: set[str] = set()

    # -- words ---------------------------------------------------------------------------------

    def add(self, kind: StepKind, text: str, place: Place, message_id: str = "") -> Draft:
        draft = Draft(place, kind, text, None, message_id)
        self.drafts.append(draft)
        return draft

    def add_prompt(self, raw: str, place: Place) -> Prompt:
        """Add what a text in the user's place stands for; tells what that was."""
        prompt = classify_prompt(raw)
        if prompt.kind in ("human", "plan"):
            self.add("plan" if prompt.kind == "plan" else "human", prompt.text, place)
            self.turn_end = "open"
        elif prompt.kind == "summary":
            self.add("summary", prompt.text, place)
        elif prompt.kind == "human_shell":
            self._add_shell_command(prompt.text, place)
        elif prompt.kind == "shell_output":
            self._add_shell_output(prompt.text)
        elif prompt.kind == "notice":
            self._add_notice(prompt, place)
        elif prompt.kind == "skill":
            self.loaded.add(prompt.text)
        elif prompt.kind == "interrupted":
            self.interrupt()
        return prompt

    def add_answer(self, text: str, place: Place, message_id: str) -> None:
        """Add a block of the model's prose; blocks of one message become one step."""
        last = self.drafts[-1] if self.drafts else None
        joins = last is not None and last.kind == "assistant" and last.message_id == message_id
        if last is not None and joins and message_id:
            if text not in last.text:
                last.text = f"{last.text}\n{text}"
        else:
            self.add("assistant", text, place, message_id)

    def _add_shell_command(self, command: str, place: Place) -> None:
        draft = self.add("human_shell", command, place)
        draft.call = ToolCall("", "Bash", {"command": command}, None, "pending")

    def _add_shell_output(self, output: str) -> None:
        for draft in reversed(self.drafts[-3:]):
            call = draft.call
            if draft.kind == "human_shell" and call is not None and call.result is None:
                status = result_status("Bash", call.input, output, None, None)
                draft.call = replace(call, result=output, status=status)
                return

    def _add_notice(self, prompt: Prompt, place: Place) -> None:
        key = f"{prompt.task_call}\n{prompt.text}"
        if key in self._notices:
            return
        self._notices.add(key)
        draft = self.add("notice", prompt.text, place)
        self.turn_end = "open"
        started = self._calls.get(prompt.task_call)
        if started is not None and started.call is not None:
            status = "interrupted" if prompt.failed is None else "failed" if prompt.failed else "ok"
            draft.call = replace(
                started.call,
                result=prompt.text,
                status=status,  # type: ignore[arg-type]  # mypy widens the conditional to str
                background=True,
                changed_files=(),
            )

    # -- calls ---------------------------------------------------------------------------------

    def add_call(self, call_id: str, name: str, tool_input: Any, place: Place) -> None:
        decoded = tool_input if isinstance(tool_input, Mapping) else {"input": tool_input}
        name, decoded = canonical_call(name, decoded, self.project)
        known = self._calls.get(call_id)
        if known is not None and known.call is not None:
            same = known.call.name == name and known.call.input == decoded
            if same or known.call.status == "pending":
                return
        draft = Draft(place, "tool", "", ToolCall(call_id, name, decoded, None, "pending"))
        self.drafts.append(draft)
        self._calls[call_id] = draft
        self.turn_end = "open"

    def add_result(self, call_id: str, result: ToolResult) -> None:
        """Complete the call; a second result and one for an unknown call are ignored."""
        draft = self._calls.get(call_id)
        if draft is None or draft.call is None or draft.call.result is not None:
            return
        call = draft.call
        status = result_status(call.name, call.input, result.text, result.is_error, result.extra)
        succeeded = status in ("ok", "suspect")
        draft.call = replace(
            call,
            result=result.text,
            status=status,
            background=runs_in_background(call.input, result.text, result.extra),
            changed_files=changed_files(call.name, call.input, result.extra, self.project)
            if succeeded
            else (),
        )
        self.turn_end = "open"
        if status == "rejected":
            draft.text = rejection_words(result.text)
            self.turn_end = "open" if draft.text else "interrupted"
        if succeeded:
            self.loaded.update(loaded_skill_names(call.name, call.input, result.extra))

    def interrupt(self) -> None:
        """The human stopped the turn: what was running has no result to wait for."""
        self.turn_end = "interrupted"
        for draft in reversed(self.drafts):
            if draft.kind in ("human", "plan"):
                break
            if draft.call is not None and draft.call.status == "pending":
                draft.call = replace(draft.call, status="interrupted")

    # -- the whole -----------------------------------------------------------------------------

    def numbered_drafts(self) -> list[Draft]:
        """The drafts in the order of the steps that `build` makes of them."""
        return sorted(self.drafts, key=lambda draft: draft.place.line)

    def build(self, session_id: str, editor: str, **facts: Any) -> Session:
        """facts: further fields of the Session."""
        steps = tuple(
            Step(
                number,
                draft.kind,
                draft.text,
                draft.call,
                f"{self.source}:{draft.place.line}",
                draft.place.uuid,
                draft.place.at,
            )
            for number, draft in enumerate(self.numbered_drafts(), 1)
        )
        facts.setdefault("turn_end", self.turn_end)
        return Session(
            session_id, editor, self.project, steps, loaded_skills=frozenset(self.loaded), **facts
        )
