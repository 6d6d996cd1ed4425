"""How a session ended, as far as that limits what may be learned from it."""

from __future__ import annotations

from skill_learner.models import Session, Step

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
    return "the agent's last question has no answer yet" if _awaits_answer(session) else ""


def _awaits_answer(session: Session) -> bool:
    """True when the last turn did nothing but propose and ask."""
    turn = _last_turn(session)
    spoken = [step for step in turn if step.kind == "assistant" and step.text.strip()]
    if not spoken or turn[-1] is not spoken[-1]:
        return False
    acted = any(step.call is not None and step.call.status == "ok" for step in turn)
    return not acted and spoken[-1].text.rstrip().endswith(("?", "？"))


def _last_turn(session: Session) -> list[Step]:
    turn: list[Step] = []
    for step in reversed(session.steps):
        if step.kind in _HUMAN:
            break
        turn.append(step)
    return turn[::-1]
