"""A session as text for a reviewer: numbered steps, redacted, within a token budget.

Steps are turned into parts (`digest_steps`), each is cleaned, redacted and made data once
(`digest_text`), repeats are told by the number of the step that has them, and then the ceilings of
all parts are scaled together until the whole fits. Deterministic.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from skill_learner.learning.digest_steps import CEILINGS, Part, Sort, parts_of
from skill_learner.learning.digest_text import CUT_NOTE, as_data, cut, plain_text, relative_to
from skill_learner.learning.redaction import Redactor
from skill_learner.models import Digest, Session, Step

CHARS_PER_TOKEN = 4
_SMALLEST_SCALE = 0.02
_BISECTIONS = 14
_LONGEST_READ = 40_000
_SHORTEST_REPEAT = 160
_PASSAGE_LINES = 6
_OLD_STEPS_WEIGHT = 0.25
_HUMAN_SHARE = 0.6
_READABLE_RESULT = 400


def build_digest(
    session: Session, *, budget_tokens: int = 24_000, redactor: Redactor | None = None
) -> Digest:
    """The digest of `session`.

    The human's words stand in full (only when they alone fill most of the budget are the longest
    cut); everything else is cut head and tail, more the more there is. Steps before
    `session.first_new_step` are shown shorter. Where even that is too much, old steps without the
    human's words or an error are left out, which the text says. See `split_session` for sessions
    that deserve several digests.
    """
    redactor = redactor or Redactor()
    parts = _told_once(_redacted(_all_parts(session.steps), session, redactor))
    budget = budget_tokens * CHARS_PER_TOKEN
    layout = _Layout(tuple(parts), session.first_new_step, _human_ceiling(parts, budget))
    layout = layout.fitted(budget)
    text = layout.text()
    tokens = -(-len(text) // CHARS_PER_TOKEN)
    return Digest(text, tokens, frozenset(part.number for part in layout.parts))


def split_session(session: Session, *, budget_tokens: int = 24_000) -> tuple[Session, ...]:
    """`session` as it is, or cut into sessions of consecutive steps when one digest would leave
    less than about 400 characters of a long result.

    The cuts lie at compactions and at the human's prompts; step numbers stay. Parts that an earlier
    review covered whole are left out.
    """
    budget = budget_tokens * CHARS_PER_TOKEN
    tight = _READABLE_RESULT / CEILINGS["result"]
    sizes = {step.number: _estimate(step, tight) for step in session.steps}
    if sum(sizes.values()) <= budget:
        return (session,)
    groups: list[list[Step]] = [[]]
    filled = 0
    for chapter in _chapters(session.steps, sizes, budget):
        size = sum(_estimate(step, 3 * tight) for step in chapter)
        if groups[-1] and filled + size > budget:
            groups.append([])
            filled = 0
        groups[-1] += chapter
        filled += size
    return tuple(
        replace(session, steps=tuple(steps))
        for steps in groups
        if steps[-1].number >= session.first_new_step
    )


def _chapters(steps: Sequence[Step], sizes: dict[int, int], budget: int) -> Iterable[list[Step]]:
    """Runs of steps that begin with a prompt or a compaction; one that alone exceeds the budget is
    cut where it does."""
    chapter: list[Step] = []
    filled = 0
    for step in steps:
        begins = step.kind in ("human", "plan", "summary")
        if chapter and (begins or filled + sizes[step.number] > budget):
            yield chapter
            chapter, filled = [], 0
        chapter.append(step)
        filled += sizes[step.number]
    if chapter:
        yield chapter


def _estimate(step: Step, scale: float) -> int:
    size = 0
    for part in parts_of(step, {}):
        ceiling = CEILINGS.get(part.sort)
        shown = len(part.text) if ceiling is None else min(len(part.text), int(ceiling * scale))
        size += len(part.lead) + shown + CUT_NOTE
    return size


# -- parts ---------------------------------------------------------------------------------------


def _all_parts(steps: Sequence[Step]) -> list[Part]:
    started = {
        step.call.call_id: step.number
        for step in steps
        if step.kind == "tool" and step.call is not None and step.call.background
    }
    return [part for step in steps for part in parts_of(step, started)]


def _redacted(parts: list[Part], session: Session, redactor: Redactor) -> list[Part]:
    """The parts cleaned and redacted. What a later part gives away is taken out of earlier ones
    too, hence the second, cheap pass."""
    shorten = relative_to(session.project)
    done = []
    for part in parts:
        if part.sort == "human":
            text = plain_text(part.text, verbatim=True)
        else:
            text = shorten(plain_text(cut(part.text, _LONGEST_READ)))
        done.append(replace(part, text=redactor.redact(text)))
    return [
        part
        if (text := redactor.replace_known(part.text)) == part.text
        else replace(part, text=text)
        for part in done
    ]


def _told_once(parts: list[Part]) -> list[Part]:
    """The parts made data, repeated text replaced by the number of the step that has it."""
    seen: dict[str, int] = {}
    passages = _Passages()
    told = []
    for part in parts:
        text = part.text
        first = seen.setdefault(text, part.number) if len(text) >= _SHORTEST_REPEAT else part.number
        if part.sort == "human":
            passages.add(part.number, text)
        elif first != part.number:
            text = f"same as step {first}"
        elif part.sort in ("plan", "new", "call"):
            text = passages.without_repeats(part.number, text)
        told.append(replace(part, text=as_data(text)))
    return told


class _Passages:
    """Passages of long texts (plans, written files, prompts) that stood in an earlier step."""

    def __init__(self) -> None:
        self._known: dict[tuple[str, ...], tuple[int, int]] = {}
        self._texts: dict[int, list[str]] = {}

    def add(self, number: int, text: str) -> None:
        lines = [line.strip() for line in text.split("\n")]
        if len(lines) < _PASSAGE_LINES:
            return
        offset = len(self._texts.setdefault(number, []))
        self._texts[number] += lines
        for i in range(len(lines) - _PASSAGE_LINES + 1):
            passage = tuple(lines[i : i + _PASSAGE_LINES])
            self._known.setdefault(passage, (number, offset + i))

    def without_repeats(self, number: int, text: str) -> str:
        lines = text.split("\n")
        plain = [line.strip() for line in lines]
        kept: list[str] = []
        position = 0
        while position < len(lines):
            known = self._known.get(tuple(plain[position : position + _PASSAGE_LINES]))
            length = self._run(known, plain, position) if known and known[0] != number else 0
            if known and length:
                kept.append(f"…[{length} lines as in step {known[0]}]…")
                position += length
            else:
                kept.append(lines[position])
                position += 1
        self.add(number, text)
        return "\n".join(kept)

    def _run(self, known: tuple[int, int], plain: list[str], position: int) -> int:
        earlier, start = self._texts[known[0]], known[1]
        length = 0
        while (
            position + length < len(plain)
            and start + length < len(earlier)
            and plain[position + length] == earlier[start + length]
        ):
            length += 1
        return length if sum(map(len, plain[position : position + length])) >= 200 else 0


# -- fitting -------------------------------------------------------------------------------------


def _human_ceiling(parts: Sequence[Part], budget: int) -> int:
    """Most characters of one message of the human: no limit, unless all of them together would
    leave too little room for what happened."""
    lengths = sorted(len(part.text) for part in parts if part.sort == "human")
    room = int(budget * _HUMAN_SHARE)
    if sum(lengths) <= room:
        return max(lengths, default=0)
    for index, length in enumerate(lengths):
        share = room // (len(lengths) - index)
        if length + CUT_NOTE > share:
            return max(share - CUT_NOTE, 0)
        room -= length
    return lengths[-1]


@dataclass(frozen=True)
class _Layout:
    """How much of each part is shown."""

    parts: tuple[Part, ...]
    first_new_step: int
    human_ceiling: int
    scale: float = 1.0
    left_out: int = 0

    def ceiling(self, part: Part) -> int:
        if part.sort == "human":
            return self.human_ceiling
        weight = 1.0 if part.number >= self.first_new_step else _OLD_STEPS_WEIGHT
        return int(CEILINGS[part.sort] * self.scale * weight)

    def size(self) -> int:
        """At least the length of `text()`."""
        total = 2 * CUT_NOTE
        for part in self.parts:
            ceiling = self.ceiling(part)
            length = len(part.text)
            total += len(part.lead) + 1
            total += length if length <= ceiling + CUT_NOTE else ceiling + CUT_NOTE
        return total

    def fitted(self, budget: int) -> _Layout:
        """The layout scaled down just so far that it fits."""
        if self.size() <= budget:
            return self
        low, high = _SMALLEST_SCALE, 1.0
        smallest = replace(self, scale=low)
        if smallest.size() > budget:
            return smallest._thinned(budget)
        for _ in range(_BISECTIONS):
            middle = (low + high) / 2
            if replace(self, scale=middle).size() <= budget:
                low = middle
            else:
                high = middle
        return replace(self, scale=low)

    def _thinned(self, budget: int) -> _Layout:
        """Without as many steps as must go: the oldest that hold neither the human's words nor an
        error, then the oldest errors, and the human's words last."""
        worth = {part.number: 0 for part in self.parts}
        for part in self.parts:
            worth[part.number] = max(worth[part.number], _WORTH.get(part.sort, 0))
        numbers = list(worth)
        order = sorted(numbers, key=lambda number: (worth[number], number))
        excess = self.size() - budget
        cost = dict.fromkeys(numbers, 0)
        for part in self.parts:
            shown = min(len(part.text), self.ceiling(part) + CUT_NOTE)
            cost[part.number] += len(part.lead) + 1 + shown
        gone: set[int] = set()
        for number in order:
            if excess <= 0:
                break
            gone.add(number)
            excess -= cost[number]
        kept = tuple(part for part in self.parts if part.number not in gone)
        return replace(self, parts=kept, left_out=len(gone))

    def text(self) -> str:
        lines = [part.lead + cut(part.text, self.ceiling(part)) for part in self.parts]
        if self.left_out:
            lines.insert(0, f"({self.left_out} earlier steps are left out)")
        return "\n".join(line.rstrip() for line in lines)


_WORTH: dict[Sort, int] = {"error": 1, "human": 2}
