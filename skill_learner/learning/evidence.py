"""Does the session prove what a proposal says? Cited steps, spans of code, and proved fixes."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from skill_learner.learning.commands import parts_of
from skill_learner.learning.fixed_failures import find_fixed_failures
from skill_learner.learning.human_words import find_human_episodes
from skill_learner.learning.proof import ProofTexts
from skill_learner.models import Claim, Session, Step

_FENCE = re.compile(r"^\s*(`{3,}|~{3,})")
_CODE = re.compile(r"(?<!`)(`+)(?!`)(.+?)(?<!`)\1(?!`)")
_TAIL = re.compile(r"\s*\d?>&\d|\s*\|\s*(?:tail|head|cat|tee|Select-Object)\b[^|;&]*$")
_CORE_HEADING = re.compile(r"^##\s")
_UNVERIFIED = re.compile(r"unverified|not verified|nicht geprüft|未验证|未確認", re.IGNORECASE)


@dataclass(frozen=True)
class BodyCheck:
    """A body without the lines that the session does not prove.

    dropped: (line, span, standing) of each line taken out. proved, total: spans counted.
    """

    body: str
    dropped: tuple[tuple[str, str, str], ...]
    proved: int
    total: int


def is_proof(step: Step) -> bool:
    """True for steps that can prove something: a tool's result, the human's words, the end of
    background work. Assistant prose, plans and summaries are claims."""
    if step.kind in {"human", "human_shell", "notice"}:
        return True
    if step.kind != "tool" or step.call is None:
        return False
    if step.call.status == "rejected":
        return bool(step.text)
    return step.call.status in {"ok", "suspect", "failed"} and step.call.result is not None


def _counts(step: Step, session: Session) -> bool:
    return is_proof(step) or (session.answers_count and step.kind == "assistant")


def proved_claims(
    claims: Sequence[Claim], session: Session
) -> tuple[tuple[Claim, ...], tuple[str, ...]]:
    """The claims with only those step numbers that exist and can prove; claims left without any
    are dropped. Second: what was wrong, in words."""
    steps = {step.number: step for step in session.steps}
    kept: list[Claim] = []
    faults: list[str] = []
    for claim in claims:
        good = tuple(n for n in claim.steps if n in steps and _counts(steps[n], session))
        missing = [n for n in claim.steps if n not in steps]
        if missing:
            faults.append(f"cites step {missing[0]}, which does not exist")
        if good:
            kept.append(Claim(claim.text, good))
        else:
            faults.append(f"no result or human word behind “{claim.text[:60]}”")
    return tuple(kept), tuple(faults)


def cited_steps(claims: Iterable[Claim]) -> frozenset[int]:
    return frozenset(number for claim in claims for number in claim.steps)


def check_body(body: str, texts: ProofTexts) -> BodyCheck:
    """Takes out every line with a span of code that the session does not prove. Sections marked as
    unverified keep their lines."""
    kept: list[str] = []
    dropped: list[tuple[str, str, str]] = []
    proved = total = 0
    in_fence = unverified = False
    for line in body.splitlines():
        if _FENCE.match(line):
            in_fence = not in_fence
            kept.append(line)
            continue
        if _CORE_HEADING.match(line) and not in_fence:
            unverified = bool(_UNVERIFIED.search(line))
        spans = [line.strip()] if in_fence and line.strip() else code_spans(line)
        faults = [(span, standing) for span in spans if (standing := _judge(span, texts))]
        total += len(spans)
        proved += len(spans) - len(faults)
        if faults and not unverified:
            dropped.append((line.strip(), *faults[0]))
        else:
            kept.append(line)
    return BodyCheck(_tidy(kept), tuple(dropped), proved, total)


def code_spans(text: str) -> list[str]:
    """The inline code of a line or description."""
    return [match.group(2).strip() for match in _CODE.finditer(text) if match.group(2).strip()]


def unproved_spans(text: str, texts: ProofTexts) -> tuple[str, ...]:
    return tuple(span for span in code_spans(text) if _judge(span, texts))


def _judge(span: str, texts: ProofTexts) -> str:
    """ "" when a span is proved, else its standing. A line of several commands is proved when each
    of them is."""
    standing = texts.standing(span)
    if standing == "proved":
        return ""
    bare = _TAIL.sub("", span)
    pieces = [part.text for part in parts_of(bare)]
    if bare and all(texts.standing(piece) == "proved" for piece in pieces or [bare]):
        return ""
    return standing


def _tidy(lines: list[str]) -> str:
    """Without empty fences, headings that lost their text, and doubled blank lines."""
    text = re.sub(r"^(`{3,}|~{3,})[^\n`]*\n\s*\1\s*$\n?", "", "\n".join(lines), flags=re.MULTILINE)
    text = re.sub(r"^##[^\n]*\n(?:\s*\n)*(?=##|\Z)", "", text, flags=re.MULTILINE)
    return re.sub(r"\n{3,}", "\n\n", text).strip() + "\n"


def proves_fix(claims: Sequence[Claim], session: Session) -> bool:
    """True when the cited steps hold a check that failed and the same check passing later, or a
    how-to question with the command that answered it."""
    cited = cited_steps(claims)
    for episode in (*find_fixed_failures(session), *find_human_episodes(session)):
        first_part, last = set(episode.steps[:-1]), episode.steps[-1]
        if episode.kind in {"fixed_failure", "answered"} and last in cited and first_part & cited:
            return True
    return False


def human_word(claims: Sequence[Claim], session: Session) -> str:
    """ "remember" when a cited step is the human's order to remember or rule, "correction" when it
    is their correction or refusal, else ""."""
    cited = cited_steps(claims)
    kinds = {one.kind for one in find_human_episodes(session) if cited & set(one.steps)}
    if "remember_request" in kinds:
        return "remember"
    return "correction" if kinds & {"correction", "refusal"} else ""


def only_failures(claims: Sequence[Claim], session: Session) -> bool:
    """True when everything cited failed and no human word is among it: an unresolved attempt."""
    cited = cited_steps(claims)
    steps = [step for step in session.steps if step.number in cited]
    return bool(steps) and all(
        step.kind == "tool" and step.call is not None and step.call.status in {"failed", "suspect"}
        for step in steps
    )
