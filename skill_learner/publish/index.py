"""The index of skills as text: a line each, most useful first, within a budget of tokens."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence

from skill_learner.install.index_text import render_index
from skill_learner.install.markdown_block import neutralised
from skill_learner.models import Skill

CHARACTERS_PER_TOKEN = 4
_LONGEST_LINE = 200
_SENTENCE_END = re.compile(r"(?<=[.!?])\s|(?<=[\u3002\uff01\uff1f\u0964])")


def build_index(
    skills: Sequence[Skill], token_budget: int, listed: Collection[str] | None = None
) -> str:
    """The Markdown index of `skills`, in the order given, for as many as the budget allows.

    Names and descriptions are data: whatever they hold, they cannot end the block, import a file,
    or open markup. What is left out is counted, with the way to find it. listed: names of those
    that the editor can load; the others' lines say how to read them (None: all can be loaded).
    """
    room = token_budget * CHARACTERS_PER_TOKEN
    lines = []
    size = -1
    for skill in skills:
        line = _line(skill, listed is None or skill.name in listed)
        size += len(line) + 1
        if size > room:  # the lines alone: no more of them need be tried
            break
        lines.append(line)
    for count in range(len(lines), 0, -1):
        text = render_index(lines[:count], _more(len(skills) - count))
        if len(text) <= room:
            return text
    return render_index((), _more(len(skills))) if skills else render_index(())


def shown_count(skills: Sequence[Skill], token_budget: int) -> int:
    """How many of `skills` the index shows."""
    text = build_index(skills, token_budget)
    return sum(line.startswith("- ") for line in text.split("\n")) if skills else 0


def _line(skill: Skill, listed: bool) -> str:
    description = " ".join(skill.description.split())
    sentence = _SENTENCE_END.split(description, maxsplit=1)[0]
    if len(sentence) > _LONGEST_LINE:
        sentence = sentence[: _LONGEST_LINE - 1].rstrip() + "\u2026"
    how = "" if listed else f" (`skill-learner show {neutralised(skill.name)}`)"
    return f"- {neutralised(skill.name)}: {neutralised(sentence)}{how}"


def _more(left_out: int) -> str:
    search = '`skill-learner search "what you are looking for"`'
    return f"{left_out} more, found by {search}." if left_out else f"More: {search}."
