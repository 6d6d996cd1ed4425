"""What a session proves, letter by letter: results, commands that ran, and the human's words.

Assistant prose, summaries, plans, commit messages and reports of sub-agents are claims and prove
nothing. Text that the session itself wrote proves only that it was written: it counts when a later
command passed (tested) and no later edit took it away (superseded); reading it back adds nothing
(laundered). A command that only ever was refused by its own program proves that it is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skill_learner.learning.authored import (
    messages,
    without_echoes,
    without_messages,
    written_files,
)
from skill_learner.learning.commands import command_of, goal, is_work, parts_of, work_parts
from skill_learner.learning.results import misused, passed
from skill_learner.learning.spans import WILD, normalise, span_pattern
from skill_learner.models import Session, Step, ToolCall

Standing = Literal["proved", "superseded", "untested", "only failed", "absent"]

EDIT_TOOLS = frozenset({"edit", "write", "multiedit", "notebookedit", "apply_patch", "str_replace"})
_CLAIM_TOOLS = frozenset({"task", "agent", "todowrite", "exitplanmode", "skill"})
_RAN = frozenset({"ok", "suspect", "failed"})
_ECHO_COMMANDS = re.compile(
    r"^\s*(?:git (?:--no-pager )?(?:diff|show|log)|cat|head|tail|sed -n|bat)\b"
)
_LOOKING = frozenset({"read", "grep", "glob", "ls", "notebookread"})
_NO_TEST = frozenset("git gh mv cp mkdir rm touch chmod ln Remove-Item Move-Item".lower().split())
_PLAN_FILE = re.compile(r"[\\/]\.claude[\\/](?:plans|projects|todos)[\\/]")
_ANSWER = re.compile(r"\"=\"([^\"]*)\"")

_IDENTIFIER = re.compile(r"[A-Za-z_$][\w$-]{5,}")
_INSTEAD = re.compile(
    r"(?:instead of|rather than|in place of|statt|anstatt|anstelle von|au lieu de|plutôt que"
    r"|en lugar de|en vez de|em vez de|invece di|in plaats van|zamiast|вместо|yerine)"
    r"\s+[`'\"“]?([\w@/.-]+[-_./][\w@/.-]*\w)",
    re.IGNORECASE,
)


@dataclass(frozen=True)
class Edit:
    """One successful edit: its step, file, the text it took away and the text it wrote."""

    step: int
    file: str
    old: str
    new: str
    whole: bool


@dataclass
class ProofTexts:
    """The session's texts, normalised.

    strong: results, commands, human words. steps: the same by step number. echo: what merely shows
    files that the session had changed before. misused: commands that their program refused. claims:
    prose of the agent. passes: (step, file) of checks that passed; file is "" when they concern
    all. replaced: names that the human took back. acts: commands, and what the human said.
    looks: steps that merely looked at files: they show what a file says, not why.
    """

    strong: str = ""
    echo: str = ""
    misused: str = ""
    acts: str = ""
    steps: dict[int, str] = field(default_factory=dict)
    looks: set[int] = field(default_factory=set)
    claims: list[str] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)
    passes: list[tuple[int, str]] = field(default_factory=list)
    replaced: frozenset[str] = frozenset()

    def standing(self, span: str) -> Standing:
        """What the session says about a span of code or a line of a fenced block."""
        pattern = span_pattern(span)
        if pattern is None:
            return "proved"
        return "superseded" if self._taken_back(span) else self._found(span, pattern)

    def _found(self, span: str, pattern: re.Pattern[str]) -> Standing:
        if pattern.search(self.strong):
            return "proved"
        if pattern.search(self.misused):
            return "only failed"
        writers = [edit for edit in self.edits if pattern.search(edit.new)]
        if writers and WILD.search(span) and self._shown_by_others(pattern):
            return "proved"
        if writers:
            return self._written(pattern, writers)
        return "proved" if pattern.search(self.echo) else "absent"

    def _shown_by_others(self, pattern: re.Pattern[str]) -> bool:
        """Whether a view of changed files holds text of this shape that no edit wrote."""
        found = (match.group() for match in pattern.finditer(self.echo))
        return any(all(text not in edit.new for edit in self.edits) for text in found)

    def _written(self, pattern: re.Pattern[str], writers: list[Edit]) -> Standing:
        standing: Standing = "superseded"
        for edit in writers:
            if any(_takes_away(later, edit, pattern) for later in self.edits):
                continue
            if self.tested(edit):
                return "proved"
            standing = "untested"
        return standing

    def tested(self, edit: Edit) -> bool:
        """Whether a check passed after an edit."""
        return any(
            step > edit.step and (not file or edit.file.endswith(file))
            for step, file in self.passes
        )

    def _taken_back(self, span: str) -> bool:
        """True for a span with a name that the human replaced, or that the session brought in by an
        edit and took out again, whatever ran in between."""
        names = set(_IDENTIFIER.findall(span))
        if any(re.search(rf"(?<![\w-]){re.escape(one)}(?![\w-])", span) for one in self.replaced):
            return True
        return any(self._is_gone(name) for name in names)

    def _is_gone(self, name: str) -> bool:
        pattern = re.compile(rf"(?<![\w$-]){re.escape(name)}(?![\w$-])")
        writers = [edit for edit in self.edits if name in edit.new and pattern.search(edit.new)]
        if not writers or pattern.search(writers[0].old):
            return False
        first = writers[0].step
        earlier = (text for number, text in self.steps.items() if number < first)
        if any(name in text and pattern.search(text) for text in earlier):
            return False
        return all(
            any(_takes_away(later, edit, pattern) for later in self.edits) for edit in writers
        )


def _takes_away(later: Edit, edit: Edit, pattern: re.Pattern[str]) -> bool:
    if later.step <= edit.step or later.file != edit.file or pattern.search(later.new):
        return False
    return later.whole or pattern.search(later.old) is not None


def collect(session: Session) -> ProofTexts:
    """All that can prove a span, from one session."""
    collector = _Collector(session)
    for step in session.steps:
        collector.add(step)
    return collector.finished()


class _Collector:
    def __init__(self, session: Session) -> None:
        self._texts = ProofTexts()
        self._answers_count = session.answers_count
        self._strong: list[str] = []
        self._echo: list[str] = []
        self._misused: list[str] = []
        self._changed: set[str] = set()
        self._replaced: dict[str, int] = {}
        self._spoken: list[str] = []
        self._acts: list[str] = []

    def add(self, step: Step) -> None:
        before = len(self._strong)
        call = step.call
        if step.kind in {"human", "human_shell"}:
            self._human(step.text)
            self._strong.append((call.result or "") if call else "")
        elif step.kind in {"assistant", "summary", "plan"}:
            self._prose(step)
        elif call is None or call.name.lower() in _CLAIM_TOOLS or call.status not in _RAN:
            self._human(step.text if call and call.status == "rejected" else "")
            if step.kind == "notice" and call is None:
                self._texts.claims.append(normalise(step.text))
        elif call.name.lower() == "askuserquestion":
            for answer in _ANSWER.findall(call.result or ""):
                self._human(answer)
        elif call.name.lower() in EDIT_TOOLS:
            self._edit(step, call)
        else:
            self._tool(step, call)
        own = "\n".join(
            part for part in (*self._strong[before:], without_messages(command_of(call))) if part
        )
        if own:
            self._texts.steps[step.number] = normalise(own)

    def finished(self) -> ProofTexts:
        texts = self._texts
        texts.strong = "\n".join(normalise(part) for part in self._strong if part)
        texts.echo = "\n".join(normalise(part) for part in self._echo if part)
        texts.misused = "\n".join(normalise(part) for part in self._misused if part)
        texts.acts = "\n".join(normalise(part) for part in (*self._acts, *self._spoken))
        later = {name: "\n".join(self._spoken[at:]) for name, at in self._replaced.items()}
        texts.replaced = frozenset(name for name, rest in later.items() if name not in rest)
        return texts

    def _human(self, text: str) -> None:
        if not text:
            return
        self._strong.append(text)
        self._spoken.append(text)
        for name in _INSTEAD.findall(text):
            self._replaced[name] = len(self._spoken)

    def _prose(self, step: Step) -> None:
        self._texts.claims.append(normalise(step.text))
        if self._answers_count and step.kind == "assistant":
            self._strong.append(step.text)

    def _edit(self, step: Step, call: ToolCall) -> None:
        if call.status == "failed":
            self._strong.append(call.result or "")
            return
        edits = list(_edits(step.number, call.input))
        if any(_PLAN_FILE.search(edit.file) for edit in edits):
            self._texts.claims.extend(edit.new for edit in edits)
        self._strong.extend(edit.file for edit in edits)
        self._keep(edits)

    def _keep(self, edits: list[Edit]) -> None:
        self._texts.edits.extend(edits)
        self._changed.update(edit.file for edit in edits)

    def _tool(self, step: Step, call: ToolCall) -> None:
        line = command_of(call)
        result = call.result or ""
        self._keep([
            Edit(step.number, file, "", normalise(text), True) for file, text in written_files(line)
        ])  # fmt: skip
        if line:
            said = messages(line)
            self._texts.claims.extend([normalise(said)] if said else [])
            bare = without_messages(line)
            (self._misused if misused(call) else self._strong).append(bare)
            if is_work(bare):
                self._acts.append(bare)
            result = without_echoes(line, result)
        else:
            self._strong.extend(_strings(call.input))
        if call.name.lower() in _LOOKING or (line and not is_work(line)):
            self._texts.looks.add(step.number)
        path = str(call.input.get("file_path") or "")
        shows = path in self._changed or any(_ECHO_COMMANDS.match(p.text) for p in parts_of(line))
        (self._echo if self._changed and shows else self._strong).append(result)
        self._note_pass(step, call, line)

    def _note_pass(self, step: Step, call: ToolCall, line: str) -> None:
        if line and passed(call, line):
            if any(goal(part).split(" ")[0] not in _NO_TEST for part in work_parts(line)):
                self._texts.passes.append((step.number, ""))
        elif "diagnostic" in call.name.lower() and re.search(
            r"\"diagnostics\":\s*\[\s*\]", call.result or ""
        ):
            file = str(call.input.get("uri") or "").removeprefix("file://")
            self._texts.passes.append((step.number, re.split(r"[\\/]", file)[-1]))


def _edits(number: int, data: Mapping[str, Any]) -> Iterator[Edit]:
    file = str(data.get("file_path") or data.get("notebook_path") or "")
    pairs = data.get("edits")
    for pair in pairs if isinstance(pairs, list) else [data]:
        if isinstance(pair, Mapping):
            whole = "content" in pair and "old_string" not in pair
            new = pair.get("content") if whole else pair.get("new_string", pair.get("new_source"))
            old = str(pair.get("old_string") or "")
            own = str(pair.get("file_path") or file)
            yield Edit(number, own, normalise(old), normalise(str(new or "")), whole)


def _strings(data: Mapping[str, Any]) -> Iterator[str]:
    for value in data.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))
