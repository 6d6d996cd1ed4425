"""Sessions that are a learning tool's own work, ours or another's: nothing is learned from them."""

from __future__ import annotations

import re

from skill_learner.models import Session

_OWN_PROMPT = re.compile(
    r"You are the reviewer of coding sessions that are over\.|<session-digest-[0-9a-f]{12}>"
)

# How the headless sessions of other learning tools open, by what their public sources send.
_OTHER_LEARNERS = (
    r"You are a Claude-Mem, a specialized observer",
    r"Hello memory agent",
    r"<observed_from_primary_session>",
    r"Review the conversation above and (?:consider|update|save)",
    r"You are (?:a|the) (?:background |session |memory |skill )*(?:observer|extractor|curator|"
    r"distiller|consolidator)\b.{0,200}\b(?:skill|memor|instinct|pattern|learning)",
    r"(?:Analy[sz]e|Read) (?:this|the|the following) (?:coding |agent |Claude Code )*"
    r"(?:session|conversation|transcript)s?\b.{0,200}\b(?:skill|memor|instinct|learning)s?\b",
)
_OTHER = re.compile("|".join(_OTHER_LEARNERS), re.IGNORECASE | re.DOTALL)
_HEAD = 2_000


def why_foreign(session: Session, *, ignore_other_learners: bool) -> str:
    """Why nothing is learned from a session by its opening request, or "".

    A review of our own is recognised wherever its text stands in a request. Another tool's opening
    must begin the request, and the session must be one request without any person's second word:
    someone who types about such a tool stays a person.
    """
    requests = [step.text for step in session.steps if step.kind in ("human", "plan")]
    if any(_OWN_PROMPT.search(text) for text in requests):
        return "a review of skill-learner itself"
    if not ignore_other_learners or len(requests) != 1:
        return ""
    if _OTHER.match(requests[0][:_HEAD].lstrip()):
        return "a headless session of another learning tool"
    return ""
