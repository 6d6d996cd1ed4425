"""How a session ended, as far as that limits what may be learned from it."""

from __future__ import annotations

import re

from skill_learner.learning.commands import command_of, is_work
from skill_learner.learning.languages import corrects, is_question
from skill_learner.models import Session, Step

UNANSWERED = "the agent's last question has no answer yet"
"""The reason of a candidate that waits for the human's answer."""

_ASKS_LEAVE = re.compile(
    r"\b(?:let me know|shall i|should i|want me to|would you like|may i|awaiting|if you (?:agree"
    r"|approve|like)|your (?:call|approval|confirmation))\b"
    r"|\b(?:soll ich|sag bescheid|einverstanden)\b|\b(?:dois-je|dites-moi)\b"
    r"|\b(?:dime si|quieres que)\b"
    r"|\b(?:me avise|quer que)\b|\b(?:fammi sapere|vuoi che)\b|\blaat me weten\b|\bdaj znać\b"
    r"|дайте знать|教えてください|请告诉我|알려 주세요|haber ver",
    re.IGNORECASE,
)
_HUMAN = frozenset({"human", "human_shell", "plan"})


def open_outcome(session: Session) -> str:
    """Why the session's work cannot count as settled yet, "" when it can.

    A turn cut off by an error or by the human proves nothing of its last steps; a proposal that the
    human has not answered is not yet what they want.
    """
    if session.turn_end == "api_error":
        return "the last turn ended in an API error"
    if session.turn_end == "interrupted":
        return "the last turn was interrupted"
    if session.turn_end == "open":
        return "the last turn has no end yet"
    return UNANSWERED if _awaits_answer(session) else ""


def refused_since(session: Session, step: int) -> str:
    """The human's words by which they turned down what stood there up to a step, "" when they did
    not: their first message after it that corrects."""
    for later in session.steps:
        if later.number > step and later.kind == "human":
            return later.text if corrects(later.text) and not is_question(later.text) else ""
    return ""


def _awaits_answer(session: Session) -> bool:
    """True when the last turn changed nothing, and ends in a proposal or question."""
    turn = _last_turn(session)
    spoken = [step for step in turn if step.kind == "assistant" and step.text.strip()]
    if not spoken or turn[-1] is not spoken[-1]:
        return False
    if any(_acted(step) for step in turn):
        return False
    last = spoken[-1].text.rstrip().rsplit("\n", 1)[-1]
    return is_question(last) or bool(_ASKS_LEAVE.search(last))


def _acted(step: Step) -> bool:
    call = step.call
    if call is None or call.status != "ok":
        return False
    return bool(call.changed_files) or is_work(command_of(call))


def _last_turn(session: Session) -> list[Step]:
    turn: list[Step] = []
    for step in reversed(session.steps):
        if step.kind in _HUMAN:
            break
        turn.append(step)
    return turn[::-1]
