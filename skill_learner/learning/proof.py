"""What a session proves, letter by letter: results, commands that ran, and the human's words.

Assistant prose, summaries, plans and reports of sub-agents are claims and prove nothing. Text that
the session itself wrote proves only that it was written: it counts when a later command passed
(tested) and no later edit took it away (superseded); reading it back adds nothing (laundered).
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from skill_learner.learning.commands import command_of, is_work, parts_of
from skill_learner.learning.results import passed
from skill_learner.models import Session, Step

Standing = Literal["proved", "superseded", "untested", "absent"]

EDIT_TOOLS = frozenset({"edit", "write", "multiedit", "notebookedit", "apply_patch", "str_replace"})
_CLAIM_TOOLS = frozenset({"task", "agent", "todowrite", "exitplanmode", "askuserquestion", "skill"})
_RAN = frozenset({"ok", "suspect", "failed"})
_ECHO_COMMANDS = re.compile(
    r"^\s*(?:git (?:--no-pager )?(?:diff|show|log)|cat|head|tail|sed -n|bat)\b"
)

_LINE_NUMBER = re.compile(r"^\s*\d+(?:→|\t)", re.MULTILINE)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "`": "'", "–": "-",
                         "—": "-", "\\": "/", "\u00a0": " "})  # fmt: skip
_SPACE = re.compile(r"\s+")
_WILD = re.compile(r"<[^<>\n]{1,60}>|\[[a-z][a-z -]{1,20}\]|…|\.\.\.")


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
    """The session's texts, normalised. strong: results, commands, human words. echo: what merely
    shows files that the session had changed before. last_pass: step of the last command that
    passed and did more than look around."""

    strong: str = ""
    echo: str = ""
    edits: list[Edit] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)

    def standing(self, span: str) -> Standing:
        """What the session says about a span of code or a line of a fenced block."""
        pattern = _pattern(span)
        if pattern is None or pattern.search(self.strong):
            return "proved"
        writers = [edit for edit in self.edits if pattern.search(edit.new)]
        if writers:
            return self._written(pattern, writers)
        return "proved" if pattern.search(self.echo) else "absent"

    def _written(self, pattern: re.Pattern[str], writers: list[Edit]) -> Standing:
        standing: Standing = "superseded"
        for edit in writers:
            if any(_takes_away(later, edit, pattern) for later in self.edits):
                continue
            if any(step > edit.step for step in self.passes):
                return "proved"
            standing = "untested"
        return standing


def _takes_away(later: Edit, edit: Edit, pattern: re.Pattern[str]) -> bool:
    if later.step <= edit.step or later.file != edit.file or pattern.search(later.new):
        return False
    return later.whole or pattern.search(later.old) is not None


def collect(session: Session) -> ProofTexts:
    """All that can prove a span, from one session."""
    texts = ProofTexts()
    strong: list[str] = []
    echo: list[str] = []
    changed: set[str] = set()
    for step in session.steps:
        _collect_step(step, texts, strong, echo, changed)
        if session.answers_count and step.kind == "assistant":
            strong.append(step.text)
    texts.strong = "\n".join(normalise(part) for part in strong if part)
    texts.echo = "\n".join(normalise(part) for part in echo if part)
    return texts


def _collect_step(
    step: Step, texts: ProofTexts, strong: list[str], echo: list[str], changed: set[str]
) -> None:
    call = step.call
    if step.kind in {"human", "human_shell"}:
        strong.append(step.text)
        strong.append((call.result or "") if call else "")
        return
    if call is None or call.name.lower() in _CLAIM_TOOLS:
        if call is not None and call.status == "rejected":
            strong.append(step.text)
        return
    if call.status not in _RAN:
        strong.append(step.text)
        return
    line = command_of(call)
    if call.name.lower() in EDIT_TOOLS:
        if call.status != "failed":
            edits = _edits(step.number, call.input)
            strong.extend(edit.file for edit in edits)
            texts.edits.extend(edits)
            changed.update(edit.file for edit in edits)
        else:
            strong.append(call.result or "")
        return
    strong.extend([line] if line else _strings(call.input))
    path = str(call.input.get("file_path") or "")
    shows_files = path in changed or any(_ECHO_COMMANDS.match(p.text) for p in parts_of(line))
    (echo if changed and shows_files else strong).append(call.result or "")
    if line and is_work(line) and passed(call, line):
        texts.passes.append(step.number)


def _edits(number: int, data: Mapping[str, Any]) -> list[Edit]:
    file = str(data.get("file_path") or data.get("notebook_path") or "")
    pairs = data.get("edits")
    found: list[Edit] = []
    for pair in pairs if isinstance(pairs, list) else [data]:
        if isinstance(pair, Mapping):
            whole = "content" in pair and "old_string" not in pair
            new = pair.get("content") if whole else pair.get("new_string", pair.get("new_source"))
            old = str(pair.get("old_string") or "")
            found.append(Edit(number, file, normalise(old), normalise(str(new or "")), whole))
    return found


def _strings(data: Mapping[str, Any]) -> Iterable[str]:
    for value in data.values():
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            yield from (item for item in value if isinstance(item, str))


def normalise(text: str) -> str:
    """White space folded, line numbers of file views dropped, quotes, dashes and separators made
    plain."""
    plain = _LINE_NUMBER.sub("", text).translate(_QUOTES)
    return _SPACE.sub(" ", re.sub(r"/+", "/", plain)).strip()


def _pattern(span: str) -> re.Pattern[str] | None:
    """A search for a span, placeholders and ellipses standing for anything short; None when
    nothing is left to be proved."""
    pieces = [normalise(piece) for piece in _WILD.split(span)]
    if not any(re.search(r"\w", piece) for piece in pieces):
        return None
    return re.compile(r".{0,200}?".join(re.escape(piece) for piece in pieces if piece))
