"""Does a session bring evidence of its own for a skill that is there already?"""

from __future__ import annotations

from skill_learner.learning.outcome import open_outcome
from skill_learner.learning.safety import injection_reasons
from skill_learner.models import ENOUGH_SESSIONS, CreateSkill, Decision, Session, Skill


def dependence(session: Session, skill: Skill) -> str:
    """Why the session does not count as a second witness, "" when it does."""
    if session.id in skill.sessions:
        return "this session is among its evidence already"
    if session.parent:
        return "a fork or subagent brings no evidence of its own"
    if skill.name in session.loaded_skills:
        return "the session had loaded the skill itself"
    return ""


def further_evidence(
    draft: CreateSkill, skill: Skill, session: Session, approval: str, notes: tuple[str, ...]
) -> Decision:
    """The decision on a draft whose trigger a skill holds already."""
    if not skill.ours:
        reason = f"the user's own skill {skill.name} covers it"
        return Decision(draft, "reject", (reason, *notes), skill=skill.name)
    if skill.state == "archived":
        reason = f"{skill.name} was archived; it is not made again"
        return Decision(draft, "reject", (reason, *notes), skill=skill.name)
    if skill.remedy_key != draft.remedy_key:
        reason = f"{skill.name} holds another remedy for the same trigger"
        return Decision(draft, "reject", (reason, *notes), skill=skill.name)
    why_not = dependence(session, skill)
    if why_not:
        return Decision(draft, "reject", (f"{skill.name}: {why_not}", *notes), skill=skill.name)
    return witness(draft, skill, session, approval, notes)


def witness(
    draft: CreateSkill, skill: Skill, session: Session, approval: str, notes: tuple[str, ...]
) -> Decision:
    """The decision on an independent session that says what a skill says: evidence, which makes a
    candidate active unless something holds it. Where it makes nothing active, as with a skill that
    is, or one that waits for the user, the row of witnesses ends."""
    reasons = [f"a further session with the same trigger and remedy as {skill.name}"]
    holding = []
    if skill.state == "candidate":
        if approval == "manual":
            holding.append("approval is manual")
        holding.extend(filter(None, [open_outcome(session)]))
        holding.extend(injection_reasons(skill.description, skill.body))
        reasons.extend(holding or ["the candidate becomes active"])
    promote = skill.state == "candidate" and not holding
    if not promote and len(skill.sessions) >= ENOUGH_SESSIONS:
        enough = f"{ENOUGH_SESSIONS} sessions have proved {skill.name}; one more adds nothing"
        return Decision(draft, "reject", (enough, *holding, *notes), skill=skill.name)
    return Decision(draft, "evidence", (*reasons, *notes), skill=skill.name, promote=promote)
